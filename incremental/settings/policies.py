"""The revisit policies by their names in the settings."""

from __future__ import annotations

from collections.abc import Callable

from incremental.schedule.fixed import FixedPolicy
from incremental.schedule.price import PricePolicy
from incremental.schedule.protocol import Policy, Terms
from incremental.settings import Settings
from incremental.settings.sections import PolicyName

_POLICIES: dict[PolicyName, Callable[[Terms], Policy]] = {
    PolicyName.FIXED: FixedPolicy,
    PolicyName.PRICE: PricePolicy,
}


def policy_maker(settings: Settings) -> Callable[[Terms], Policy]:
    """Return the constructor of the configured revisit policy."""
    return _POLICIES[settings.revisit.policy]

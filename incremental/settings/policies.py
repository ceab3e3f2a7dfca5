"""The revisit policies by their names in the settings."""

from __future__ import annotations

from collections.abc import Callable

from incremental.schedule.fixed import FixedPolicy
from incremental.schedule.price import PricePolicy
from incremental.schedule.protocol import Policy, Terms
from incremental.settings import Settings

_POLICIES: dict[str, Callable[[Terms], Policy]] = {"fixed": FixedPolicy, "price": PricePolicy}


def policy_maker(settings: Settings) -> Callable[[Terms], Policy]:
    """Return the constructor of the configured revisit policy."""
    return _POLICIES[settings.revisit.policy]

"""When to visit which hub: arithmetic on counts and times.

No network, store or clock, so that benchmark, replay and daemon run the same code::

    Visit ──observe──> HubState, SiteState ──due_at──> when
                                           ──index───> how urgent
                                           ──why─────> the numbers behind it
"""

from __future__ import annotations

from incremental.revisit.budget import (
    BudgetState,
    advance,
    open_at,
    price_minutes,
    reserve_at,
    spend,
)
from incremental.revisit.fixed import FixedPolicy
from incremental.revisit.price import PricePolicy, hinted, pinged, reactivated
from incremental.revisit.protocol import Policy, Terms, VisitExplanation
from incremental.revisit.state import HubState, ListKind, SiteState, Visit

__all__ = [
    "BudgetState",
    "FixedPolicy",
    "HubState",
    "ListKind",
    "Policy",
    "PricePolicy",
    "SiteState",
    "Terms",
    "Visit",
    "VisitExplanation",
    "advance",
    "hinted",
    "open_at",
    "pinged",
    "price_minutes",
    "reactivated",
    "reserve_at",
    "spend",
]

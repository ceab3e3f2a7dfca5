"""Politeness: how long to leave a host alone after a visit. Pure arithmetic on times.

::

    wait = max(minimum delay, crawl delay, Retry-After, back-off after failures)

Requests that share a *host key* go one at a time. Times are unix seconds, UTC; delays are seconds.
"""

import contextlib
import hashlib
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated

import msgspec

from incremental.base.errors import SettingsError
from incremental.fetch.options import host_name
from incremental.fetch.status import HOST_TROUBLE, NOT_SENT, FetchStatus

_JITTER = 0.2
_MAX_DOUBLINGS = 30  # keeps the power small; the cap applies long before
_LONGEST_REST_SECONDS = 300.0
# What a site asks for, a Crawl-delay or Retry-After, counts up to a day: longer ones are mostly mistakes, and
# would drop the host.
LONGEST_ASKED_SECONDS = 86_400.0


class PolitenessSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Politeness limits, in seconds."""

    min_delay_seconds: Annotated[float, msgspec.Meta(ge=0.5, le=1e9)] = 5.0
    """Between two requests to one host; loopback hosts always have 0."""
    backoff_seconds: Annotated[float, msgspec.Meta(gt=0, le=1e9)] = 60.0
    """After the first failure; doubled after each further one."""
    max_backoff_seconds: Annotated[float, msgspec.Meta(gt=0, le=1e9)] = 86_400.0
    """Longest pause after failures."""

    def __post_init__(self) -> None:
        if self.max_backoff_seconds < self.backoff_seconds:
            way_out = "must not be below backoff_seconds"
            raise SettingsError("max_backoff_seconds", self.max_backoff_seconds, way_out)


@dataclass(frozen=True, slots=True)
class HostState:
    """What is kept of a host between visits."""

    name: str
    """Its host key."""
    next_allowed_at: float = 0.0
    failures: int = 0
    """Consecutive visits that failed because of the whole host."""
    crawl_delay_seconds: float | None = None
    """From robots.txt."""


def host_key(url: str) -> str:
    """Return the politeness group of *url*: host name without ``www.`` and port; empty without a host."""
    try:
        # Ports and the two usual names of a site lead to one machine; other subdomains often do not.
        return host_name(url).removeprefix("www.")
    except ValueError:
        return ""


@lru_cache(maxsize=1_024)
def _is_loopback(name: str) -> bool:
    if name == "localhost" or name.endswith(".localhost"):
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(name).is_loopback
    return False


def polite_delay_seconds(state: HostState, settings: PolitenessSettings) -> float:
    """Return the pause between two requests to a healthy host."""
    if _is_loopback(state.name):
        return 0.0
    asked = min(state.crawl_delay_seconds or 0.0, LONGEST_ASKED_SECONDS)
    return max(settings.min_delay_seconds, asked)


def after_visit(  # noqa: PLR0913 - one by name
    state: HostState,
    status: FetchStatus,
    retry_after_seconds: float | None,
    now: float,
    settings: PolitenessSettings,
    *,
    requests: int = 1,
) -> HostState:
    """Return a host's state after a request that ended at *now*, or several for one page in a row."""
    if status in NOT_SENT:
        return state
    failures = state.failures + 1 if status in HOST_TROUBLE else 0
    # Parts of a page are fetched in a row, as by a browser; the host then rests as long as after each.
    wait = min(polite_delay_seconds(state, settings) * max(requests, 1), _LONGEST_REST_SECONDS)
    wait = max(wait, polite_delay_seconds(state, settings))
    if retry_after_seconds:
        wait = max(wait, min(retry_after_seconds, LONGEST_ASKED_SECONDS))
    # At the first failure the server's Retry-After is enough; repeated failures back off.
    if failures > 1 or (failures and not retry_after_seconds):
        wait = max(wait, backoff_seconds(state.name, failures, settings))
    next_allowed_at = max(state.next_allowed_at, now + wait)
    return replace(state, next_allowed_at=next_allowed_at, failures=failures)


def backoff_seconds(name: str, failures: int, settings: PolitenessSettings) -> float:
    """Return the pause after *failures* in a row, at least one."""
    doublings = min(failures - 1, _MAX_DOUBLINGS)
    wait = settings.backoff_seconds * 2.0**doublings
    # Depends only on name and count: hosts that failed together do not return together, and replays are
    # repeatable.
    jitter = 1 + _JITTER * _fraction(f"{name} {failures}")
    return min(wait * jitter, settings.max_backoff_seconds)


def staggered_start(
    names: Iterable[str], now: float, spread_seconds: float = 60.0
) -> dict[str, float]:
    """Return each host's first allowed time after a start, spread evenly."""
    ordered = sorted(set(names), key=_fraction)
    step = spread_seconds / len(ordered) if ordered else 0.0
    # The first host goes at once, so that a single site does not wait.
    return {name: now + rank * step for rank, name in enumerate(ordered)}


def _fraction(text: str) -> float:
    """Hash *text* to a number in [0, 1)."""
    return int.from_bytes(hashlib.md5(text.encode()).digest()[:8], "big") / 2**64

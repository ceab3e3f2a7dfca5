"""Putting the parts together: from settings to a crawler. The one place that wires."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path

from requests.adapters import BaseAdapter

from incremental.clock import Clock
from incremental.crawler import Crawler, Told
from incremental.engine import Engine
from incremental.errors import SettingsError
from incremental.fetch.session import Fetcher
from incremental.judge.hubs import HubScorer
from incremental.revisit import FixedPolicy, Policy, PricePolicy, Terms
from incremental.settings import Settings
from incremental.visit import Fetch
from store import Store

POLICIES: dict[str, Callable[[Terms], Policy]] = {"fixed": FixedPolicy, "price": PricePolicy}


def policy_maker(settings: Settings) -> Callable[[Terms], Policy]:
    """Return what makes the revisit policy of the settings.

    Raises:
        SettingsError: there is none of that name.
    """
    name = settings.revisit.policy
    if name not in POLICIES:
        names = ", ".join(sorted(POLICIES))
        raise SettingsError("revisit.policy", name, f"must be one of: {names}")
    return POLICIES[name]


def make_fetcher(
    settings: Settings, clock: Clock, *, adapter: BaseAdapter | None = None
) -> Fetcher:
    """Make the one egress. *adapter* replaces the network below requests (replays, tests)."""
    sites = {site.url: site.access() for site in settings.site}
    return Fetcher(settings.fetch, clock=clock, adapter=adapter, sites=sites)


def make_crawler(  # noqa: PLR0913 - the parts that a caller may want to replace
    store: Store,
    settings: Settings,
    *,
    fetch: Fetch,
    executor: Executor,
    scorer: HubScorer | None = None,
    models: Path | None = None,
    told: Told | None = None,
) -> Crawler:
    """Make a crawler on *store*.

    It asks *scorer*, else whichever version is active in the folder *models*, else the shipped one.

    Raises:
        SettingsError: there is no revisit policy of that name.
    """
    make_policy = policy_maker(settings)
    if scorer is None:
        scorer = _scorer(models)
    engine = Engine(executor, fetch, workers=settings.daemon.workers)
    return Crawler(
        store, settings, engine=engine, scorer=scorer, make_policy=make_policy, told=told
    )


def _scorer(models: Path | None) -> HubScorer:
    # The model's libraries take half a second to load; only a crawler needs them.
    if models is None:
        from classifier.hub import load_default  # noqa: PLC0415

        return load_default()
    from incremental.models import ActiveScorer  # noqa: PLC0415

    return ActiveScorer(models)

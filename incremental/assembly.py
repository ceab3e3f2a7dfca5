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
from store import Store, open_store

MEGABYTE = 1_000_000
POLICIES: dict[str, Callable[[Terms], Policy]] = {"fixed": FixedPolicy, "price": PricePolicy}


def open_configured_store(settings: Settings, folder: Path) -> Store:
    """Open the store that the settings name; relative paths are relative to *folder*."""
    home = folder / settings.store.folder
    where = settings.store.database or str(home / "hubwatch.sqlite")
    quota = int(settings.store.cache_quota_mb * MEGABYTE)
    return open_store(where, cache_folder=home / "pages", cache_quota_bytes=quota)


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
    told: Told | None = None,
) -> Crawler:
    """Make a crawler on *store*.

    Raises:
        SettingsError: there is no revisit policy of that name.
    """
    make_policy = policy_maker(settings)
    if scorer is None:
        # The model's libraries take half a second to load; only a crawler needs them.
        from classifier.hub import load_default  # noqa: PLC0415

        scorer = load_default()
    engine = Engine(executor, fetch, workers=settings.daemon.workers)
    return Crawler(
        store, settings, engine=engine, scorer=scorer, make_policy=make_policy, told=told
    )

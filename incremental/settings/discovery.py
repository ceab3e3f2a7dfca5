"""``[discovery]`` in the settings: which search provider, and how far a run may go. Plain values."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from incremental.errors import SettingsError

PROVIDERS = ("", "searxng", "brave", "own")
RANKINGS = ("combined_f", "fusion")
REWARDS = ("pages", "sites")
_Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
_NotNegative = Annotated[float, msgspec.Meta(ge=0, le=1e6)]


class DiscoverySettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How further sites are looked for."""

    provider: str = ""
    """searxng, brave, own (what was read already); empty = none: then links alone are followed."""
    url: str = ""
    """Address of the SearXNG instance."""
    related_query: str = ""
    """A question with ``{url}`` for pages like one, if the instance knows such an operator."""
    linkers_query: str = ""
    """A question with ``{url}`` for pages that link to one."""
    queries_per_day: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 200
    """Questions to the provider, of all topics."""
    query_interval_seconds: _NotNegative = 2.0
    max_pages_per_site: _Count = 20
    """Read in one run; a site that is on topic shows that within a few."""
    ranking: str = "combined_f"
    """combined_f (paper 001, formula 8), or fusion (ours)."""
    alpha: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.2
    """Of combined_f: the weight of PageRank."""
    reward: str = "pages"
    """What pays an operator: new pages, or new sites."""
    pages_per_night: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0
    """Of each topic, read by the daemon in a nightly round; 0 = none."""


def check_discovery(settings: DiscoverySettings) -> None:
    """Check what types cannot say, or raise :class:`SettingsError`."""
    for name, value, allowed in (
        ("provider", settings.provider, PROVIDERS),
        ("ranking", settings.ranking, RANKINGS),
        ("reward", settings.reward, REWARDS),
    ):
        if value not in allowed:
            names = ", ".join(one or "(empty)" for one in allowed)
            raise SettingsError(f"discovery.{name}", value, f"must be one of: {names}")
    parts = urlsplit(settings.url)
    if settings.provider == "searxng" and (
        parts.scheme not in ("http", "https") or not parts.netloc
    ):
        way_out = "give the address of your SearXNG instance, like https://search.example.org"
        raise SettingsError("discovery.url", settings.url, way_out)
    for name, form in (
        ("related_query", settings.related_query),
        ("linkers_query", settings.linkers_query),
    ):
        if form and "{url}" not in form:
            raise SettingsError(f"discovery.{name}", form, "must hold {url}")

"""``[discovery]`` in the settings: the search provider, and the limits of a run."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec

from incremental.base.errors import SettingsError

_Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
_NotNegative = Annotated[float, msgspec.Meta(ge=0, le=1e6)]


class DiscoverySettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How further sites are found."""

    provider: Literal["", "searxng", "brave", "own"] = ""
    """searxng, brave, own (pages already read); empty = none: only links are followed."""
    url: str = ""
    """Address of the SearXNG instance."""
    related_query: str = ""
    """Query with ``{url}`` for similar pages, if the instance supports such an operator."""
    linkers_query: str = ""
    """Query with ``{url}`` for pages that link to it."""
    queries_per_day: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 200
    """For all topics together."""
    query_interval_seconds: _NotNegative = 2.0
    """Between two requests to the search provider."""
    max_pages_per_site: _Count = 20
    """Per run; a few pages show whether a site is relevant."""
    ranking: Literal["combined_f", "fusion"] = "combined_f"
    """combined_f (paper 001, formula 8), or fusion (ours)."""
    alpha: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.2
    """Weight of PageRank in combined_f."""
    reward: Literal["pages", "sites"] = "pages"
    """What rewards an operator: new pages, or new sites."""
    pages_per_night: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0
    """Per topic, read by the daemon each night; 0 = none."""

    def __post_init__(self) -> None:
        """Refuse values that types cannot exclude."""
        parts = urlsplit(self.url)
        if self.provider == "searxng" and (
            parts.scheme not in ("http", "https") or not parts.netloc
        ):
            way_out = "give the address of your SearXNG instance, like https://search.example.org"
            raise SettingsError("url", self.url, way_out)
        for name, form in (
            ("related_query", self.related_query),
            ("linkers_query", self.linkers_query),
        ):
            if form and "{url}" not in form:
                raise SettingsError(name, form, "must contain {url}")

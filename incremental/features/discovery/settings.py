"""``[discovery]`` in the settings: the search provider, and the limits of a run."""

from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from incremental.base.errors import SettingsError

_Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
_NotNegative = Annotated[float, msgspec.Meta(ge=0, le=1e6)]


class DiscoverySettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How further sites are found."""

    url: str = ""
    """Address of a SearXNG instance, to search for pages; empty = only links are followed."""
    linkers_query: str = ""
    """Query with ``{url}`` for pages that link to it, if the instance supports such an operator."""
    query_interval_seconds: _NotNegative = 2.0
    """Between two requests to the search provider."""
    max_pages_per_site: _Count = 20
    """Per run; a few pages show whether a site is relevant."""

    def __post_init__(self) -> None:
        """Refuse values that types cannot exclude."""
        parts = urlsplit(self.url)
        if self.url and (parts.scheme not in ("http", "https") or not parts.netloc):
            way_out = "give the address of your SearXNG instance, like https://search.example.org"
            raise SettingsError("url", self.url, way_out)
        if self.linkers_query and "{url}" not in self.linkers_query:
            raise SettingsError("linkers_query", self.linkers_query, "must contain {url}")

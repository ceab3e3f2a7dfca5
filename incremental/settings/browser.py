"""``[browser]`` in the settings: whether and how a browser draws pages."""

from __future__ import annotations

from typing import Annotated

import msgspec


class BrowserSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Drawing pages whose links only their scripts make (extra ``browser``)."""

    enabled: bool = True
    """Whether a browser may draw pages, if the extra is installed."""
    executable: str = ""
    """Path of a Chromium; empty = the system's, else the one that Playwright has installed."""
    pages: Annotated[int, msgspec.Meta(ge=1, le=16)] = 1
    """Pages drawn at a time, each in a browser of its own."""
    page_seconds: Annotated[float, msgspec.Meta(ge=5, le=600)] = 30
    """Longest time to draw one page, from its first request until it is closed."""
    memory_mb: Annotated[int, msgspec.Meta(ge=200, le=100_000)] = 1_000
    """Most memory of one browser, all its processes together."""
    page_requests: Annotated[int, msgspec.Meta(ge=1, le=1_000)] = 60
    """Requests for one page; more are refused to it."""
    sandbox: bool = True
    """Chromium's own sandbox; root has none. False where the system does not allow it (some containers)."""

"""How a hub is read, and what that costs."""

from __future__ import annotations

from typing import Any

from incremental.parse.hub_way import WayKind, read_way
from incremental.settings import Settings
from incremental.visit.rendering.browser import find_browser
from store.values import HubRow


def explain_way(hub: HubRow, settings: Settings) -> dict[str, Any]:
    """Return how *hub* is read, for JSON.

    ``kind`` is empty before the first visit. ``problem`` says why no browser draws a page that needs one; a
    browser that was found since draws it at the next visit.
    """
    way = read_way(hub.way)
    if way is None:
        return {"kind": "", "source": "", "requests": 1, "seconds": 0.0, "problem": ""}
    problem = way.problem
    if way.kind == WayKind.BROWSER_MISSING:
        problem = find_browser(settings.browser).problem or ""
    source = way.url if way.kind == WayKind.JSON else ": ".join(filter(None, (way.name, way.place)))
    return {
        "kind": str(way.kind),
        "source": source,
        "requests": way.requests,
        "seconds": way.seconds,
        "problem": str(problem),
    }

"""Pages that a user watches for changes of their text: a URL, or a pattern of URLs on a watched site.

::

    watch (a URL or a pattern) -> patterns: its pages -> refreshed by its intervals (decide/refresh)
                                                      -> change with its difference (store.watched_changes)
                                                      -> page, command, API, feed; messages to its receivers

That a page is refreshed, and how its change is found and kept, is the core's.
"""

from __future__ import annotations

from pathlib import Path

from incremental.base.features import Feature

_ROOM = "incremental.features.page_watches"
FEATURE = Feature(
    name="page_watches",
    summary="Pages that you name are watched for changes of their text.",
    commands={
        "Read": {"changes": f"{_ROOM}.commands:changes"},
        "Follow": {
            "watch-page": {
                "": "Pages and patterns watched for changes of their text.",
                "add": f"{_ROOM}.commands:add",
                "list": f"{_ROOM}.commands:list_watches",
                "show": f"{_ROOM}.commands:show",
                "pause": f"{_ROOM}.commands:pause",
                "resume": f"{_ROOM}.commands:resume",
                "check": f"{_ROOM}.commands:check",
                "remove": f"{_ROOM}.commands:remove",
            },
        },
    },
    routers=(f"{_ROOM}.api:router", f"{_ROOM}.pages:router"),
    pages={"/changes": "nav"},
    page_form="page_watches/form.html",
    feeds={"/feeds/changes": "feed"},
    templates=Path(__file__).with_name("templates"),
    follows=f"{_ROOM}.patterns:PatternWatches",
    senders=f"{_ROOM}.watching:senders",
)

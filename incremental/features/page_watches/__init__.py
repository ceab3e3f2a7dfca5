"""Pages that a user watches for changes of their text: any URL.

::

    watch of a URL -> its page is refreshed by its intervals (decide/refresh)
                   -> change with its difference (store.watched_changes)
                   -> page, command, API, feed; messages to its receivers

That a page is refreshed, and how its change is found and kept, is the core's.
"""

from pathlib import Path

from incremental.base.features import Feature

_ROOM = "incremental.features.page_watches"
_DOES = f"{_ROOM}.commands"
FEATURE = Feature(
    name="page_watches",
    summary="Pages that you name are watched for changes of their text.",
    commands={
        "Read": {"changes": f"{_DOES}:changes Show the changes of watched pages, newest first."},
        "Follow": {
            "watch-page": {
                "": "Pages watched for changes of their text.",
                "add": f"{_DOES}:add Watch a page for changes.",
                "list": f"{_DOES}:list_watches List the watched pages: last check, last change.",
                "pause": f"{_DOES}:pause Stop checking a page until it is resumed.",
                "resume": f"{_DOES}:resume Check a paused page again.",
                "remove": f"{_DOES}:remove Stop watching a page; recorded changes stay.",
            },
        },
    },
    routers=(f"{_ROOM}.pages:api", f"{_ROOM}.pages:router"),
    pages={"/changes": "nav"},
    page_form="page_watches/form.html",
    feeds={"/feeds/changes": "feed"},
    templates=Path(__file__).with_name("templates"),
    senders=f"{_ROOM}.watching:senders",
)

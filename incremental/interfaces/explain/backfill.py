"""A backfill event in words."""

from incremental.base.plain_text import one_line
from incremental.base.texts import Text
from store.crawl.backfills import BackfillEvent

_MOST_CHARS = 120


def headline(event: BackfillEvent) -> str:
    """Return ``33 older articles were added under /blog/2007/``."""
    return Text("backfill.added", n=event.pages, folder=one_line(event.folder, _MOST_CHARS))


def subject(event: BackfillEvent) -> str:
    """Return the title of an event: that of its page if there is only one."""
    return event.title or event.url if event.pages == 1 else headline(event)


def address(event: BackfillEvent) -> str:
    """Return the link of an event: its page if there is only one, else the list."""
    return event.url if event.pages == 1 else event.hub_url or event.url

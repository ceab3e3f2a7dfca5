"""A page that is watched for changes, and changes of it, as a visit records them."""

from typing import Any

from stories import HOME, HOUR, START, news_site, seen, visit_of

from incremental.base.urls import canonical_key
from store import Store
from store.enums import ChangeKind
from store.values import PageChange, ReadText

LATER = START + HOUR
PRICE = HOME + "prices/tea"
LINES = (("-", "The price is 12 euros."), ("+", "The price is 14 euros."))


def watched(store: Store, url: str = PRICE, **wish: Any) -> int:
    """Let a page be watched; return its id."""
    sites = store.read.sites()
    site = sites[0].id if sites else news_site(store)[0]
    page = store.write.add_pages(site, [seen(url)], now=START)[canonical_key(url)]
    store.page_watches.put(site, page, url, now=START, **wish)
    return page


def change(store: Store, page: int, *lines: tuple[str, str], at: float = LATER) -> None:
    """Let a visit record a change of a page."""
    text = ReadText("Green tea", "The price is 14 euros.", md5=f"{at:032.0f}")
    found = PageChange(
        ChangeKind.CHANGED,
        "+1 \u22121 words",
        difference=lines or LINES,
        words_added=1,
        words_removed=1,
    )
    store.write.visit(visit_of(1, page, at, links=None, text=text, page_change=found))

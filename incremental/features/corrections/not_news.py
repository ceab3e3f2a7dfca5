"""Pages that users call no news: what is learned from them, and taking that back."""

from dataclasses import dataclass
from typing import Any

from incremental.base.errors import NotFoundError
from incremental.base.lookup import find_page, site_numbered
from incremental.base.texts import Text, named
from incremental.base.times import DAY
from incremental.decide.not_news import (
    FEWEST,
    Announced,
    Aspects,
    is_not_news,
    objection,
    objections_text,
    read_objections,
    still_needed,
    withheld,
    worth_asking,
)
from store import Store
from store.values import SiteRow

# Announced pages that an objection is compared with.
_COMPARED_DAYS = 90


@dataclass(frozen=True, slots=True)
class NotNews:
    """What was learned from one page."""

    url: str
    site: str
    withholds: str
    """``form``, ``shown_by`` or ``rule``: what like pages share; empty = only this page counts so far."""
    value: str
    says: str


def object_to(store: Store, text: str, *, now: float) -> NotNews:
    """Record that an announced page is no news; like pages are withheld, and the page counts as read.

    Raises:
        InputError: not a web address.
        NotFoundError: the page is unknown, or was not announced.
    """
    page = find_page(store, text)
    if page["announced_at"] is None:
        raise NotFoundError(Text("corrections.not_announced", url=page["url"]))
    with store.write.together():
        row = site_numbered(store, page["site"])
        said = [one for one in read_objections(row.not_news) if one.url != page["url"]]
        own = Aspects.of(page["url"], _shown_by(store, page), page["rule"])
        announced = _announced(store, row.id, now)
        made = objection(page["url"], own, announced, said, now)
        store.write.update_site(row.id, not_news=objections_text([*said, made]), changed_at=now)
        store.answers.mark([page["id"]], now=now, read=True)
    value = getattr(made.page, made.withholds) if made.withholds else ""
    shown = named("rule", value) if made.withholds == "rule" else value
    if made.withholds:
        says = Text(f"corrections.learned_{made.withholds}", value=shown)
    elif more := still_needed(page["url"], own, announced, said):
        says = Text("corrections.learned_page", n=more)
    else:
        says = Text("corrections.learned_few", n=FEWEST)
    return NotNews(made.url, row.name, made.withholds, value, says)


def take_back(store: Store, text: str, *, now: float) -> NotNews:
    """Forget that a page was called no news; pages that were withheld meanwhile stay so, and it stays read.

    Raises:
        InputError: not a web address.
        NotFoundError: the page is unknown, or nobody called it no news.
    """
    page = find_page(store, text)
    with store.write.together():
        row = site_numbered(store, page["site"])
        said = read_objections(row.not_news)
        kept = [one for one in said if one.url != page["url"]]
        if len(kept) == len(said):
            raise NotFoundError(Text("corrections.not_said", url=page["url"]))
        store.write.update_site(row.id, not_news=objections_text(kept), changed_at=now)
    others = is_not_news(page["url"], _shown_by(store, page), page["rule"], withheld(kept))
    withheld_it = any(one.withholds for one in said if one not in kept)
    ended = "still_withheld" if others else "taken_back" if withheld_it else "undone"
    says = Text(f"corrections.{ended}")
    return NotNews(page["url"], row.name, "", "", says)


def _shown_by(store: Store, page: dict[str, Any]) -> str | None:
    hubs = store.read.urls([page["first_hub_id"]] if page["first_hub_id"] else [])
    return next(iter(hubs), None)


def suggested(store: Store, row: SiteRow, *, now: float) -> list[str]:
    """Return announced pages of a site about which an answer teaches most; to read one accepts it."""
    return worth_asking(_announced(store, row.id, now), read_objections(row.not_news))


def _announced(store: Store, site_id: int, now: float) -> list[Announced]:
    rows = store.read.came_from(site_id, now - _COMPARED_DAYS * DAY)
    return [Announced(url, Aspects.of(url, hub, rule), bool(seen)) for url, hub, rule, seen in rows]


def is_said(store: Store, site_id: int, url: str) -> bool:
    """Whether a user called a page no news."""
    return any(one.url == url for one in read_objections(site_numbered(store, site_id).not_news))

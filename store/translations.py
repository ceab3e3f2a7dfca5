"""Pages that say the same in two languages: what is compared, and what was found.

::

    Vectors.put     a batch of new vectors ──> what was known of their pages is replaced by what was found
    recent          vectors of pages announced within a span of time
    facts           the beginnings of their texts, for those that are near

A pair goes with either of its pages. It stays when a text is forgotten, as a page's place among copies does.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from peewee import JOIN, Database, chunked

from store.announced import Translation
from store.models import News, Page, PageText, PageTranslation, PageVector, Site
from store.repository import Repository
from store.statements import Inserted, Prepared, any_of

# Bytes and characters read of a text: an article's first paragraphs.
_LEAD_BYTES: Final = 4_000
_LEAD_CHARS: Final = 3_000
_BATCH: Final = 500

_RECENT = Prepared(
    lambda space, since, until, most: (
        News.select(
            *(News.page, News.found_at, News.language, Page.title, Page.anchor, PageVector.vector)
        )
        .join(PageVector, on=PageVector.page == News.page)
        .join(Page, on=Page.id == News.page)
        .where((News.found_at >= since) & (News.found_at <= until) & (PageVector.space == space))
        .order_by(News.found_at.desc())
        .limit(most)
    )
)
_FACTS = Prepared(
    lambda pages: (
        News.select(
            *(Page.id, Page.site, Page.title, Page.anchor, PageText.title, PageText.text),
            *(News.language, News.found_at, Page.published_at, PageText.cluster),
        )
        .join(Page, on=Page.id == News.page)
        .join(PageText, JOIN.LEFT_OUTER, on=PageText.page == Page.id)
        .where(any_of(News.page, pages))
    )
)
_OF_PAGES = Prepared(
    lambda pages: (
        PageTranslation.select(
            *(PageTranslation.page, Page.id, Page.url, Page.title, Page.anchor, Site.name),
            *(PageTranslation.language, PageTranslation.likeness),
        )
        .join(Page, on=Page.id == PageTranslation.other)
        .join(Site, on=Site.id == Page.site)
        .where(any_of(PageTranslation.page, pages) & (Page.state != "moved"))
        .order_by(PageTranslation.likeness.desc(), PageTranslation.other)
    )
)
_GONE = Prepared(lambda pages: PageTranslation.delete().where(any_of(PageTranslation.page, pages)))
_GONE_BACK = Prepared(
    lambda pages: PageTranslation.delete().where(any_of(PageTranslation.other, pages))
)
_PAIRS = Inserted(PageTranslation, ("page", "other", "language", "likeness"), ignore=True)


@dataclass(frozen=True, slots=True)
class RecentVector:
    """An announced page with its vector."""

    page_id: int
    found_at: float
    language: str | None
    """As the page was found; None = not known."""
    title: str
    """Of the page, or else the text of the link to it."""
    vector: bytes


@dataclass(frozen=True, slots=True)
class TextFacts:
    """What is compared of an announced page, beside its vector."""

    page_id: int
    site_id: int
    title: str
    lead: str
    """The first characters of its text, 3,000 at most; empty if only the title is known."""
    language: str | None
    """As the page was found; None = not known."""
    found_at: float
    published_at: float | None
    cluster: int | None
    """Shared by near-duplicates in one language."""


@dataclass(frozen=True, slots=True)
class Found:
    """A pair of pages that say the same thing."""

    page_id: int
    other_id: int
    language: str
    other_language: str
    likeness: float


@dataclass(frozen=True, slots=True)
class Compared:
    """The pages whose translations were sought, and all pairs that they are in."""

    page_ids: tuple[int, ...] = ()
    found: tuple[Found, ...] = field(default=())


class Translations(Repository):
    """Queries for comparing, on one database."""

    def recent(
        self, space: int, *, since: float, until: float, most: int
    ) -> tuple[RecentVector, ...]:
        """Return pages announced from *since* to *until* with a vector in *space*, the latest *most*."""
        rows = self._asked(_RECENT, space=space, since=since, until=until, most=most)
        return tuple(
            RecentVector(page, at, language, title or anchor, bytes(vector))
            for page, at, language, title, anchor, vector in rows
            if vector is not None
        )

    def facts(self, page_ids: Sequence[int]) -> dict[int, TextFacts]:
        """Return what announced pages are compared by, by page id; others are left out."""
        found = {}
        for batch in chunked(page_ids, _BATCH):
            for page, site, title, anchor, read, text, *rest in self._asked(_FACTS, pages=batch):
                shown = read or title or anchor
                found[page] = TextFacts(page, site, shown, _beginning(text), *rest)
        return found


def put_translations(database: Database, compared: Compared) -> None:
    """Replace what is known of the compared pages by what was found; within a transaction."""
    for batch in chunked(compared.page_ids, _BATCH):
        _GONE.run(database, pages=batch)
        _GONE_BACK.run(database, pages=batch)
    both = [
        row
        for one in compared.found
        for row in (
            (one.page_id, one.other_id, one.other_language, one.likeness),
            (one.other_id, one.page_id, one.language, one.likeness),
        )
    ]
    names = ("page", "other", "language", "likeness")
    _PAIRS.run(database, [dict(zip(names, row, strict=True)) for row in both])


def translations_of(database: Database, page_ids: Sequence[int]) -> dict[int, list[Translation]]:
    """Return what says the same as pages, by page id, the most alike first."""
    found: dict[int, list[Translation]] = {}
    for batch in chunked(page_ids, _BATCH):
        for page, other, url, title, anchor, *rest in _OF_PAGES.rows(database, pages=batch):
            found.setdefault(page, []).append(Translation(other, url, title or anchor, *rest))
    return found


def _beginning(packed: bytes | None) -> str:
    """Return the first characters of a deflated text; a cut character at the end is dropped."""
    if not packed:
        return ""
    text = zlib.decompressobj().decompress(packed, _LEAD_BYTES)
    return text.decode("utf-8", "ignore")[:_LEAD_CHARS]

"""Writes of a visit for readers: the list of announced pages, indexed texts.

Called inside the visit's transaction (:mod:`store.crawl.record`).
"""

import re
import zlib
from collections.abc import Sequence

from peewee import JOIN, Database

from store.database.repository import batches
from store.database.statements import Inserted, Prepared, Updated, any_of
from store.database.texts import MAX_TEXT, storable
from store.enums import ChangeKind
from store.models import Change, News, Page, PageBand, PageText, PageVector
from store.near_duplicates import put_signature
from store.search.fulltext import index_words_of, unindex_words_of, words_of
from store.search.vectors import await_vectors, text_digest
from store.values import ReadText

# Characters kept of a page's text.
MAX_TEXT_CHARS = 500_000

_ADDED = Prepared(
    lambda pages: (
        Change.select(Change.id, Page.id, Change.site, Change.hub_id, Change.at, Page.language)
        .join(Page, on=Page.id == Change.page)
        .where(any_of(Change.page, pages) & (Change.kind == ChangeKind.ADDED))
        .order_by(Change.id)
    )
)
_NEWS = Inserted(News, ignore=True)
_TO_INDEX = Prepared(
    lambda pages: (
        Page.select(
            *(News.id, Page.id, Page.title, Page.anchor),
            *(PageText.title, PageText.text, PageText.words),
        )
        .join(News, on=News.page == Page.id)
        .join(PageText, JOIN.LEFT_OUTER, on=PageText.page == Page.id)
        .where(any_of(Page.id, pages))
        .order_by(News.id)
    )
)
_TEXT = Inserted(PageText, ["page"])
_SET_LANGUAGE = Updated(News, lambda page: News.page == page)


def primary_language(tag: str | None) -> str | None:
    """Return the first subtag of a language (BCP 47) in lower case: ``zh`` for ``zh-Hans-CN``."""
    found = re.match(r"\s*([A-Za-z]{2,8})(?![A-Za-z])", tag or "")
    return found[1].lower() if found else None


def put_news(database: Database, page_ids: Sequence[int], at: float) -> None:
    """List pages just announced and index their titles."""
    if not page_ids:
        return
    names = ("id", "page", "site", "hub_id", "found_at", "language")
    rows = [
        dict(zip(names, (*row, primary_language(language)), strict=True))
        for *row, language in _ADDED.rows(database, pages=page_ids)
    ]
    _NEWS.run(database, rows)
    index_pages(database, page_ids, at)


def index_pages(database: Database, page_ids: Sequence[int], at: float) -> None:
    """Index announced pages: their texts if known, else their titles."""
    indexed, texts, digests = [], [], {}
    for row in _TO_INDEX.rows(database, pages=page_ids):
        news_id, page_id, title, anchor, read_title, text, before = row
        if before is not None:
            unindex_words_of(database, news_id, before)
        shown = read_title or title or anchor
        body = zlib.decompress(text).decode() if text else ""
        words = words_of(shown, body)
        digests[page_id] = text_digest(shown, body)
        indexed.append((news_id, words))
        texts.append({"page": page_id, "title": shown, "words": words, "at": at})
    index_words_of(database, indexed)
    _TEXT.run(database, texts, update=["words"])
    await_vectors(database, digests)


def note_language(database: Database, page_id: int, language: str | None) -> None:
    """Set the language an announced page is found under."""
    _SET_LANGUAGE.run(database, {"language": primary_language(language)}, page=page_id)


def put_text(database: Database, page_id: int, read: ReadText, at: float) -> None:
    """Keep and index the current text of a page, and assign its cluster of near-duplicates."""
    title = storable(read.title, MAX_TEXT)
    text = storable(read.text, MAX_TEXT_CHARS)
    row = {
        "title": title,
        "text": zlib.compress(text.encode()) if text else None,
        "md5": read.md5,
        "language": primary_language(read.language),
        "signature": read.signature,
        "cluster": put_signature(database, page_id, read.signature),
        "at": at,
        "forgotten_at": None,
    }
    _TEXT.run(database, [{"page": page_id, **row}])
    index_pages(database, [page_id], at)


def unindex(database: Database, page_ids: Sequence[int]) -> None:
    """Remove announced pages from the full-text index."""
    query = (
        PageText.select(PageText.page, News.id, PageText.words)
        .join(News, on=News.page == PageText.page)
        .where(PageText.page.in_(page_ids) & PageText.words.is_null(is_null=False))
    )
    for page_id, news_id, words in list(query.tuples().execute(database)):
        unindex_words_of(database, news_id, words)
        PageText.update(words=None).where(PageText.page == page_id).execute(database)


def keep_titles(database: Database, page_ids: Sequence[int], at: float) -> None:
    """Delete the texts of pages; an announced page is still found by its title, a copy still listed."""
    for batch in batches(page_ids):
        PageBand.delete().where(PageBand.page.in_(batch)).execute(database)
        gone = {"text": None, "md5": None, "forgotten_at": at}
        PageText.update(gone).where(PageText.page.in_(batch)).execute(database)
        index_pages(database, batch, at)
        PageVector.delete().where(PageVector.page.in_(batch)).execute(database)


def forget_texts(database: Database, site_id: int, *, limit: int) -> int:
    """Remove at most *limit* texts of a site from the index; return how many."""
    query = (
        PageText.select(PageText.page)
        .join(Page, on=Page.id == PageText.page)
        .where(Page.site == site_id)
        .limit(limit)
    )
    pages = [page_id for (page_id,) in query.tuples().execute(database)]
    for batch in batches(pages):
        unindex(database, batch)
        PageVector.delete().where(PageVector.page.in_(batch)).execute(database)
        PageBand.delete().where(PageBand.page.in_(batch)).execute(database)
        PageText.delete().where(PageText.page.in_(batch)).execute(database)
    return len(pages)

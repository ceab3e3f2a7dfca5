"""From ids to the rows that are shown: what stands in other tables is looked up for all of them at once."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace

from peewee import JOIN, Database, chunked, fn

from store.answers.news import excerpt
from store.answers.values import NewsRow, TopicMark
from store.models import News, Page, PageText, PageTopic, Site, Topic
from store.words import Phrase

_BATCH = 500


def news_rows(database: Database, ids: Sequence[int]) -> dict[int, NewsRow]:
    """Return the rows of told pages by id; pages that turned out to be others are left out."""
    found: dict[int, NewsRow] = {}
    for batch in chunked(ids, _BATCH):
        for row in _select(batch).tuples().execute(database):
            found[row[0]] = NewsRow(*row)
    return _with_copies(database, _with_topics(database, found))


def _select(ids: Sequence[int]):  # type: ignore[no-untyped-def]  # noqa: ANN202 - a peewee query
    hub_page = Page.alias()
    return (
        News.select(
            News.id,
            Page.id,
            Page.url,
            Page.title,
            Page.anchor,
            Site.name,
            Site.id,
            News.found_at,
            Page.published_at,
            News.hub_id,
            hub_page.url,
            Page.language,
            Page.state,
            News.read_at,
            News.starred_at,
        )
        .join(Page, on=Page.id == News.page)
        .join(Site, on=Site.id == News.site)
        .join(hub_page, JOIN.LEFT_OUTER, on=hub_page.id == News.hub_id)
        .where(News.id.in_(ids) & (Page.state != "moved"))
    )


def topics_of(database: Database, page_ids: Sequence[int]) -> dict[int, list[TopicMark]]:
    """Return what topics make of pages, the best score first, by page id."""
    found: dict[int, list[TopicMark]] = {}
    columns = (
        PageTopic.page,
        Topic.id,
        Topic.name,
        PageTopic.score,
        PageTopic.verdict,
        PageTopic.fetched,
        PageTopic.terms,
    )
    for batch in chunked(page_ids, _BATCH):
        query = (
            PageTopic.select(*columns)
            .join(Topic, on=Topic.id == PageTopic.topic)
            .where(PageTopic.page.in_(batch))
            .order_by(PageTopic.score.desc())
        )
        for page, *mark in query.tuples().execute(database):
            found.setdefault(page, []).append(TopicMark(*mark))
    return found


def _with_topics(database: Database, rows: dict[int, NewsRow]) -> dict[int, NewsRow]:
    marks = topics_of(database, [row.page_id for row in rows.values()])
    return {
        key: replace(row, topics=tuple(marks[row.page_id])) if row.page_id in marks else row
        for key, row in rows.items()
    }


def _with_copies(database: Database, rows: dict[int, NewsRow]) -> dict[int, NewsRow]:
    clusters: dict[int, int] = {}
    for batch in chunked([row.page_id for row in rows.values()], _BATCH):
        same = PageText.page.in_(batch) & PageText.cluster.is_null(is_null=False)
        query = PageText.select(PageText.page, PageText.cluster).where(same)
        clusters.update(query.tuples().execute(database))
    sizes: dict[int, int] = {}
    for batch in chunked(sorted(set(clusters.values())), _BATCH):
        query = (
            PageText.select(PageText.cluster, fn.COUNT(PageText.page))
            .where(PageText.cluster.in_(batch))
            .group_by(PageText.cluster)
        )
        sizes.update(query.tuples().execute(database))
    found = {}
    for key, row in rows.items():
        cluster = clusters.get(row.page_id)
        copies = sizes[cluster] - 1 if cluster is not None else 0
        found[key] = replace(row, cluster=cluster, copies=copies)
    return found


def with_excerpts(
    database: Database, rows: Sequence[NewsRow], phrases: Sequence[Phrase]
) -> list[NewsRow]:
    """Return the rows with a piece of each page's text around the words that were looked for."""
    texts: dict[int, bytes] = {}
    for batch in chunked([row.page_id for row in rows], _BATCH):
        query = PageText.select(PageText.page, PageText.text).where(
            PageText.page.in_(batch) & PageText.text.is_null(is_null=False)
        )
        texts.update(query.tuples().execute(database))
    return [
        replace(row, excerpt=excerpt(unpacked(texts[row.page_id]), phrases))
        if row.page_id in texts
        else row
        for row in rows
    ]


def unpacked(text: bytes | None) -> str:
    """Return a text that the store holds deflated."""
    return zlib.decompress(text).decode() if text else ""

"""Announced pages, sites, folders and topics as reader apps read them. Texts of sites are escaped as HTML."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from incremental.base.plain_text import one_line
from incremental.features.google_reader.streams import (
    FRESH,
    LABEL,
    READ,
    READING_LIST,
    STARRED,
    item_id,
)
from incremental.interfaces.web.feeds import Entry
from store import Store
from store.answers import AnnouncedPage, NewQuery
from store.enums import TopicVerdict
from store.values import SiteRow

_TITLE, _SUMMARY, _URL = 500, 1_000, 2_000
_MICRO = 1_000_000
# Unread pages of a topic are counted up to here.
MOST_COUNTED = 1_000

Folders = Mapping[int, Sequence[str]]
"""Folders by site."""


def item(page: AnnouncedPage, folders: Folders) -> dict[str, Any]:
    """Return an announced page as an item."""
    url = one_line(page.url, _URL)
    return {
        "id": item_id(page.cursor),
        "crawlTimeMsec": str(_micro(page.found_at) // 1_000),
        "timestampUsec": str(_micro(page.found_at)),
        "published": _second(page),
        "title": escape(title_of(page), quote=False),
        "canonical": [{"href": url}],
        "alternate": [{"href": url, "type": "text/html"}],
        "summary": {"content": escape(one_line(page.anchor, _SUMMARY), quote=False)},
        "author": escape(one_line(page.site, _TITLE), quote=False),
        "categories": categories(page, folders),
        "origin": {
            "streamId": f"feed/{page.site_id}",
            "title": escape(one_line(page.site, _TITLE), quote=False),
        },
    }


def categories(page: AnnouncedPage, folders: Folders) -> list[str]:
    """Return the states and labels of a page."""
    states = [READING_LIST]
    states += [READ] if page.read_at is not None else []
    states += [STARRED] if page.starred_at is not None else []
    topics = (mark.topic for mark in page.topics if mark.verdict == TopicVerdict.RELEVANT)
    labels = dict.fromkeys((*folders.get(page.site_id, ()), *topics))
    return [*states, *(LABEL + name for name in labels)]


def title_of(page: AnnouncedPage) -> str:
    """Return the title, or else the URL, as plain text."""
    return one_line(page.name, _TITLE) or one_line(page.url, _URL)


def _second(page: AnnouncedPage) -> int:
    at = page.published_at
    # Apps hold it in 32 bits, and sites claim any date.
    return int(at if at is not None and 0 <= at < 2**31 else page.found_at)


def _micro(at: float) -> int:
    return int(at * _MICRO)


def subscriptions(store: Store, base: str) -> list[dict[str, Any]]:
    """Return the sites as subscriptions in their folders."""
    folders = store.tags.of_sites()
    return [
        {
            "id": f"feed/{row.id}",
            "title": one_line(row.name, _TITLE),
            "categories": [{"id": LABEL + name, "label": name} for name in folders.get(row.id, ())],
            "url": f"{base}/feeds/site/{row.id}.atom",
            "htmlUrl": _home(row),
            "iconUrl": "",
        }
        for row in store.read.sites()
    ]


def _home(row: SiteRow) -> str:
    return str(json.loads(row.scope).get("home") or row.seed_url)


def tags(store: Store) -> list[dict[str, str]]:
    """Return the star, the folders and the topics."""
    folders = sorted({name for names in store.tags.of_sites().values() for name in names})
    topics = [row.name for row in store.topics.topics() if row.name not in folders]
    return [
        {"id": STARRED},
        *({"id": LABEL + name, "type": "folder"} for name in folders),
        *({"id": LABEL + name, "type": "tag"} for name in topics),
    ]


@dataclass(frozen=True, slots=True)
class _Unread:
    stream: str
    count: int
    newest_at: float

    def to_json(self) -> dict[str, Any]:
        newest = str(_micro(self.newest_at))
        return {"id": self.stream, "count": self.count, "newestItemTimestampUsec": newest}


def unread_counts(store: Store) -> dict[str, Any]:
    """Return how many unread pages each site, folder and topic has, and all together."""
    counts, latest = store.answers.counts(), store.monitor.last_announced()
    rows: list[_Unread] = []
    folders: dict[str, list[int]] = {}
    tags = store.tags.of_sites()
    for site in (row.id for row in store.read.sites()):
        number = counts[site].unread if site in counts else 0
        rows.append(_Unread(f"feed/{site}", number, latest.get(site, 0.0)))
        for name in tags.get(site, ()):
            folders.setdefault(name, []).append(site)
    for name, sites in folders.items():
        number = sum(counts[site].unread for site in sites if site in counts)
        newest = max(latest.get(site, 0.0) for site in sites)
        rows.append(_Unread(LABEL + name, number, newest))
    rows += (
        _of_topic(store, row.id, row.name)
        for row in store.topics.topics()
        if row.name not in folders
    )
    total, newest = counts[0].unread, max(latest.values(), default=0.0)
    rows.append(_Unread(READING_LIST, total, newest))
    return {"max": total, "unreadcounts": [row.to_json() for row in rows]}


def _of_topic(store: Store, topic: int, name: str) -> _Unread:
    query = NewQuery(topic=topic, verdict=TopicVerdict.RELEVANT, read=False, limit=MOST_COUNTED)
    rows = store.answers.new(query).rows
    return _Unread(LABEL + name, len(rows), rows[0].found_at if rows else 0.0)


def entry(page: AnnouncedPage, folders: Folders) -> Entry:
    """Return a page as an entry of Atom with its states, for readers of the first Google Reader."""
    states = categories(page, folders)
    return Entry(
        id=item_id(page.cursor),
        url=page.url,
        title=title_of(page),
        site=page.site,
        found_at=page.found_at,
        published_at=float(_second(page)),
        summary=page.anchor,
        states=tuple(states if page.read_at is not None else [*states, FRESH]),
    )

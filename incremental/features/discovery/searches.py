"""Searches for sites begun by a request; they go on in the background."""

from __future__ import annotations

from functools import partial

from incremental.base.lookup import topic_numbered
from incremental.features.discovery.making import make_discoverer
from incremental.interfaces.web.background import Work
from incremental.interfaces.web.context import Web

MAX_PAGES = 2_000
MAX_ROUNDS = 100


def search_of(web: Web, topic_id: int) -> Work | None:
    """Return the last search of a topic that was begun in this process."""
    return web.background.last(f"search {topic_id}")


def begin_search(web: Web, topic_id: int, *, rounds: int, pages: int) -> Work:
    """Search for sites of a topic now, unless that is under way."""
    search = partial(_search, web, topic_id, rounds, pages)
    return web.background.begin(f"search {topic_id}", search)


def _search(web: Web, topic_id: int, rounds: int, pages: int) -> object:
    with web.store() as store:
        topic = topic_numbered(store, topic_id)
        with make_discoverer(store, web.settings, web.folder, topic) as discoverer:
            return discoverer.run(rounds=rounds, pages=pages)

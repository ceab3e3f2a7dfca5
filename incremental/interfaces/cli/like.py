"""``search --like URL``: announced pages that are like a page in meaning."""

from __future__ import annotations

from contextlib import closing

import typer

from classifier.embedding.packing import squeezed
from classifier.words.values import PageText
from incremental.base.clock import SystemClock
from incremental.base.errors import NotFoundError
from incremental.base.lookup import find_page
from incremental.base.readable_urls import readable
from incremental.daemon.assembly import make_embedder, make_fetcher, make_reader
from incremental.fetch.session import Fetcher
from incremental.interfaces.cli.common import counted, now, print_list, settings_of
from incremental.interfaces.results.schema import like_page, when
from incremental.topics.embedding.choice import standing
from incremental.topics.embedding.keeping import kept_space
from incremental.topics.embedding.likeness import (
    LikePage,
    NoVectorError,
    embedded_space,
    pages_like,
)
from incremental.visit.once import read_page
from store import Store
from store.answers import NewQuery
from store.search.vectors import Space


def answer_like(context: typer.Context, store: Store, url: str, query: NewQuery) -> None:
    """Print the announced pages nearest to the page *url*, which is read once if it has no vector."""
    space = embedded_space(store)
    page = _page_of(store, url)
    vector = None if page is None else store.vectors.vector(space, page)
    if vector is None:
        vector = _embedded(context, store, url, space)
    _print(context, pages_like(store, space, vector, query, but=page))


def _page_of(store: Store, url: str) -> int | None:
    """Return the id of a page; None = no hub has shown it."""
    try:
        return int(find_page(store, url)["id"])
    except NotFoundError:
        return None


def _embedded(context: typer.Context, store: Store, url: str, space: Space) -> bytes:
    """Return the vector of any page: of its cached text, or else of what is fetched now."""
    settings, _ = settings_of(context)
    clock = SystemClock()
    with (
        closing(make_fetcher(settings, clock)) as fetcher,
        make_embedder(settings, clock) as embedder,
    ):
        if embedder is None:
            found = standing(settings.embeddings)
            missing = found.problem or 'no model is configured ([embeddings] provider = "none")'
            way_out = found.way_out or "choose an announced page that has a vector"
            raise NoVectorError(f"{readable(url)} cannot be embedded: {missing}; {way_out}")
        own = kept_space(embedder.space)
        if own != space.name:
            made = f"announced pages were embedded by {space.name}, but the settings name {own}"
            raise NoVectorError(f"{made}; hubwatch run embeds them again")
        meaning = embedder.with_meaning(_read(context, store, url, fetcher)).meaning
        problem = embedder.problem or "it has no words, or the model breaks on them"
    if meaning is None:
        raise NoVectorError(f"{readable(url)} cannot be embedded: {problem}")
    return squeezed(meaning.packed)


def _read(context: typer.Context, store: Store, url: str, fetcher: Fetcher) -> PageText:
    settings, _ = settings_of(context)
    with make_reader(settings, workers=1) as reader:
        read = read_page(store, settings, url, fetcher.fetch, now=now(), read=reader)
    if read.text is None:
        raise NotFoundError(f"{readable(read.url)}: {read.problem}")
    return read.text


def _print(context: typer.Context, found: list[LikePage]) -> None:
    result = {"pages": [like_page(one.page, one.likeness) for one in found]}
    rows = [
        (
            f"{one.likeness:.2f}",
            when(one.page.found_at),
            one.page.site,
            one.page.name,
            readable(one.page.url),
        )
        for one in found
    ]
    columns = ("likeness", "found", "site", "title", "url")
    title = counted(len(rows), "page")
    print_list(context, result, title, columns, rows, empty="nothing found")

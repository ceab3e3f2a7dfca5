"""Search by meaning: the announced pages whose vectors are nearest to one vector.

::

    store: blocks of 20,000 vectors, 7 bits a number ──> cosines ──> all pages, nearest first
    the search's filters are asked of the nearest, in growing batches, until there are enough

Every vector of the present space is read, so the time grows with their number; 12 bytes a page are held
beside one block.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from classifier.embedding.packing import unsqueezed
from incremental.base.errors import NotFoundError
from store import Store
from store.answers import NewQuery
from store.answers.announced import AnnouncedPage
from store.search.vectors import BLOCK_ROWS, Space

# Of the nearest pages, whose filters are asked at once: first, and at most.
_FIRST: Final = 200
_MOST: Final = 5_000


class NoVectorError(NotFoundError):
    """There is nothing to compare with."""


@dataclass(frozen=True, slots=True)
class LikePage:
    """An announced page that is like another."""

    page: AnnouncedPage
    likeness: float
    """Cosine of the two vectors, 0 to 1. Models differ: compare within one answer."""


def vector_of(store: Store, page_id: int) -> tuple[Space, bytes]:
    """Return a page's vector with its space.

    Raises:
        NoVectorError: nothing was embedded yet, or not this page.
    """
    space = embedded_space(store)
    found = store.vectors.vector(space, page_id)
    if found is None:
        way_out = (
            "the daemon embeds announced pages, newest first: hubwatch status shows how far it is"
        )
        raise NoVectorError(f"this page has no vector; {way_out}")
    return space, found


def embedded_space(store: Store) -> Space:
    """Return the present space; raises NoVectorError if nothing was embedded yet."""
    space = store.vectors.present()
    if space is None:
        way_out = (
            "install a model (hubwatch doctor says which) and let the daemon run: hubwatch run"
        )
        raise NoVectorError(f"no announced page has a vector yet; {way_out}")
    return space


def pages_like(  # noqa: PLR0913 - two of them by name
    store: Store,
    space: Space,
    vector: bytes,
    query: NewQuery,
    *,
    but: int | None = None,
    block_rows: int = BLOCK_ROWS,
) -> list[LikePage]:
    """Return the announced pages nearest to *vector*, at most ``query.limit``, the nearest first.

    *but* is the id of a page to leave out. The filters of *query* hold; its cursor and order do not.
    """
    pages, cosines = nearest(store, space, vector, block_rows=block_rows)
    found: list[LikePage] = []
    start, size = 0, _FIRST
    while start < len(pages) and len(found) < query.limit:
        part = slice(start, start + size)
        likeness = dict(zip(pages[part].tolist(), cosines[part].tolist(), strict=True))
        asked = replace(query, among=tuple(likeness), after=None, limit=size)
        rows = [row for row in store.answers.new(asked).rows if row.page_id != but]
        rows.sort(key=lambda row: (-likeness[row.page_id], row.page_id))
        found += [LikePage(row, likeness[row.page_id]) for row in rows]
        start, size = start + size, min(4 * size, _MOST)
    return found[: query.limit]


def nearest(
    store: Store, space: Space, vector: bytes, *, block_rows: int = BLOCK_ROWS
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the ids of all pages with a vector in *space* and their likeness, the nearest first."""
    wanted = unsqueezed([vector])[0]
    ids, cosines = [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
    for pages, rows in store.vectors.blocks(space, rows=block_rows):
        # What has another length says nothing.
        fit = [number for number, row in enumerate(rows) if len(row) == len(vector)]
        if fit:
            ids.append(np.array([pages[number] for number in fit], np.int64))
            cosines.append(unsqueezed([rows[number] for number in fit]) @ wanted)
    found, likeness = np.concatenate(ids), np.clip(np.concatenate(cosines), 0.0, 1.0)
    order = np.lexsort((found, -likeness))
    return found[order], likeness[order]

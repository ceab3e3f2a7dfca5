"""Vectors of announced pages, in the space of the present model: ``store.search.vectors``.

::

    a text is recorded  -> its page waits (space 0), unless the text is the same
    begin(name)         another model: a new space; pages of earlier ones wait as well
    waiting -> embed -> put     newest first; a text that changed meanwhile keeps waiting
    blocks              all vectors of the present space, by page id

A page's vector is deleted with its text (:mod:`store.maintenance.retention`).
Spaces are numbered, so two models never mix.
"""

import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from peewee import JOIN, Database, fn

from store.database import writing
from store.database.failures import storage_errors
from store.database.repository import Repository
from store.database.statements import Inserted, Prepared, Updated, any_of
from store.models import News, Page, PageText, PageVector, VectorSpace

BLOCK_ROWS: Final = 20_000
_WAITS: Final = 0

_DIGESTS = Prepared(
    lambda pages: PageVector.select(PageVector.page, PageVector.digest).where(
        any_of(PageVector.page, pages)
    )
)
_WAITING = Inserted(PageVector, ["page"])
_EMBEDDED = Updated(
    PageVector, lambda page, taken: (PageVector.page == page) & (PageVector.digest == taken)
)
_PRESENT = Prepared(
    lambda: (
        VectorSpace.select(VectorSpace.id, VectorSpace.name)
        .order_by(VectorSpace.id.desc())
        .limit(1)
    )
)
_BLOCK = Prepared(
    lambda space, after, most: (
        PageVector.select(PageVector.page, PageVector.vector)
        .where((PageVector.space == space) & (PageVector.page > after))
        .order_by(PageVector.page)
        .limit(most)
    )
)
_NEXT = Prepared(
    lambda space, most: (
        PageVector.select(
            *(PageVector.page, Page.title, Page.anchor, Page.url),
            *(PageText.title, PageText.text, PageVector.digest),
        )
        .join(Page, on=Page.id == PageVector.page)
        .join(PageText, JOIN.LEFT_OUTER, on=PageText.page == PageVector.page)
        .where(PageVector.space == space)
        .order_by(PageVector.page.desc())
        .limit(most)
    )
)


@dataclass(frozen=True, slots=True)
class Space:
    """Properties common to a model's vectors."""

    id: int
    name: str
    """The embedder's, with model and version."""


@dataclass(frozen=True, slots=True)
class WaitingText:
    """An announced page without a vector in the present space."""

    page_id: int
    url: str
    title: str
    text: str
    """Empty if only the title is known."""
    taken: bytes
    """Names the text, for :meth:`Vectors.put`."""


@dataclass(frozen=True, slots=True)
class VectorCounts:
    """Numbers of announced pages."""

    announced: int
    embedded: int
    """In the present space."""
    waiting: int
    """For a vector in it."""


def text_digest(title: str, text: str) -> bytes:
    """Return the 8-byte digest of a text."""
    whole = hashlib.md5(f"{title}\n{text}".encode(), usedforsecurity=False)
    return whole.digest()[:8]


def await_vectors(database: Database, digests: Mapping[int, bytes]) -> None:
    """Queue announced pages for a vector unless they have one of the same text."""
    before = dict(_DIGESTS.rows(database, pages=list(digests))) if digests else {}
    rows = [
        {"page": page, "space": _WAITS, "vector": None, "digest": digest}
        for page, digest in digests.items()
        if page not in before or bytes(before[page]) != digest
    ]
    _WAITING.run(database, rows)


class Vectors(Repository):
    """Vectors, on one database."""

    def begin(self, name: str) -> Space:
        """Return the space of an embedder: the present one, or a new one if that is another's."""
        with writing(self._db, self._where):
            present = self._present()
            if present is not None and present.name == name:
                return present
            VectorSpace.insert(name=name).execute(self._db)
            return self._present() or Space(_WAITS, name)

    def present(self) -> Space | None:
        """Return the present space; None = nothing was ever embedded."""
        with storage_errors(self._where):
            return self._present()

    def _present(self) -> Space | None:
        rows = _PRESENT.rows(self._db)
        return Space(*rows[0]) if rows else None

    def waiting(self, space: Space, *, limit: int) -> list[WaitingText]:
        """Return pages without a vector in *space*, the newest first; those of earlier spaces last."""
        found: list[WaitingText] = []
        with storage_errors(self._where):
            query = VectorSpace.select(VectorSpace.id).where(VectorSpace.id < space.id)
            earlier = query.order_by(VectorSpace.id.desc()).tuples().execute(self._db)
            for other in (_WAITS, *(one for (one,) in earlier)):
                rows = _NEXT.rows(self._db, space=other, most=limit - len(found))
                found += [_waiting(*row) for row in rows]
                if len(found) >= limit:
                    break
        return found

    def put(self, space: Space, vectors: Sequence[tuple[WaitingText, bytes | None]]) -> int:
        """Keep vectors of texts, None for one without a word; return how many texts were still the same."""
        kept = 0
        with writing(self._db, self._where):
            for text, vector in vectors:
                digest = text_digest(text.title, text.text)
                fields = {"space": space.id, "vector": vector, "digest": digest}
                kept += _EMBEDDED.run(self._db, fields, page=text.page_id, taken=text.taken)
        return kept

    def vector(self, space: Space, page_id: int) -> bytes | None:
        """Return a page's vector in *space*; None = it has none."""
        query = PageVector.select(PageVector.vector)
        mine = (PageVector.page == page_id) & (PageVector.space == space.id)
        found = self._scalar(query.where(mine))
        return None if found is None else bytes(found)

    def blocks(
        self, space: Space, *, rows: int = BLOCK_ROWS
    ) -> Iterator[tuple[list[int], list[bytes]]]:
        """Yield page ids and their vectors, a block of *rows* at a time, by page id."""
        after = 0
        while found := self._asked(_BLOCK, space=space.id, after=after, most=rows):
            after = found[-1][0]
            pages = [page for page, vector in found if vector is not None]
            yield pages, [bytes(vector) for _, vector in found if vector is not None]

    def counts(self) -> VectorCounts:
        """Count announced pages with a vector in the present space, and those that wait for one."""
        with storage_errors(self._where):
            present = self._present() or Space(-1, "")
            rows = PageVector.select(PageVector.space, fn.COUNT(PageVector.page))
            by = dict(rows.group_by(PageVector.space).tuples().execute(self._db))
            announced = int(News.select(fn.COUNT(News.id)).scalar(self._db))
        embedded = by.pop(present.id, 0)
        return VectorCounts(announced, embedded, sum(by.values()))


def _waiting(  # noqa: PLR0913, PLR0917 - a row
    page: int, title: str, anchor: str, url: str, read: str | None, text: bytes | None, taken: bytes
) -> WaitingText:
    body = zlib.decompress(text).decode() if text else ""
    return WaitingText(page, url, read or title or anchor, body, bytes(taken))

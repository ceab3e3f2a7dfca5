"""Versions of a page: their texts from the page cache, and the difference between two."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from incremental.base.errors import NotFoundError
from incremental.base.texts import Text
from incremental.parse.decoding import decode_body
from incremental.parse.dispatch import parse
from incremental.parse.history.textdiff import Piece, diff, shortened, whole
from incremental.parse.main_text import main_text
from store import Store
from store.answers import Version

_MOST_IGNORED = 50


def version_at(versions: list[Version], at: float | None) -> Version:
    """Return the version valid at *at* (None = latest), or the first if *at* is earlier.

    Raises:
        NotFoundError: the page was never read.
    """
    if not versions:
        raise NotFoundError(Text("missing.never_fetched"))
    stood = [version for version in versions if at is None or version.at <= at]
    return stood[-1] if stood else versions[0]


def text_of(store: Store, page: dict[str, Any], version: Version) -> tuple[str, str]:
    """Return the title and the text of a version; raises :class:`NotFoundError` if it is no longer kept."""
    body = store.cache.get(page["url"], version.body_md5)
    if body is not None:
        html, _ = decode_body(body, "")
        parsed = parse(body, page["url"])
        return parsed.title, main_text(html, page["url"])
    # The latest text is stored, and outlives its cached body.
    stored = store.answers.text(page["id"])
    if stored is not None and stored.forgotten_at is not None:
        raise NotFoundError(Text("missing.text_forgotten"))
    if stored is None or stored.md5 != version.body_md5:
        raise NotFoundError(Text("missing.body_forgotten"))
    return stored.title, stored.text


def previous(versions: list[Version], version: Version) -> Version:
    """Return the previous version; raises :class:`NotFoundError` for the first."""
    earlier = [one for one in versions if one.at < version.at]
    if not earlier:
        raise NotFoundError(Text("missing.no_earlier"))
    return earlier[-1]


def compared(
    versions: list[Version], start: float | None, end: float | None
) -> tuple[Version, Version]:
    """Return the versions of two times to compare; without *start*, the last change up to *end*."""
    last = version_at(versions, end)
    return previous(versions, last) if start is None else version_at(versions, start), last


@dataclass(frozen=True, slots=True)
class Difference:
    """A diff of two versions of a page's text."""

    before_at: float
    after_at: float
    summary: str
    lines: tuple[str, ...]
    """In order, each with ``-`` or ``+``; one that was there before and after is cut around what changed."""
    ignored: tuple[tuple[str, str], ...]
    """(text, why it was ignored)."""


def difference(store: Store, page_id: int, url: str, before: Version, after: Version) -> Difference:
    """Compare two versions of a page.

    Raises:
        NotFoundError: a body is no longer in the cache.
    """
    page = {"id": page_id, "url": url}
    old, new = text_of(store, page, before), text_of(store, page, after)
    found = diff(whole(*old), whole(*new))
    ignored = tuple((_plain(row.after or row.before), row.reason) for row in found.ignored)
    lines = (
        f"{sign} {shortened(pieces) if row.kind == 'changed' else _plain(pieces)}"
        for row in found.rows
        if row.kind not in ("same", "ignored")
        for sign, pieces in (("-", row.before), ("+", row.after))
        if pieces
    )
    return Difference(
        before_at=before.at,
        after_at=after.at,
        summary=found.summary,
        lines=tuple(lines),
        ignored=ignored[:_MOST_IGNORED],
    )


def versions_of_change(store: Store, page_id: int, change_id: int) -> tuple[Version, Version]:
    """Return the versions before and after a change of a page.

    Raises:
        NotFoundError: the page has no such change of its text.
    """
    history = store.answers.history(page_id, limit=1, before=change_id + 1)
    entry = next((one for one in history if one.id == change_id), None)
    if entry is None or entry.body_before is None or entry.body_after is None:
        raise NotFoundError(Text("missing.change"))
    earlier = [one.at for one in store.answers.versions(page_id) if one.at < entry.at]
    begun = earlier[-1] if earlier else entry.at
    return Version(begun, entry.body_before), Version(entry.at, entry.body_after)


def _plain(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces)

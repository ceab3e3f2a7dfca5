"""Versions of a page: their texts from the page cache, and the difference between two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from incremental.base.errors import NotFoundError
from incremental.base.texts import Text
from incremental.parse.decoding import decode_body
from incremental.parse.dispatch import parse
from incremental.parse.history.reading import whole
from incremental.parse.history.textdiff import TextDiff, diff
from incremental.parse.main_text import main_text
from store import Store
from store.answers import Version


@dataclass(frozen=True, slots=True)
class VersionText:
    """A version with its text."""

    version: Version
    title: str
    text: str


def version_at(versions: list[Version], at: float | None) -> Version:
    """Return the version valid at *at* (None = latest), or the first if *at* is earlier.

    Raises:
        NotFoundError: the page was never read.
    """
    if not versions:
        raise NotFoundError(Text("missing.never_fetched"))
    stood = [version for version in versions if at is None or version.at <= at]
    return stood[-1] if stood else versions[0]


def text_of(store: Store, page: dict[str, Any], version: Version) -> VersionText:
    """Return the text of a version; raises :class:`NotFoundError` if it is no longer kept."""
    body = store.cache.get(page["url"], version.body_md5)
    if body is not None:
        html, _ = decode_body(body, "")
        parsed = parse(body, page["url"], text=html)
        return VersionText(version, parsed.title, main_text(html, page["url"]))
    # The latest text is stored, and outlives its cached body.
    stored = store.answers.text(page["id"])
    if stored is not None and stored.forgotten_at is not None:
        raise NotFoundError(Text("missing.text_forgotten"))
    if stored is None or stored.md5 != version.body_md5:
        raise NotFoundError(Text("missing.body_forgotten"))
    return VersionText(version, stored.title, stored.text)


def compare(
    store: Store, page: dict[str, Any], before: Version, after: Version
) -> tuple[VersionText, VersionText, TextDiff]:
    """Return two versions with their texts, and the difference. Raises like :func:`text_of`."""
    old, new = text_of(store, page, before), text_of(store, page, after)
    return old, new, diff(whole(old.title, old.text), whole(new.title, new.text))


def previous(versions: list[Version], version: Version) -> Version:
    """Return the previous version; raises :class:`NotFoundError` for the first."""
    earlier = [one for one in versions if one.at < version.at]
    if not earlier:
        raise NotFoundError(Text("missing.no_earlier"))
    return earlier[-1]

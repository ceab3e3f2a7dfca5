"""The text of a fetched page, as topics judge it. No network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from classifier.words.values import PageText
from incremental.base.lookup import cached_body
from incremental.base.urls import canonical_key
from store import Store

if TYPE_CHECKING:
    from incremental.sandbox import Read


def cached_text(store: Store, url: str) -> PageText | None:
    """Return the text of a page with a cached body, or None."""
    for page in store.read.find_page(url, canonical_key(url)):
        body = cached_body(store, page)
        if body is not None:
            return text_of(body, str(page["url"]))
    return None


def text_of(body: bytes, url: str, read: Read | None = None) -> PageText | None:
    """Return the text of a cached body by position; None if *read*, else this process, could not read it."""
    # The parsers take a while to load, and most topics are shown or changed without them.
    from incremental.sandbox import Body, Unread, read_body  # noqa: PLC0415

    reading = (read or read_body)(Body(url, body, want_text=True, for_topics=True))
    return None if isinstance(reading, Unread) else reading.text

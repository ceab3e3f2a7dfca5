"""The text of a fetched page, as topics judge it. No network."""

from __future__ import annotations

from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from classifier.words.latest import Latest
from classifier.words.values import PageText
from incremental.base.lookup import cached_bodies
from store import Store
from store.topics.values import KeptPage

if TYPE_CHECKING:
    from incremental.sandbox import Read


def cached_text(store: Store, url: str) -> PageText | None:
    """Return the text of a page with a cached body, or None."""
    return next((text_of(body, at) for at, body in cached_bodies(store, url)), None)


# Texts read again in this process, by URL and body: a preview wants the same ones at every click.
_AGAIN: Latest[tuple[str, str], PageText | None] = Latest(400)
_one_writer = Lock()


def is_at_hand(page: KeptPage) -> bool:
    """Whether :func:`text_again` need not read the page."""
    return (page.url, page.body_md5) in _AGAIN


def text_again(store: Store, page: KeptPage, read: Read | None = None) -> PageText | None:
    """Return the text of a page that was read before; None = its body is lost, or *read* could not read it.

    Here, in this process, its main text is not looked for again: the store has it.
    """
    body = store.cache.get(page.url, page.body_md5)
    if body is None:
        return None
    if read is not None:
        return text_of(body, page.url, read)
    key = page.url, page.body_md5
    try:
        return _AGAIN[key]
    except KeyError:
        text = _read_here(store, page, body)
    with _one_writer:
        _AGAIN[key] = text
    return text


def _read_here(store: Store, page: KeptPage, body: bytes) -> PageText | None:
    kept = store.answers.text(page.page_id)
    if kept is None or kept.md5 != page.body_md5 or not kept.text:
        return text_of(body, page.url)
    from incremental.parse.dispatch import parse  # noqa: PLC0415 - as below
    from incremental.parse.topic_text import page_text  # noqa: PLC0415 - likewise

    parsed = parse(body, page.url, want_text=True)
    return replace(page_text(parsed, kept.text), language=kept.language)


def text_of(body: bytes, url: str, read: Read | None = None) -> PageText | None:
    """Return the text of a cached body by position; None if *read*, else this process, could not read it."""
    # The parsers take a while to load, and most topics are shown or changed without them.
    from incremental.sandbox import Body, Unread, read_body  # noqa: PLC0415

    reading = (read or read_body)(Body(url, body, want_text=True, for_topics=True))
    return None if isinstance(reading, Unread) else reading.text

"""The text of a fetched page, as topics judge it. No network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from classifier.topic.values import PageText
from incremental.urls import canonical_key
from store import Store


def cached_body(store: Store, page: Mapping[str, Any]) -> bytes | None:
    """Return a page's cached body, as a hub or else as a page; *page* has its columns."""
    hub = store.read.hub(page["id"])
    digests = (hub.body_md5 if hub is not None else None, page["body_md5"])
    bodies = (store.cache.get(page["url"], digest) for digest in digests if digest)
    return next((body for body in bodies if body is not None), None)


def cached_text(store: Store, url: str) -> PageText | None:
    """Return the text of a page with a cached body, or None."""
    for page in store.read.find_page(url, canonical_key(url)):
        body = cached_body(store, page)
        if body is not None:
            return text_of(body, str(page["url"]))
    return None


def text_of(body: bytes, url: str, content_type: str = "") -> PageText:
    """Return the text of a body by position."""
    # Loaded late: only callers with a page need the parser.
    from incremental.fetch.decoding import decode_body  # noqa: PLC0415
    from incremental.parse import parse  # noqa: PLC0415
    from incremental.visit import topic_text  # noqa: PLC0415

    page = parse(body, url, content_type=content_type, decode=decode_body, want_text=True)
    return topic_text(page, body, content_type)

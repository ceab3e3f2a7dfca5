"""The text of a page that was read, as topics judge it. Nothing here opens a socket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from classifier.topic.values import PageText
from incremental.urls import canonical_key
from store import Store


def cached_body(store: Store, page: Mapping[str, Any]) -> bytes | None:
    """Return what was kept of a page (its columns): the body that it had as a hub, else as a page."""
    hub = store.read.hub(page["id"])
    digests = (hub.body_md5 if hub is not None else None, page["body_md5"])
    bodies = (store.cache.get(page["url"], digest) for digest in digests if digest)
    return next((body for body in bodies if body is not None), None)


def cached_text(store: Store, url: str) -> PageText | None:
    """Return the text of a page whose body was kept, None when there is none."""
    for page in store.read.find_page(url, canonical_key(url)):
        body = cached_body(store, page)
        if body is not None:
            return text_of(body, str(page["url"]))
    return None


def text_of(body: bytes, url: str, content_type: str = "") -> PageText:
    """Return what topics judge of a body, by position."""
    # Only who has a page to read loads the parser.
    from incremental.fetch.decoding import decode_body  # noqa: PLC0415
    from incremental.parse import parse  # noqa: PLC0415
    from incremental.visit import topic_text  # noqa: PLC0415

    page = parse(body, url, content_type=content_type, decode=decode_body, want_text=True)
    return topic_text(page, body, content_type)

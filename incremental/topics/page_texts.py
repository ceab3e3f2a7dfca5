"""The text of a page that was read, as topics judge it. Nothing here opens a socket."""

from __future__ import annotations

from classifier.topic.values import PageText
from incremental.urls import identity
from store import Store


def cached_text(store: Store, url: str) -> PageText | None:
    """Return the text of a page whose body was kept, None when there is none."""
    for page in store.read.find_page(url, identity(url)):
        hub = store.read.hub(page["id"])
        digest = page["body_md5"] or (hub.body_md5 if hub is not None else None)
        body = store.cache.get(page["url"], digest) if digest else None
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

"""What is read from one body. Pure: no network, no store, no clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from classifier.topic.values import PageText
from incremental.fetch.decoding import decode_body
from incremental.fetch.headers import link_targets
from incremental.fetch.status import FetchStatus
from incremental.history.reading import read_text
from incremental.parse import Page, PageKind, parse
from incremental.parse.languages import language_of_page
from incremental.parse.topic_text import page_text
from store.values import ReadText


@dataclass(frozen=True, slots=True)
class Body:
    """A fetched body, and what is wanted of it besides its links."""

    url: str
    """Where it was found, after redirects."""
    content: bytes
    content_type: str = ""
    """The whole header."""
    link_header: str | None = None
    md5: str = ""
    """Of the content; kept with the text."""
    want_text: bool = False
    """The page's text, date and headings."""
    keep_text: bool = False
    """The text to be stored."""
    for_topics: bool = False
    """The text that topics judge."""
    describe: bool = False
    """The features of its content for the hub classifier."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read from a body."""

    page: Page
    text: PageText | None = None
    """What topics judge; None = not wanted."""
    read: ReadText | None = None
    """The text to be stored; None = not wanted."""
    features: tuple[float, ...] | None = None
    """``CONTENT_FEATURE_NAMES`` of the hub classifier; None = not wanted."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A body that could not be read within its bounds."""

    status: FetchStatus
    """PARSE_TIMED_OUT or PARSE_FAILED."""
    detail: str
    """Why; for display."""


Read = Callable[[Body], Reading | Unread]


def read_body(body: Body) -> Reading:
    """Read *body*. Never raises because of its content."""
    page = parse(
        body.content,
        body.url,
        content_type=body.content_type,
        decode=decode_body,
        want_text=body.want_text,
    )
    page = _with_header_links(page, body)
    page = replace(page, language=language_of_page(page))
    html = ""
    if body.describe or (body.keep_text and page.kind is PageKind.HTML):
        html, _ = decode_body(body.content, body.content_type)
    read = read_text(page, html, body.md5) if body.keep_text else None
    return Reading(
        page,
        text=_topic_text(body, page, read) if body.for_topics else None,
        read=read,
        features=_features(html) if body.describe else None,
    )


def _with_header_links(page: Page, body: Body) -> Page:
    """Take the WebSub hub from the ``Link`` header, else from the page (WebSub, section 4)."""
    named = link_targets(body.url, body.link_header)
    return replace(
        page,
        websub_hub_url=named.get("hub") or page.websub_hub_url,
        websub_self_url=named.get("self") or page.websub_self_url,
    )


def _topic_text(body: Body, page: Page, read: ReadText | None) -> PageText:
    if not body.want_text:
        # Of a list that may be an article: its links are read without the text, which may change its date.
        page = parse(body.content, body.url, content_type=body.content_type, want_text=True)
    elif read is not None:
        return page_text(page, read.text or None)
    return topic_text(page, body.content, body.content_type)


def topic_text(page: Page, content: bytes, content_type: str = "") -> PageText:
    """Return what topics judge of a page parsed, with its text, from *content*."""
    if page.kind is not PageKind.HTML:
        return page_text(page)
    # The extractor is loaded only if there are topics.
    from incremental.parse.main_text import main_text  # noqa: PLC0415

    html, _ = decode_body(content, content_type)
    return page_text(page, main_text(html, page.url))


def _features(html: str) -> tuple[float, ...]:
    # numpy is loaded only for the first visit of a list.
    from classifier.hub.content_features import describe_page  # noqa: PLC0415

    return tuple(map(float, describe_page(html)))

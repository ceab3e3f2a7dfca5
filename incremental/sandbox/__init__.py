"""Reading a body: whatever a site sends, for at most so long and in so much memory.

::

    Body -> read_body -> Reading                    pure; in the caller's thread
    Body -> ReaderPool.read -> Reading | Unread     the same in a process of its own
              │ deadline, memory      ▲
              ▼                       │ typed values, never code
            process.py ── frames ── worker.py: read_body

A process that takes too long, grows too large or crashes is killed and replaced; its page is
:class:`Unread`, like one that could not be fetched.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from classifier.words.values import PageText
from incremental.base.features import target_of
from incremental.fetch.status import FetchStatus
from incremental.parse import Page, PageKind
from incremental.parse.behind import MOST_LINKS, Behind, behind_json, behind_page, behind_script
from incremental.parse.decoding import decode_body
from incremental.parse.dispatch import parse
from incremental.parse.hub_way import Listing
from incremental.parse.main_text import language_of_page, main_text
from incremental.parse.topic_text import page_text
from store.values import ReadText


class BodyRole(StrEnum):
    """The part that a body plays in the visit of a page."""

    PAGE = "page"
    JSON = "json"
    """What its scripts ask for."""
    SCRIPT = "script"
    """One of its scripts."""


@dataclass(frozen=True, slots=True)
class Body:
    """A fetched body, and what is wanted of it besides its links."""

    url: str
    """Where it was found, after redirects."""
    content: bytes
    content_type: str = ""
    """The whole header."""
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
    behind: bool = False
    """What lies behind the page, if it is only a shell."""
    role: BodyRole = BodyRole.PAGE
    """A body that is no page belongs to the one at *url*."""
    listing: Listing | None = None
    """Where its list was found before."""
    folders: tuple[str, ...] = ()
    """Where the scripts of its page look for slugs."""
    reader: str = ""
    """The function of a feature that reads bodies of this type, as ``module:name``; empty = we do."""
    signature: str = ""
    """The function of a feature that makes the signature of a text to be stored; empty = none is made."""


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
    behind: Behind | None = None
    """What lies behind it; None = not wanted, or the page is no shell."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A body that could not be read within its bounds."""

    status: FetchStatus
    """PARSE_TIMED_OUT or PARSE_FAILED."""
    detail: str
    """Why; for display."""


Read = Callable[[Body], Reading | Unread]


def read_body(body: Body) -> Reading:
    """Read *body*. Never raises because of its content, unless a feature reads it."""
    if body.role is not BodyRole.PAGE:
        return _read_part(body)
    page = _page(body)
    page = replace(page, language=language_of_page(page))
    html = ""
    if body.describe or (body.keep_text and page.kind is PageKind.HTML):
        html, _ = decode_body(body.content, body.content_type)
    read = _stored_text(body, page, html) if body.keep_text else None
    return Reading(
        page,
        text=_topic_text(body, page, read) if body.for_topics else None,
        read=read,
        features=_features(html) if body.describe else None,
        behind=_behind(body, page) if body.behind else None,
    )


def _page(body: Body) -> Page:
    if body.reader:
        page: Page = target_of(body.reader)(body.content, body.url)
        return page
    return parse(
        body.content,
        body.url,
        content_type=body.content_type,
        want_text=body.want_text,
    )


def _stored_text(body: Body, page: Page, html: str) -> ReadText:
    text = main_text(html, page.url) if page.kind is PageKind.HTML else ""
    read = ReadText(title=page.title, text=text, md5=body.md5, language=page.language)
    return replace(read, signature=target_of(body.signature)(read.text)) if body.signature else read


def with_features(readers: Mapping[str, str], signature: str, read: Read) -> Read:
    """Return *read* with the features' *readers*, by media type, and their text *signature* applied."""

    def reading(body: Body) -> Reading | Unread:
        kind = body.content_type.partition(";")[0].strip().lower()
        reader = readers.get(kind, "") if body.role is BodyRole.PAGE else ""
        return read(replace(body, reader=reader, signature=signature))

    return reading if readers or signature else read


def _read_part(body: Body) -> Reading:
    """Read what belongs to a page."""
    text, _ = decode_body(body.content, body.content_type)
    if body.role is BodyRole.SCRIPT:
        behind = behind_script(text, body.url)
    else:
        behind = behind_json(text, body.url, body.listing, body.folders)
    return Reading(Page(body.url, PageKind.OTHER), behind=behind)


def _behind(body: Body, page: Page) -> Behind | None:
    # Few pages have so few links that a second reading is worth its time.
    own = {link.url for link in page.links}
    if page.kind is not PageKind.HTML or len(own) > MOST_LINKS or b"<script" not in body.content:
        return None
    text, _ = decode_body(body.content, body.content_type)
    return behind_page(text, body.url, body.listing, body.folders)


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
    html, _ = decode_body(content, content_type)
    return page_text(page, main_text(html, page.url))


def _features(html: str) -> tuple[float, ...]:
    # numpy is loaded only for the first visit of a list.
    from classifier.hub.content_features import describe_page  # noqa: PLC0415

    return tuple(map(float, describe_page(html)))

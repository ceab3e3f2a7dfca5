"""JSON Feed 1.0 and 1.1 (https://www.jsonfeed.org/version/1.1/)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from incremental.parse.dates import parse_date
from incremental.parse.page import Link, Page, PageKind
from incremental.parse.references import Resolver
from incremental.parse.text import language_code, plain, string

if TYPE_CHECKING:
    from incremental.parse.limits import ParseLimits

_MAX_TITLE_CHARS = 500
_MAX_SUMMARY_CHARS = 300


def parse_json_feed(text: str, url: str, *, limits: ParseLimits) -> Page:
    """Parse the items as links; JSON that is not a feed becomes OTHER with a reason."""
    try:
        feed = json.loads(text.lstrip("\ufeff"), strict=False)
    except (ValueError, RecursionError) as error:
        return Page(url=url, kind=PageKind.OTHER, problem=f"broken JSON: {error}"[:200])
    if not isinstance(feed, dict) or not isinstance(feed.get("items"), list):
        return Page(url=url, kind=PageKind.OTHER, problem="JSON, but no JSON Feed")
    resolver = Resolver(url, max_chars=limits.max_url_chars)
    items = feed["items"]
    return Page(
        url=url,
        kind=PageKind.FEED,
        title=plain(string(feed, "title"), _MAX_TITLE_CHARS),
        language=language_code(string(feed, "language")),
        links=_links(items[: limits.max_feed_entries], resolver),
        next_url=resolver.resolve(string(feed, "next_url")),
        home_url=resolver.resolve(string(feed, "home_page_url")),
        truncated=len(items) > limits.max_feed_entries,
    )


def _links(items: list[Any], resolver: Resolver) -> tuple[Link, ...]:
    links: list[Link] = []
    for item in items:
        if not isinstance(item, dict):
            continue
        canonical_key = string(item, "id")
        # Many feeds give only an id, which is the URL.
        permalink = canonical_key if canonical_key.lower().startswith("http") else ""
        references = (string(item, "url"), string(item, "external_url"), permalink)
        target = next(filter(None, map(resolver.resolve, references)), None)
        if target is None:
            continue
        summary = next(filter(None, (string(item, key) for key in _SUMMARIES)), "")
        declared = (string(item, key) for key in ("date_published", "date_modified"))
        dates = (parse_date(text, needs_day=True) for text in declared)
        links.append(
            Link(
                url=target,
                anchor=plain(string(item, "title"), _MAX_TITLE_CHARS),
                context=plain(summary, _MAX_SUMMARY_CHARS),
                position=len(links),
                published_at=next((date for date in dates if date is not None), None),
            ),
        )
    return tuple(links)


_SUMMARIES = ("summary", "content_text", "content_html")

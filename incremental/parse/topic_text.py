"""What of a parsed page the topic models read: its text by position, and its links in context. Pure."""

from __future__ import annotations

from dataclasses import replace

from classifier.topic.values import LinkContext, PageText
from incremental.parse import Link, Page
from incremental.urls import normalize

_MAX_ANCHORS = 2_000
_MAX_ANCHOR_CHARS = 300


def page_text(page: Page, body: str | None = None) -> PageText:
    """Return what *page* says, by position.

    *body* is its main text from a better extractor (``incremental.parse.main_text``); None = the
    text that the parser found, which is there only if it was asked for.
    """
    return PageText(
        url=page.url,
        title=page.title,
        headings=page.headings,
        meta=page.description,
        body=page.text if body is None else body,
        anchors=tuple(link.anchor for link in page.links[:_MAX_ANCHORS] if link.anchor),
        language=page.language,
    )


def link_contexts(page: Page, parent_score: float | None = None) -> list[LinkContext]:
    """Return the links of *page* as it shows them, one for each target, in page order.

    Targets are in fetch form; links to the page itself are left out. A target that is linked more
    than once has its different anchors joined, and the surroundings of its first link.
    *parent_score* is the relevance of *page*, where it was judged.
    """
    own = normalize(page.url)
    found: dict[str, LinkContext] = {}
    for link in page.links:
        url = normalize(link.url)
        if url is None or url == own:
            continue
        before = found.get(url)
        if before is None:
            found[url] = _context(link, url, page.url, parent_score)
        elif link.anchor and link.anchor not in before.anchor:
            joined = f"{before.anchor} {link.anchor}".strip()[:_MAX_ANCHOR_CHARS]
            found[url] = replace(before, anchor=joined)
    return list(found.values())


def _context(link: Link, url: str, parent: str, parent_score: float | None) -> LinkContext:
    return LinkContext(
        url=url,
        anchor=link.anchor[:_MAX_ANCHOR_CHARS],
        around=link.context,
        heading=link.heading,
        tag_path=link.tag_path,
        parent_url=parent,
        parent_score=parent_score,
    )

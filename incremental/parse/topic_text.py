"""What topic models read of a parsed page: text by position, and links in context. Pure."""

from dataclasses import replace

from classifier.words.values import LinkContext, PageText
from incremental.base.urls import normalize
from incremental.parse import Link, Page

_MAX_ANCHORS = 2_000
_MAX_ANCHOR_CHARS = 300


def page_text(page: Page, body: str | None = None) -> PageText:
    """Return the text of *page* by position.

    *body* is main text from a better extractor (``incremental.parse.main_text``); None = the
    parser's, present only if requested.
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


def link_contexts(page: Page) -> list[LinkContext]:
    """Return the links of *page* with their context, one per target, in page order.

    Targets are in fetch form; links to the page itself are skipped. Repeated targets join their different
    anchors and keep the first context.
    """
    own = normalize(page.url)
    found: dict[str, LinkContext] = {}
    for link in page.links:
        url = normalize(link.url)
        if url is None or url == own:
            continue
        before = found.get(url)
        if before is None:
            found[url] = _context(link, url, page.url)
        elif link.anchor and link.anchor not in before.anchor:
            joined = f"{before.anchor} {link.anchor}".strip()[:_MAX_ANCHOR_CHARS]
            found[url] = replace(before, anchor=joined)
    return list(found.values())


def _context(link: Link, url: str, parent: str) -> LinkContext:
    return LinkContext(
        url=url,
        anchor=link.anchor[:_MAX_ANCHOR_CHARS],
        around=link.context,
        heading=link.heading,
        tag_path=link.tag_path,
        parent_url=parent,
    )

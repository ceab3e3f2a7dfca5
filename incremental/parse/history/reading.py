"""From a page's HTML to what the store keeps of its text."""

from __future__ import annotations

from incremental.parse import Page, PageKind
from incremental.parse.main_text import main_text
from store.values import ReadText


def read_text(page: Page, html: str, digest: str) -> ReadText:
    """Return the text of a page parsed from *html* (MD5 *digest*); only the title if it is not HTML."""
    text = main_text(html, page.url) if page.kind is PageKind.HTML else ""
    return ReadText(title=page.title, text=text, md5=digest, language=page.language)


def whole(title: str, text: str) -> str:
    """Return title and text for comparison: the title is the first line, once."""
    first, _, _ = text.partition("\n")
    return text if not title or first.strip() == title.strip() else f"{title}\n{text}"

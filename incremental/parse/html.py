"""HTML pages, however broken, to a :class:`~incremental.parse.page.Page`.

Uses lxml's events without a tree; see :mod:`incremental.parse.collector`.
"""

import re
from collections.abc import Iterable
from itertools import chain
from typing import Any

from lxml import etree

from incremental.base.urls import host_of
from incremental.parse.collector import Collector
from incremental.parse.head import Head
from incremental.parse.metadata import publication_date
from incremental.parse.page import LimitReachedError, Link, Page, PageKind, ParseLimits
from incremental.parse.prose import Prose
from incremental.parse.references import Resolver
from incremental.parse.text import fold, language_code

_MAX_WORDS_CHARS = 30
# Sites use look-alike characters for these.
_DECORATION = re.compile(r"[\s<>«»‹›←→↓⟩⟨\[\]()（）【】.…:：|·-]+")
# Compared without spaces. "Next article" (次の記事) stands on articles, not lists.
_WORDS = re.compile(
    r"""
    next (?:page|posts|entries|results)? | gotonextpage | moreposts
    | older (?:posts?|entries|articles|news)? | previous (?:posts|entries)
    | [下后後] 一? [页頁] | [较更]早的?文章 | 旧文章 | 次へ | 次のページ | 다음 (?:페이지)?
    | (?:page)? suivante? | articlesplusanciens | (?:página)? siguiente | entradasantiguas
    | (?:página)? (?:próxima|próximo|seguinte) | (?:pagina)? (?:seguente|successiva)
    | nächste (?:seite)? | weiter | ältere (?:beiträge)? | volgende (?:pagina)?
    | oudere? (?:berichten|artikelen)?
    | nästa (?:sida)? | neste (?:side)? | næste (?:side)? | seuraava | następna (?:strona)?
    | další | sonraki | далее | след(?:ующая (?:страница)?)?
    | впер[её]д
    """,
    re.IGNORECASE | re.VERBOSE,
)
# In order of trust: a double arrow is often the last page.
_ARROWS = ("›", "→", "»", ">", ">>")
_PAGING_PATH = re.compile(r"pag(?:e|ing|in)|\bnav|next", re.IGNORECASE)
_PAGING_CONTEXT = re.compile(r"(?<!\d)\d{1,4}(?!\d)")
_NEXT_CLASSES = frozenset({"next", "next-page", "nextpage", "pagination-next", "older-posts"})


def next_page(page_url: str, links: Iterable[Link], declared: str | None = None) -> str | None:
    """Return the URL of the next page, or None.

    *declared*: the absolute target of a link element. Only pages of the same host count. On an article the
    result may be the neighbouring article; only on a list it means "older".
    """
    here = _without_fragment(page_url)
    if declared is not None and _is_other_page(declared, here):
        return declared
    best: tuple[int, str] | None = None
    for link in links:
        rank = _rank(link)
        if rank is not None and (best is None or rank < best[0]) and _is_other_page(link.url, here):
            best = rank, link.url
    return best[1] if best else None


def _rank(link: Link) -> int | None:
    """Return a rank of trust in the link as "next", 0 = most; None = not one."""
    if "next" in link.rel:
        return 0
    anchor = link.anchor
    if len(anchor) > _MAX_WORDS_CHARS:
        return None
    if anchor in _ARROWS:
        paging = _PAGING_PATH.search(link.tag_path) or _PAGING_CONTEXT.search(link.context)
        return 3 + _ARROWS.index(anchor) if paging else None
    if _WORDS.fullmatch(_DECORATION.sub("", anchor)):
        return 1
    if _NEXT_CLASSES.intersection(link.tag_path.rpartition("/")[2].lower().split(".")[1:]):
        return 2
    return None


def _is_other_page(url: str, here: str) -> bool:
    same_host = host_of(url).removeprefix("www.") == host_of(here).removeprefix("www.")
    return same_host and _without_fragment(url) != here


def _without_fragment(url: str) -> str:
    return url.partition("#")[0]


_CHUNK_BYTES = 65_536


def parse_html(
    text: str,
    url: str,
    *,
    charset: str = "utf-8",
    want_text: bool = False,
    limits: ParseLimits,
) -> Page:
    """Parse a page; never raises because of its content.

    *charset* encodes the queries of links. Date and text only with *want_text*.
    """
    collector, truncated = _collect(
        text, Prose(limits.max_text_chars) if want_text else None, limits
    )
    head = collector.head
    base = Resolver(url).resolve(head.base) or url
    resolver = Resolver(base, max_chars=limits.max_url_chars, charset=charset)
    links = _links(collector, resolver)
    refresh = head.refresh or (None if links else head.noscript_refresh)
    prose = collector.prose
    canonical = resolver.resolve(head.links.get("canonical"))
    icons = (*head.icons, head.links.get("apple-touch-icon"))
    return Page(
        url=url,
        kind=PageKind.HTML,
        title=head.own_title(),
        canonical_url=canonical,
        language=_language(head),
        published_at=publication_date(head, prose, canonical or url, text) if prose else None,
        text=prose.text() if prose else "",
        links=links,
        feed_urls=tuple(dict.fromkeys(filter(None, map(resolver.resolve, head.feeds)))),
        icon_urls=tuple(dict.fromkeys(filter(None, map(resolver.resolve, icons)))),
        next_url=next_page(url, links, resolver.resolve(head.links.get("next"))),
        refresh_url=_other(url, resolver.resolve(refresh)),
        truncated=truncated,
        headings=tuple(collector.headings) if prose else (),
        description=_description(head) if prose else "",
    )


def _collect(text: str, prose: Prose | None, limits: ParseLimits) -> tuple[Collector, bool]:
    """Stream the page through libxml2; True = a limit ended it."""
    collector = Collector(limits, prose)
    # Our encoding overrides any meta element; lone surrogates become question marks.
    factory: Any = etree.HTMLParser
    parser = factory(target=collector, encoding="utf-8", huge_tree=False)
    body = text.encode("utf-8", "replace")
    truncated = len(body) > limits.max_bytes
    work = 0
    try:
        for start in range(0, min(len(body), limits.max_bytes), _CHUNK_BYTES):
            chunk = body[start : min(start + _CHUNK_BYTES, limits.max_bytes)]
            parser.feed(chunk)
            work += chunk.count(b"</") * collector.max_depth
            if work > limits.max_nesting_work:
                truncated = True
                break
        parser.close()
    except etree.XMLSyntaxError:
        # "no element found": an empty document, such as one of escape sequences only.
        collector.close()
    except LimitReachedError:
        truncated = True
        collector.close()
    return collector, truncated


def _links(collector: Collector, resolver: Resolver) -> tuple[Link, ...]:
    found = ((resolver.resolve(raw.reference), raw) for raw in collector.links)
    kept = ((target, raw) for target, raw in found if target is not None)
    return tuple(
        Link(
            url=target,
            anchor=raw.anchor,
            context=raw.context,
            tag_path=raw.path,
            heading=raw.heading,
            rel=raw.rel,
        )
        for target, raw in kept
    )


def _language(head: Head) -> str | None:
    declared = (head.meta.get(name, "") for name in ("content-language", "language", "og:locale"))
    codes = map(language_code, chain([head.language], declared))
    return next((code for code in codes if code is not None), None)


def _description(head: Head) -> str:
    declared = map(head.meta.get, ("description", "og:description", "keywords"))
    # Most pages repeat one sentence in both.
    return " ".join(dict.fromkeys(fold(text) for text in declared if text))


def _other(url: str, target: str | None) -> str | None:
    if target is None or target.partition("#")[0] == url.partition("#")[0]:
        return None
    return target

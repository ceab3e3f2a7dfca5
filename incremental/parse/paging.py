"""The link from a list to its next, older page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from incremental.parse.page import Link

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
    return _without_fragment(url) != here and _host(url) == _host(here)


def _without_fragment(url: str) -> str:
    return url.partition("#")[0]


def _host(url: str) -> str:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    return host.removeprefix("www.")

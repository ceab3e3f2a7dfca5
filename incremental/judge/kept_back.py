"""Why a page that turned up is not announced: a rule with a name, kept with the page. Pure."""

from __future__ import annotations

import re
from enum import StrEnum
from urllib.parse import unquote, urlsplit


class KeptBack(StrEnum):
    """The rule by which a page that turned up is not announced."""

    NOT_THERE = "not there"
    NOT_YET_THERE = "not there yet"
    HOME_INSTEAD = "home page instead"
    SAYS_NOT_THERE = "says that it is not there"
    ERROR_PAGE = "error page"
    COURTESY_PAGE = "page of thanks or donations"
    LIST_PAGE = "list of a tag, a category or an author"
    SAME_PAGE = "another address of a known page"


# Directly below the root, or below a folder of one language: ``/404.html``, ``/de/404/``. Deeper down,
# ``/news/404.html`` is the 404th article of many a content management system.
_PLACE = r"^(?:/[a-z]{2}(?:[-_][a-z]{2,4})?)?/"
_END = r"(?:\.\w{2,5})?/?$"
_ERROR_PAGE = re.compile(
    rf"{_PLACE}(?:errors?/)?(?:40[0-9]|410|50[0-9]|(?:page[-_]?)?not[-_]?found|error(?:[-_]?page)?){_END}",
    re.IGNORECASE,
)
_COURTESY_PAGE = re.compile(
    rf"{_PLACE}(?:thanks|thank[-_]?you|danke|merci|gracias|grazie|bedankt|obrigad[oa]"
    rf"|donate|donations?|spenden?|faire[-_]un[-_]don|donar|doneren|subscribed|unsubscribed?"
    rf"|感谢|致谢|捐赠|捐款|赞助|打赏){_END}",
    re.IGNORECASE,
)
# ``/archives/17`` and ``/topic/17`` are articles of weblogs and forums.
_LIST_PAGE = re.compile(r"/(?:tags?|categor(?:y|ies)|authors?)/[^/]+/?$", re.IGNORECASE)
"""A recorded weblog began to link its authors' pages, which had been there for years."""
_ERROR_WORDS = re.compile(
    r"\b(?:40[0-9]|410|50[0-9]|error|not found|oops|sorry)\b|fehler|erreur|错误|錯誤|找不到|不存在|未找到",
    re.IGNORECASE,
)


def may_be_furniture(url: str) -> bool:
    """Tell whether an address looks like a part of a site's furniture: it is read before it is announced.

    Error pages, and the pages to which a form or a donation leads, stand in sitemaps and footers.
    """
    path = unquote(urlsplit(url).path)
    return any(one.search(path) for one in (_ERROR_PAGE, _COURTESY_PAGE, _LIST_PAGE))


def furniture(url: str, title: str) -> KeptBack | None:
    """Return why a page that was read is furniture and no page to announce; None = it is none.

    An error page says so in its title: ``/405/`` is a comic strip as well.
    """
    path = unquote(urlsplit(url).path)
    if _ERROR_PAGE.search(path) and (not title or _ERROR_WORDS.search(title)):
        return KeptBack.ERROR_PAGE
    if _COURTESY_PAGE.search(path):
        return KeptBack.COURTESY_PAGE
    return KeptBack.LIST_PAGE if _LIST_PAGE.search(path) else None

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
    SAME_PAGE = "another address of a known page"


_ERROR_PAGE = re.compile(
    r"/(?:(?:40[0-9]|50[0-9])|(?:page[-_]?)?not[-_]?found|errors?(?:[-_]?(?:page|40[0-9]|50[0-9]))?)"
    r"(?:\.\w{2,5})?/?$",
    re.IGNORECASE,
)
_COURTESY_PAGE = re.compile(
    r"/(?:thanks?(?:[-_]?you)?|thank[-_]you[-_][\w-]*|danke(?:schoen)?|merci|gracias|grazie|bedankt|obrigad[oa]"
    r"|donat(?:e|ions?)|spenden?|faire[-_]un[-_]don|donar|doneren|support[-_]us|subscribed|unsubscribed?"
    r"|(?:subscription[-_])?confirmed|感谢|致谢|捐赠|捐款|赞助|打赏)(?:\.\w{2,5})?/?$",
    re.IGNORECASE,
)
"""Only the last part of a path counts: ``/thanks/`` is a page that a form leads to, while an article
under ``/donate/2026/`` is one."""


def furniture(url: str) -> KeptBack | None:
    """Return why an address is part of a site's furniture and no page to announce; None = it is none.

    Error pages, and the pages to which a form or a donation leads, stand in sitemaps and footers.
    """
    path = unquote(urlsplit(url).path)
    if _ERROR_PAGE.search(path):
        return KeptBack.ERROR_PAGE
    return KeptBack.COURTESY_PAGE if _COURTESY_PAGE.search(path) else None

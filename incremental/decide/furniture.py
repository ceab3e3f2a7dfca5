"""Furniture: pages for errors, thanks and tag lists, which are no news. Pure."""

import re
from urllib.parse import unquote, urlsplit

from store.rules import Rule

# Only below the root or a language folder (``/404.html``, ``/de/404/``): deeper down,
# ``/news/404.html`` may be a system's 404th article.
_PLACE = r"^(?:/[a-z]{2}(?:[-_][a-z]{2,4})?)?/"
_END = r"(?:\.\w{2,5})?/?$"
_ERROR_PAGE = re.compile(
    rf"{_PLACE}(?:errors?/)?(?:40[0-9]|410|50[0-9]|(?:page[-_]?)?not[-_]?found|error(?:[-_]?page)?){_END}",
    re.IGNORECASE,
)
_ERROR_FILE = re.compile(rf"{_PLACE}404\.html?$", re.IGNORECASE)
_COURTESY_PAGE = re.compile(
    rf"{_PLACE}(?:thanks|thank[-_]?you|danke|merci|gracias|grazie|bedankt|obrigad[oa]"
    rf"|donate|donations?|spenden?|faire[-_]un[-_]don|donar|doneren|subscribed|unsubscribed?"
    rf"|感谢|致谢|捐赠|捐款|赞助|打赏){_END}",
    re.IGNORECASE,
)
# Not ``/archives/17`` and ``/topic/17``, which are articles of weblogs and forums. Authors, because a
# recorded weblog began to link to its authors' pages, which had existed for years. Categories nest; what has
# more than two words below one may be an article.
_OF_LISTS = r"(?:tags?|categor(?:y|ies)|keywords?|authors?)"
_LIST_PAGE = re.compile(
    rf"/{_OF_LISTS}/[^/]+/?$|/categories/(?:[^/]+/){{1,3}}[^/-]+(?:-[^/-]+)?/$|{_PLACE}{_OF_LISTS}{_END}",
    re.IGNORECASE,
)
_ERROR_WORDS = re.compile(
    r"\b(?:40[0-9]|410|50[0-9]|error|not found|oops|sorry)\b|fehler|erreur|错误|錯誤|找不到|不存在|未找到",
    re.IGNORECASE,
)


def may_be_furniture(url: str) -> bool:
    """Whether a URL looks like furniture, so that the page is verified before it is announced."""
    path = unquote(urlsplit(url).path)
    # Sitemaps and footers list error pages and the pages behind forms and donations.
    return any(one.search(path) for one in (_ERROR_PAGE, _COURTESY_PAGE))


def is_list_address(url: str) -> bool:
    """Whether a URL names a list of tags, categories or authors, or the list for one of them."""
    return bool(_LIST_PAGE.search(unquote(urlsplit(url).path)))


def furniture(url: str, title: str) -> Rule | None:
    """Return the rule by which a fetched page is furniture; None = it is not."""
    path = unquote(urlsplit(url).path)
    # An error page must say so in its title, for /405/ is also a comic strip; but for the file that servers
    # of static sites answer with.
    if _ERROR_FILE.search(path) or (
        _ERROR_PAGE.search(path) and (not title or _ERROR_WORDS.search(title))
    ):
        return Rule.ERROR_PAGE
    if _COURTESY_PAGE.search(path):
        return Rule.COURTESY_PAGE
    return Rule.LIST_PAGE if _LIST_PAGE.search(path) else None


# "404" and "not found" count only at the start or end of a title, or next to a word for errors: flight
# 404 and a ship not found are news.
_ERROR_TITLE = re.compile(
    r"""^\W*404(?!\d)(?=\W*$|\s*[-\u2013\u2014|:,.!·_]|\s*(?:error|not\ found|page))
    |^\W*404\s*(?:页|頁|错误|錯誤|找不到|未找到)
    |[-\u2013\u2014|:·_]\s*(?:404|not\ found)\W*$|^\W*not\ found(?:\W*$|\s*[-\u2013\u2014|:·_])
    |(?:error|fehler|erreur|错误|錯誤|http)\s*404(?!\d)
    |\b(?:page\ not\ found|seite\ nicht\ gefunden|page\ introuvable|page\ non\ trouvée)\b
    |(?:页面|頁面|网页|網頁)(?:不存在|未找到|找不到|已删除|已刪除)|(?:找不到|未找到|無法找到|无法找到)(?:该|該|此)?(?:页|頁|网页|網頁)
    |您(?:所)?(?:访问|訪問|要找|查找)的(?:页面|頁面|网页|網頁)""",
    re.IGNORECASE | re.VERBOSE,
)
# An article about error pages is longer.
_SHORT_TEXT = 600


def is_soft_404(title: str, text: str) -> bool:
    """Whether a page answered with 200 says in its title that it does not exist, and is short."""
    return bool(_ERROR_TITLE.search(title)) and len(text) < _SHORT_TEXT

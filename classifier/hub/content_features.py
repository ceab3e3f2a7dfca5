"""Dense features of a page's content that carry over to other sites.

Three kinds: how text and links share the page (paper 003's content rivals), the shape of its link
groups, metadata and common class names.
"""

import re
from collections import Counter
from math import log1p
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from classifier.hub.page_text import PageCounts, fold_space, parse_page, read_text

_TEXT = (
    "characters plain_characters link_characters link_share punctuation punctuation_density"
    " plain_per_link paragraph_longest paragraphs_long paragraph_sum paragraph_share"
    " paragraph_top_three dates"
)
_LINKS = (
    "links link_median long_links long_link_share groups group_links group_largest"
    " group_characters group_character_share heading_links heading_link_share paging_links"
)
_TAGS = (
    "headings articles one_article many_articles times one_time images items forms inputs"
    " comment_field tables"
)
_HEAD = (
    "h1_count h1_length h1_is_link title_length title_repeats_h1 og_article og_website og_other"
    " published author section_named description_length data_article data_collection data_types"
    " breadcrumb item_article rel_next rel_prev alternates amp short_link canonical"
)
_CLASSES = (
    "class_comment class_share class_related class_byline class_posts class_entry class_paging"
    " class_read_more body_single body_list"
)
# None uses the URL, so that the cascade gets independent evidence.
CONTENT_FEATURE_NAMES: Final = tuple(f"{_TEXT} {_LINKS} {_TAGS} {_HEAD} {_CLASSES}".split())


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PAGING = re.compile(
    r"(?:[0-9«»‹›<>]{1,4}|next.{0,8}|older.{0,8}|previous.{0,8}|prev|more.{0,10}|load more"
    r"|下一页|上一页|尾页|首页|末页|更多.*|weiter|suivante?|siguiente)",
    re.IGNORECASE,
)
_PUBLISHED = _names(
    "article:published_time article:modified_time datepublished publishdate pubdate date "
    "dc.date dc.date.issued parsely-pub-date sailthru.date og:updated_time"
)
_DATA_TYPE = re.compile(r'"@type"\s*+:\s*+(?:\[\s*+)?"(\w{1,40})"')
_ARTICLE_TYPES = _names(
    "Article NewsArticle BlogPosting Product Recipe TechArticle ReportageNewsArticle "
    "ScholarlyArticle VideoObject Review"
)
_COLLECTION_TYPES = frozenset(
    ["CollectionPage", "ItemList", "WebSite", "SearchAction", "Blog", "ListItem", "Organization"]
)
_ENTRY_CLASSES = _names(
    "entry-content article-body post-content article-content story-body articlebody"
)
_PAGING_CLASSES = frozenset(["pager", "next", "nav-links", "page-numbers"])

# Anchors this long look like headlines.
_LONG_LINK = 20
_LONG_PARAGRAPH = 80
# A group of at least this many links at one place is a list. A list of headlines is one large group of
# long anchors; a menu is one of short ones.
_GROUP = 4
# Lists with at least this mean anchor length consist of headlines rather than menu entries.
_GROUP_MEAN = 15


def describe_page(
    page: str | bytes | Any,  # noqa: ANN401 - an lxml tree has no useful type
    encoding: str | None = None,
) -> NDArray[np.float64]:
    """Features of a page (text, bytes or an lxml tree); all 0 for an empty page."""
    tree = parse_page(page, encoding) if isinstance(page, str | bytes) else page
    if tree is None:
        return np.zeros(len(CONTENT_FEATURE_NAMES))
    body = tree.find("body")
    body = tree if body is None else body
    text = read_text(body)
    row = _text_features(text) + _link_features(text, body) + _tag_features(text.tags)
    row += _head_features(tree, text)
    row += _class_features(
        text.class_names, f"{body.get('class', '')} {body.get('id', '')}".lower()
    )
    return np.array(row, dtype=np.float64)


def _text_features(text: PageCounts) -> list[float]:
    plain = text.characters - text.link_characters
    paragraphs = sorted(text.paragraphs, reverse=True)
    long = [size for size in paragraphs if size > _LONG_PARAGRAPH]
    return [
        log1p(text.characters),
        log1p(plain),
        log1p(text.link_characters),
        text.link_characters / (text.characters + 1),
        log1p(text.punctuation),
        text.punctuation / (plain + 1),
        log1p(plain / (len(text.links) + 1)),
        log1p(paragraphs[0] if paragraphs else 0),
        log1p(len(long)),
        log1p(sum(paragraphs)),
        sum(long) / (text.characters + 1),
        log1p(sum(paragraphs[:3])),
        log1p(text.dates),
    ]


def _link_features(text: PageCounts, body: Any) -> list[float]:  # noqa: ANN401 - an lxml element
    sizes = sorted(text.links)
    count = len(sizes)
    long = sum(size >= _LONG_LINK for size in sizes)
    lists = [group for group in text.groups.values() if len(group) >= _GROUP]
    headlines = [group for group in lists if sum(group) >= _GROUP_MEAN * len(group)]
    characters = sum(map(sum, headlines))
    headings = sum(text.tags[tag] for tag in ("h1", "h2", "h3", "h4"))
    return [
        log1p(count),
        float(min(sizes[count // 2], 200)) if count else 0.0,
        log1p(long),
        long / (count + 1),
        log1p(len(lists)),
        log1p(sum(map(len, headlines))),
        log1p(max(map(len, headlines), default=0)),
        log1p(characters),
        characters / (text.characters + 1),
        log1p(text.heading_links),
        text.heading_links / (headings + 1),
        log1p(_count_paging(body)),
    ]


def _count_paging(body: Any) -> int:  # noqa: ANN401 - an lxml element
    count = 0
    for link in body.iter("a"):
        label = fold_space("".join(link.itertext())[:60]) if len(link) <= 3 else ""  # noqa: PLR2004
        count += len(label) < _LONG_LINK and _PAGING.fullmatch(label) is not None
    return count


def _tag_features(tags: Counter[str]) -> list[float]:
    return [
        log1p(sum(tags[tag] for tag in ("h1", "h2", "h3", "h4"))),
        log1p(tags["article"]),
        float(tags["article"] == 1),
        float(tags["article"] > 2),  # noqa: PLR2004 - more than an article and its teaser
        log1p(tags["time"]),
        float(tags["time"] == 1),
        log1p(tags["img"]),
        log1p(tags["li"]),
        log1p(tags["form"]),
        log1p(tags["input"]),
        float(tags["textarea"] > 0),
        log1p(tags["table"]),
    ]


def _head_features(tree: Any, text: PageCounts) -> list[float]:  # noqa: ANN401 - an lxml tree
    headings = list(tree.iter("h1"))[:20]
    first = fold_space(headings[0].text_content()[:1000]) if headings else ""
    title = fold_space("".join(tree.xpath("//title//text()")[:3])[:1000])
    meta = _meta_of(tree)
    og_type = meta.get("og:type", "").lower()
    row = [
        float(min(len(headings), 4)),
        log1p(len(first)),
        float(any(heading.find(".//a") is not None for heading in headings)),
        log1p(len(title)),
        float(len(first) > 8 and first[:30].lower() in title.lower()),  # noqa: PLR2004
        float("article" in og_type),
        float(og_type in {"website", "blog"}),
        float(og_type not in {"", "website", "blog"} and "article" not in og_type),
        float(not _PUBLISHED.isdisjoint(meta)),
        float(any("author" in key for key in meta)),
        float(not {"article:section", "article:tag", "news_keywords"}.isdisjoint(meta)),
        log1p(len(meta.get("description", ""))),
    ]
    return row + _data_features(tree, text.class_names) + _relation_features(tree)


def _meta_of(tree: Any) -> dict[str, str]:  # noqa: ANN401 - an lxml tree
    meta: dict[str, str] = {}
    for element in tree.iter("meta"):
        key = element.get("property") or element.get("name") or element.get("itemprop") or ""
        if key and len(meta) < 300:  # noqa: PLR2004 - hostile pages
            meta.setdefault(key.lower(), (element.get("content") or "")[:200])
    return meta


def _data_features(tree: Any, classes: Counter[str]) -> list[float]:  # noqa: ANN401 - an lxml tree
    scripts = [
        (script.text or "")[:20_000]
        for script in tree.iter("script")
        if "ld+json" in (script.get("type") or "")
    ][:20]
    types = Counter(_DATA_TYPE.findall(" ".join(scripts)))
    items = [
        (element.get("itemtype") or "").rsplit("/", 1)[-1].lower()
        for element in tree.xpath("//*[@itemtype]")[:500]
    ]
    crumbs = "BreadcrumbList" in types or "breadcrumblist" in items
    return [
        log1p(sum(types[name] for name in _ARTICLE_TYPES)),
        log1p(sum(types[name] for name in _COLLECTION_TYPES)),
        log1p(sum(types.values())),
        float(crumbs or any("breadcrumb" in name for name in classes)),
        log1p(sum("article" in i or "posting" in i or i in {"product", "recipe"} for i in items)),
    ]


def _relation_features(tree: Any) -> list[float]:  # noqa: ANN401 - an lxml tree
    relations = [(link.get("rel") or "").lower() for link in tree.iter("link")]
    return [
        float(any("next" in relation for relation in relations)),
        float(any("prev" in relation for relation in relations)),
        log1p(relations.count("alternate")),
        float("amphtml" in relations),
        float("shortlink" in relations),
        float("canonical" in relations),
    ]


def _class_features(classes: Counter[str], body_names: str) -> list[float]:
    def any_holds(*pieces: str) -> float:
        return float(any(piece in name for name in classes for piece in pieces))

    return [
        any_holds("comment"),
        any_holds("share", "social"),
        any_holds("related"),
        float(any_holds("byline") > 0 or classes["author"] > 0),
        log1p(classes["hentry"] + classes["post"] + classes["type-post"]),
        float(not _ENTRY_CLASSES.isdisjoint(classes)),
        float(any_holds("paginat", "pagenav") > 0 or not _PAGING_CLASSES.isdisjoint(classes)),
        log1p(classes["more-link"] + classes["read-more"] + classes["readmore"]),
        float(any(piece in body_names for piece in ("single", "article", "post"))),
        float(any(p in body_names for p in ("home", "index", "archive", "categor", "front"))),
    ]

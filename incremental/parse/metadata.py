"""When a page says it was published."""

from __future__ import annotations

import json
import re
from itertools import chain
from typing import TYPE_CHECKING, Any

from incremental.parse.dates import date_in_url, find_date, parse_date

if TYPE_CHECKING:
    from collections.abc import Iterable

    from incremental.parse.head import Head
    from incremental.parse.prose import Prose

# The most exact first; PubDate is what Chinese government sites must carry.
_META_NAMES = (
    "article:published_time",
    "og:article:published_time",
    "og:published_time",
    "datepublished",
    "pubdate",
    "publishdate",
    "publish_date",
    "publish-date",
    "publication_date",
    "citation_publication_date",
    "dc.date.issued",
    "dcterms.issued",
    "dcterms.created",
    "dc.date",
    "sailthru.date",
    "parsely-pub-date",
    "weibo:article:create_at",
    "date",
)
_TIME_MARKS = ("datepublished", "pubdate", "published", "entry-date", "post-date", "dt-published")
_LABEL = re.compile(
    r"(?:发布|发表|发稿|更新|刊登)(?:时间|日期)|(?:時間|日期|时间)(?=\s*[:：])"
    r"|\b(?:published|posted|veröffentlicht|publié|publicado|pubblicato)\b",
    re.IGNORECASE,
)
_MAX_DATE_CHARS = 40
_MAX_UNMARKED = 5
_MAX_NODES = 5_000


def publication_date(head: Head, prose: Prose, url: str) -> float | None:
    """Return unix seconds, or None.

    In the order of trust: meta elements, JSON-LD, marked time elements, the URL, what the page
    shows its readers. The library htmldate finds a date on a few more pages (93 to 87 of 100),
    but days only, and it asks the clock what lies in the future.
    """
    told = [head.meta[name] for name in _META_NAMES if name in head.meta]
    told += _json_ld_dates(prose.structured_data)
    told += [value for mark, value in head.times if any(word in mark for word in _TIME_MARKS)]
    dates = (parse_date(value) for value in told)
    best = next((date for date in dates if date is not None), None)
    if best is None:
        best = date_in_url(url)
    return best if best is not None else _shown_date(head, prose)


def _shown_date(head: Head, prose: Prose) -> float | None:
    told = (parse_date(moment) for _, moment in head.times[:_MAX_UNMARKED])
    text = prose.text()
    labelled = (
        find_date(text[label.end() : label.end() + _MAX_DATE_CHARS])
        for label in _LABEL.finditer(text)
    )
    dates = chain(told, labelled, map(find_date, prose.bylines))
    return next((date for date in dates if date is not None), None)


def _json_ld_dates(scripts: Iterable[str]) -> list[str]:
    """Return the datePublished of all objects, outer ones first."""
    dates: list[str] = []
    for script in scripts:
        if "datePublished" not in script:
            continue
        try:
            waiting: list[Any] = [json.loads(script, strict=False)]
        except (ValueError, RecursionError):
            continue
        for node in waiting:
            if isinstance(node, dict):
                if isinstance(node.get("datePublished"), str):
                    dates.append(node["datePublished"])
                children = list(node.values())
            else:
                children = node
            if len(waiting) < _MAX_NODES:
                waiting += [child for child in children if isinstance(child, dict | list)]
    return dates

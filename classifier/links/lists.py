"""Predicts which links lead to lists, such as pages of a tag or a month, or "page 2".

::

    list(page)   = share of its text that is anchors: 0 up to ARTICLE, 1 from LIST
    is_list(t)   = mean list() of the fetched pages
                     in the folder of t, with a URL of its form, and that links in its place led to,
                   each a group; drawn to the mean of all by PRIOR pages

The three groups count together, ten pages of each at most.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Self
from urllib.parse import urlsplit

from classifier.links.places import key_of, places_of
from classifier.words.errors import reading
from classifier.words.latest import Latest
from classifier.words.text import anchor_share
from classifier.words.values import LinkContext, PageText

# Median shares of four Chinese blogs: .38 to .52 of pages without a label, mostly lists, .06 to .17 of
# labelled articles; of the encyclopedia 99 pages in 100 have less than .1. Where each page has the whole
# menu of its site, articles count as lists too, and unpromising links are then taken by age.
ARTICLE: Final = 0.2
LIST: Final = 0.35
PRIOR: Final = 3.0
# Further members of a group add no information.
_GROUP_AT_MOST: Final = 10.0
_MAX_GROUPS: Final = 5_000
_DIGITS: Final = re.compile(r"\d+")


class LinkLists:
    """For one topic; not thread-safe."""

    def __init__(self) -> None:
        # Sum of list() over the fetched pages, and their number: of all, and of each group.
        self._all = (0.0, 0)
        self._groups: Latest[int, tuple[float, int]] = Latest(_MAX_GROUPS)

    def learn(self, page: PageText, led_here: Sequence[LinkContext]) -> None:
        """Learn from a fetched page and the links to it."""
        value = _scaled(anchor_share(page))
        self._all = self._all[0] + value, self._all[1] + 1
        places = {group for link in led_here for group in _groups_of_place(link)}
        for group in (*_groups_of_url(page.url), *places):
            total, count = self._groups.get(group, (0.0, 0))
            self._groups[group] = total + value, count + 1

    def expected(self, link: LinkContext) -> float:
        """Return the probability that the link leads to a list, 0 to 1."""
        total, count = self._all
        if not total:
            return 0.0
        total, weight = PRIOR * total / count, PRIOR
        for group in (*_groups_of_url(link.url), *_groups_of_place(link)):
            of_group, count = self._groups.get(group, (0.0, 0))
            damped = min(1.0, _GROUP_AT_MOST / max(count, 1))
            total += of_group * damped
            weight += count * damped
        return total / weight

    def to_json(self) -> dict[str, Any]:
        """Return plain data; places are stored as hashes."""
        groups = [[key, round(total, 4), count] for key, (total, count) in self._groups.items()]
        return {"all": list(self._all), "groups": groups}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read the form of :meth:`to_json`; raises TopicModelError."""
        read = cls()
        with reading("link lists"):
            total, count = data["all"]
            read._all = float(total), int(count)
            for key, of_group, members in data["groups"]:
                read._groups[int(key)] = float(of_group), int(members)
        return read


def _scaled(share: float) -> float:
    return min(max((share - ARTICLE) / (LIST - ARTICLE), 0.0), 1.0)


@lru_cache(maxsize=16_384)
def _groups_of_url(url: str) -> tuple[int, ...]:
    """Return the innermost folder of a URL, and its form if that has a number."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ()
    folder = places_of(url)[-1:]
    form, numbers = _DIGITS.subn("0", f"{parts.netloc}{parts.path}?{parts.query}")
    # Without a number it is the page itself.
    return (*folder, key_of(f"form {form}")) if numbers else folder


def _groups_of_place(link: LinkContext) -> tuple[int, ...]:
    """Return the place of a link on its page, by site and tag path; () if it is unknown."""
    return (_place(link.parent_url, link.tag_path),) if link.tag_path else ()


@lru_cache(maxsize=4_096)
def _place(parent_url: str, tag_path: str) -> int:
    return key_of(f"place {places_of(parent_url)[:1]} {_DIGITS.sub('0', tag_path)}")

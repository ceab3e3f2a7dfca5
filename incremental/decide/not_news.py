"""What users said is not news, and what it says of like pages. Pure.

::

    a page -> its aspects: form of address, list that first showed it, rule that announced it
    a user's "not news" -> the first aspect that stands for such pages is withheld from now on
    the pages to ask a user about -> of each form one, those first whose answer would teach most

A page that somebody looked at without objecting is news. One that nobody looked at need not be: it counts an
eighth of an objection. Where most of a site's pages share an aspect it counts in full, because to withhold
news is worse than to announce too much; of fewer than three pages nothing is learned. An objection that
withholds nothing counts for the page alone, and together with the next ones.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import urlsplit

import msgspec

from incremental.decide.address_forms import form_of
from store.rules import Rule

_SILENT: Final = 1 / 8
# Announced pages of a site, before anything is withheld.
FEWEST: Final = 3
# Weight of what is expected before any answer, against one answer.
_PRIOR: Final = 0.1
KINDS: Final = ("form", "shown_by", "rule")


@dataclass(frozen=True, slots=True)
class Aspects:
    """Where a page came from."""

    form: str
    """Of its address."""
    shown_by: str
    """URL of the hub that first showed it; empty = unknown."""
    rule: str
    """The rule that announced it; empty = unknown."""

    @classmethod
    def of(cls, url: str, shown_by: str | None, rule: str | None) -> Self:
        """Return the aspects of a page."""
        return cls(form_of(url), shown_by or "", rule or "")


@dataclass(frozen=True, slots=True)
class Objection:
    """A user's "not news" about one page."""

    url: str
    page: Aspects
    at: float
    """Unix seconds, UTC."""
    withholds: str = ""
    """The aspect, of :data:`KINDS`, that is withheld because of it; empty = only counted."""


@dataclass(frozen=True, slots=True)
class Announced:
    """An announced page, and whether a user has looked at it."""

    url: str
    aspects: Aspects
    seen: bool


def read_objections(text: str) -> list[Objection]:
    """Return a site's objections from its row, earliest first."""
    return msgspec.json.decode(text, type=list[Objection])


def objections_text(objections: Sequence[Objection]) -> str:
    """Return objections for the row of their site."""
    return msgspec.json.encode(objections).decode()


def objection(
    url: str, page: Aspects, announced: Iterable[Announced], said: Iterable[Objection], now: float
) -> Objection:
    """Return the objection to a page, with the aspect that it withholds.

    *announced*: the pages that the site announced lately. *said*: earlier objections to others of them.
    """
    votes = _votes(url, page, announced, said)
    withholds = next((kind for kind, (against, news, _) in votes.items() if against >= news), "")
    return Objection(url, page, now, withholds)


def still_needed(
    url: str, page: Aspects, announced: Iterable[Announced], said: Iterable[Objection]
) -> int:
    """Return how many like pages must be objected to as well, as :func:`objection` would count them.

    Of pages that nobody looked at; 0 = the site announced too few pages.
    """
    votes = _votes(url, page, announced, said).values()
    more = (math.ceil((news - against) / (1 + silent)) for against, news, silent in votes)
    return min(more, default=0)


def _votes(
    url: str, page: Aspects, announced: Iterable[Announced], said: Iterable[Objection]
) -> dict[str, tuple[int, float, float]]:
    """Return by aspect: objections, the weight of like pages without one, and that of one never looked at."""
    said = list(said)
    refused = {url, *(one.url for one in said)}
    # The page itself may be older than those.
    others = [one for one in announced if one.url != url]
    votes = {}
    for kind in KINDS if len(others) + 1 >= FEWEST else ():
        value = getattr(page, kind)
        like = [one for one in others if getattr(one.aspects, kind) == value]
        against = 1 + sum(getattr(one.page, kind) == value for one in said)
        kept = [one for one in like if one.url not in refused]
        silent = 1.0 if 2 * (len(like) + 1) > len(others) + 1 else _SILENT
        if value:
            votes[kind] = against, sum(1.0 if one.seen else silent for one in kept), silent
    return votes


def worth_asking(announced: Iterable[Announced], said: Sequence[Objection]) -> list[str]:
    """Return pages about which a user's answer teaches most, of each form of address one, best first."""
    against = {one.url for one in said}
    learned, pages = withheld(said), list(announced)
    folders, forms = dict[str, list[Announced]](), dict[str, list[Announced]]()
    for one in pages:
        folders.setdefault(first_folder(one.url), []).append(one)
        if not any(getattr(one.aspects, kind) in values for kind, values in learned.items()):
            forms.setdefault(one.aspects.form, []).append(one)

    def answers(pages: Sequence[Announced]) -> tuple[int, int]:
        objected = sum(one.url in against for one in pages)
        return objected, objected + sum(one.seen and one.url not in against for one in pages)

    def rate(pages: Sequence[Announced], expected: float) -> float:
        objected, answered = answers(pages)
        return (objected + _PRIOR * expected) / (answered + _PRIOR)

    # Forms of a folder are mostly all news, or none is.
    expected = {folder: rate(pages, 0.5) for folder, pages in folders.items()}

    def gain(pages: Sequence[Announced]) -> float:
        left = len(pages) - answers(pages)[1]
        return left * rate(pages, expected[first_folder(pages[0].url)])

    best = sorted(forms.values(), key=gain, reverse=True)
    open_ones = ([one.url for one in pages if not one.seen] for pages in best)
    return [urls[0] for urls in open_ones if urls]


def first_folder(url: str) -> str:
    """Return the first folder of an address; empty = it lies at the root."""
    folder, slash, _ = urlsplit(url).path.lstrip("/").partition("/")
    return folder if slash else ""


Withheld = Mapping[str, frozenset[str]]
"""Values that are withheld, by kind of aspect."""


def withheld(objections: Iterable[Objection]) -> Withheld:
    """Return what a site's objections withhold."""
    found: dict[str, set[str]] = {}
    for one in objections:
        if one.withholds:
            found.setdefault(one.withholds, set()).add(getattr(one.page, one.withholds))
    return {kind: frozenset(values) for kind, values in found.items()}


def of_page(said: Withheld, url: str, shown_by: str) -> Withheld:
    """Return what users said, for a page that was first shown by a list: what they said of the list too."""
    if shown_by not in said.get("shown_by", frozenset()):
        return said
    return {**said, "form": said.get("form", frozenset()) | {form_of(url)}}


def is_not_news(url: str, shown_by: str | None, rule: Rule | str | None, said: Withheld) -> bool:
    """Whether users said of pages like this one that they are not news."""
    if not said:
        return False
    page = Aspects.of(url, shown_by, rule)
    return any(getattr(page, kind) in values for kind, values in said.items())

"""Whether the numbers, dates and names of two texts allow that one is the translation of the other. Pure.

Notices of a series have nearly equal vectors ("Tender 2026-014", "招标公告 2026-015"), so these decide
before likeness does::

    titles    not both in one script other than Latin: a text full of code seems to be English
              what is written in digits in one stands in the other, or in its first paragraphs
              numbers in words do not contradict each other
              half of the Latin names in a title of another script stand in the other text
    leads     of three numbers or more, years left out, half stand in the other text
    dates     announced within four days of each other; published as well, as far as that is known
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from classifier.topic.language import language_of
from incremental.topics.embedding.numbers import Numbers, is_named, names_of, numbers_of
from store.translations import TextFacts

DAYS: Final = 4
SECONDS: Final = DAYS * 86_400.0
# Of a text whose numbers should stand in the other one. A Chinese character says as much as three letters.
_LEAD_CHARS: Final = 500
_DENSE_LEAD_CHARS: Final = 170
# Of that one.
_TEXT_CHARS: Final = 1_500
_FEWEST_NUMBERS: Final = 3
_ENOUGH: Final = 0.5
_YEARS: Final = frozenset(map(str, range(1_990, 2_050)))
_DENSE: Final = frozenset({"zh", "ja", "ko", "yue", "wuu"})
# From this letter on, it is neither Latin nor an accent.
_OTHER_SCRIPTS: Final = "\u0370"


class Agreement(Enum):
    """What numbers, dates and names say of two texts."""

    CONTRADICTED = "contradicted"
    POSSIBLE = "possible"
    NUMBERED = "numbered"
    """The titles share a number that is no year."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A text, as it is compared."""

    page_id: int
    language: str
    found_at: float
    published_at: float | None
    cluster: int | None
    text: str
    """Title and first paragraphs."""
    title: Numbers
    lead: frozenset[str]
    """Numbers of title and lead."""
    all: frozenset[str]
    """Numbers of title and first paragraphs."""
    names: frozenset[str]
    """Latin names in a title of another script."""
    script: str
    """The language that the script of the title shows; empty = Latin letters, which many share."""

    def is_copy(self, other: Compared) -> bool:
        """Whether both are one text, in one language."""
        return self.cluster is not None and self.cluster == other.cluster


def compared(facts: TextFacts) -> Compared:
    """Return a page as it is compared."""
    text = f"{facts.title}\n{facts.lead[:_TEXT_CHARS]}"
    language = language_of(text, facts.language)
    lead = facts.lead[: _DENSE_LEAD_CHARS if language in _DENSE else _LEAD_CHARS]
    is_other = any(char.isalpha() and char >= _OTHER_SCRIPTS for char in facts.title)
    title, every = numbers_of(facts.title), numbers_of(text)
    return Compared(
        page_id=facts.page_id,
        language=language,
        found_at=facts.found_at,
        published_at=facts.published_at,
        cluster=facts.cluster,
        text=text,
        title=title,
        lead=title.written | numbers_of(lead).written,
        all=every.all,
        names=names_of(facts.title) if is_other else frozenset(),
        script=language_of(facts.title) if is_other else "",
    )


def agreement(one: Compared, other: Compared) -> Agreement:
    """Return what numbers, dates and names say of two pages in different languages."""
    may = (
        _near(one, other)
        and not (one.script and one.script == other.script)
        and _written_in(one, other)
        and _written_in(other, one)
        and not _contradicts(one, other)
        and not _contradicts(other, one)
        and _named_in(one, other)
        and _named_in(other, one)
        and _numbers_agree(one, other)
    )
    if not may:
        return Agreement.CONTRADICTED
    shared = one.title.written & other.title.written - _YEARS
    return Agreement.NUMBERED if shared else Agreement.POSSIBLE


def _near(one: Compared, other: Compared) -> bool:
    if abs(one.found_at - other.found_at) > SECONDS:
        return False
    if one.published_at is None or other.published_at is None:
        return True
    return abs(one.published_at - other.published_at) <= SECONDS


def _written_in(one: Compared, other: Compared) -> bool:
    return one.title.written <= other.all


def _contradicts(one: Compared, other: Compared) -> bool:
    """Whether a title says a number in words, and the other title other numbers."""
    said = one.title.worded
    return bool(said and other.title.all and not said & other.all)


def _named_in(one: Compared, other: Compared) -> bool:
    found = sum(is_named(name, other.text) for name in one.names)
    return 2 * found >= len(one.names)


def _numbers_agree(one: Compared, other: Compared) -> bool:
    mine, theirs = one.lead - _YEARS, other.lead - _YEARS
    total = len(mine) + len(theirs)
    found = len(mine & other.all) + len(theirs & one.all)
    return min(len(mine), len(theirs)) < _FEWEST_NUMBERS or found >= _ENOUGH * total

"""Input and output of the topic models: plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from classifier.embedding.meaning import Meaning


@dataclass(frozen=True, slots=True)
class PageText:
    """A page's text by position (paper 002 weighs the positions)."""

    url: str
    title: str = ""
    headings: tuple[str, ...] = ()
    meta: str = ""
    """Description and key words of the head."""
    body: str = ""
    """Main text; a hub page's anchors are more informative (paper 000)."""
    anchors: tuple[str, ...] = ()
    """Visible text of its links, in order."""
    language: str | None = None
    """As the page declares it, ``zh``; None = not declared."""
    meaning: Meaning | None = field(default=None, repr=False, compare=False)
    """Its vector; None = not embedded, so that words alone judge."""


@dataclass(frozen=True, slots=True)
class LinkContext:
    """A link to an unfetched page, as one known page shows it (paper 004)."""

    url: str
    anchor: str = ""
    around: str = ""
    """Text of the nearest enclosing block."""
    heading: str = ""
    """The nearest heading above."""
    tag_path: str = ""
    """Path of tags with classes from the root; links of one list share it."""
    parent_url: str = ""
    parent_score: float | None = None
    """Relevance score of the page that shows it, 0 to 1; None = not judged."""


class Note(NamedTuple):
    """A deficiency of a fitted topic; interfaces put it into words."""

    kind: str
    """Its text in the catalogue, in the group ``lacks``."""
    values: Mapping[str, str | int] = MappingProxyType({})


class Verdict(StrEnum):
    """The result of judging a page for a topic."""

    RELEVANT = "relevant"
    DOUBTFUL = "doubtful"
    """Just below the threshold: kept and shown as such."""
    IRRELEVANT = "irrelevant"


@dataclass(frozen=True, slots=True)
class Relevance:
    """A judgement of one page for one topic."""

    score: float
    """0 to 1, comparable between pages of one topic; relevant from 0.5."""
    verdict: Verdict
    method: str
    version: str
    """Of the topic's model; changes with each training."""
    terms: tuple[tuple[str, float], ...] = ()
    """The terms that contributed most, heaviest first, with their shares."""

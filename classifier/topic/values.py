"""What goes into the topic models and what comes out: plain values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class PageText:
    """What of a page bears on its topic, by position (paper 002 weighs the positions)."""

    url: str
    title: str = ""
    headings: tuple[str, ...] = ()
    meta: str = ""
    """Description and key words of the head."""
    body: str = ""
    """Main text; of a hub page its anchors say more (paper 000)."""
    anchors: tuple[str, ...] = ()
    """Visible text of its links, in order."""
    language: str | None = None
    """What the page says of itself, ``zh``; None = not told."""


@dataclass(frozen=True, slots=True)
class LinkContext:
    """A link to a page that was not fetched, as one known page shows it (paper 004)."""

    url: str
    anchor: str = ""
    around: str = ""
    """Text of the nearest block around it."""
    heading: str = ""
    """The nearest heading above."""
    tag_path: str = ""
    """Path of tags with classes from the root; links of one list share it."""
    parent_url: str = ""
    parent_score: float | None = None
    """Relevance score of the page that shows it, 0 to 1; None = not judged."""


class Verdict(StrEnum):
    """What a judged page is to the reader of a topic."""

    RELEVANT = "relevant"
    GREY = "grey"
    """Too near the threshold to say: kept, and shown as such."""
    IRRELEVANT = "irrelevant"


@dataclass(frozen=True, slots=True)
class Relevance:
    """A judgement of one page for one topic."""

    score: float
    """0 to 1, comparable between pages of one topic; 0.5 is where *relevant* begins."""
    verdict: Verdict
    method: str
    version: str
    """Of the topic's model: changes whenever it learned something."""
    terms: tuple[tuple[str, float], ...] = ()
    """The terms that spoke most for it, with their shares, the weightiest first."""

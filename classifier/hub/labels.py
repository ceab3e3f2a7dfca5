"""Labelled URLs, and the rule by which a page's behaviour labels it.

A label file is TSV with a header. ``label`` and ``url`` are required; ``anchor``, ``domain``,
``lang``, ``source``, ``md5`` and ``encoding`` are optional. A user's label outranks a page's behaviour,
which outranks a shipped label.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from classifier.hub.evidence import LinkEvidence

HUB: Final = "hub"
ARTICLE: Final = "article"

LABEL_COLUMNS: Final = ("label", "url", "anchor", "domain", "lang", "source")


@dataclass(frozen=True, slots=True)
class LabelRow:
    """A labelled URL."""

    label: str
    url: str
    anchor: str = ""
    """Empty = unknown."""
    domain: str = ""
    lang: str = ""
    source: str = ""
    md5: str = ""
    """Name of the captured page in its archive, if there is one."""
    encoding: str = ""

    @property
    def is_hub(self) -> bool:
        """Whether the label is the positive class."""
        return self.label == HUB

    @property
    def evidence(self) -> LinkEvidence:
        """The row as the classifier sees it."""
        return LinkEvidence(self.url, self.anchor or None)


def write_labels(rows: Iterable[LabelRow], columns: Sequence[str] = LABEL_COLUMNS) -> str:
    """Return the text of a label file; tabs and line ends in fields become blanks."""
    lines = ["\t".join(columns)]
    lines += ["\t".join(" ".join(getattr(row, name).split()) for name in columns) for row in rows]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class Behaviour:
    """A page's new links by visit, without the baseline."""

    visits: int
    """Visits that fetched the page, unchanged ones (HTTP 304) included."""
    visits_with_news: int
    """Visits with at least one new in-site link."""
    new_links: int
    """New in-site links, first sightings only."""
    watched_seconds: float
    """Time from the baseline to the last visit."""


# When behaviour is clear enough for a label. News on one visit alone can be a redesign, or a box of related
# links.
_HUB_VISITS_WITH_NEWS: Final = 2
_HUB_NEW_LINKS: Final = 3
# Silence alone does not label a list: nightly training weighs it by how rare it is there. Slow hubs that are
# silent for two weeks are too rare to matter.
_SILENT_VISITS: Final = 8
_SILENT_SECONDS: Final = 14 * 86_400.0


def label_of(behaviour: Behaviour) -> str | None:
    """Return ``hub``, ``article``, or None while it is unclear."""
    if behaviour.visits_with_news >= _HUB_VISITS_WITH_NEWS:
        return HUB if behaviour.new_links >= _HUB_NEW_LINKS else None
    silent = behaviour.new_links == 0 and behaviour.visits >= _SILENT_VISITS
    return ARTICLE if silent and behaviour.watched_seconds >= _SILENT_SECONDS else None


def labels_hash(rows: Iterable[LabelRow]) -> str:
    """Return a SHA-256 that names a training set: labels, URLs and anchors, in any order."""
    digest = sha256()
    for item in sorted(json.dumps([row.label, row.url, row.anchor]) for row in rows):
        digest.update(item.encode() + b"\n")
    return digest.hexdigest()

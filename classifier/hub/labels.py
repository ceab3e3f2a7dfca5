"""Label files, and the rule by which a page's behaviour labels it.

A label file is TSV with a header. ``label`` and ``url`` are required; ``anchor``, ``domain``,
``lang``, ``source``, ``md5``, ``encoding``, ``page_bytes`` and ``crawl_depth`` are optional. A user's
label outranks a page's behaviour, which outranks a shipped label.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from classifier.hub.errors import LabelFileError
from classifier.hub.evidence import LinkEvidence, split_url

HUB: Final = "hub"
ARTICLE: Final = "article"
# Paper 003, and files made for it, call an article *topic*.
_WORDS: Final = {HUB: HUB, ARTICLE: ARTICLE, "topic": ARTICLE}

LABEL_COLUMNS: Final = ("label", "url", "anchor", "domain", "lang", "source")
# Known only from a crawl, whole numbers; empty = unknown.
CRAWL_COLUMNS: Final = ("page_bytes", "crawl_depth")


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
    page_bytes: int | None = None
    """None = not fetched."""
    crawl_depth: int | None = None
    """Clicks from the seed; None = not from a crawl."""

    @property
    def is_hub(self) -> bool:
        """Whether the label is the positive class."""
        return self.label == HUB

    @property
    def evidence(self) -> LinkEvidence:
        """The row as the classifier sees it."""
        return LinkEvidence(
            self.url,
            self.anchor or None,
            page_bytes=self.page_bytes,
            crawl_depth=self.crawl_depth,
        )


@dataclass(frozen=True, slots=True)
class Said:
    """A label and its file and line, for messages."""

    label: str
    where: str


def read_labels(path: Path | str, said: dict[str, Said] | None = None) -> list[LabelRow]:
    """Read a label file; raises LabelFileError that names the line.

    A missing ``domain`` becomes the URL's host. Fields are not quoted. With ``said`` (labels by URL
    from the files before, extended here) a URL labelled both ways is an error.
    """
    rows = []
    for number, values in _read_table(path):
        row = _label_row(path, number, values)
        if said is not None:
            _refuse_contradiction(path, number, row, said)
        rows.append(row)
    return rows


def _refuse_contradiction(
    path: Path | str, number: int, row: LabelRow, said: dict[str, Said]
) -> None:
    # Only the author knows which of two labels is meant.
    before = said.setdefault(row.url, Said(row.label, f"{path}, line {number}"))
    if before.label != row.label:
        problem = f"{row.url} is labelled {row.label} here and {before.label} in {before.where}"
        raise LabelFileError(path, number, f"{problem}; keep one of the two")


def _read_table(path: Path | str) -> list[tuple[int, dict[str, str]]]:
    """Return (line number, fields by column) of each row."""
    lines = _read_text(path).split("\n")
    columns = lines[0].rstrip("\r").split("\t")
    missing = {"label", "url"} - set(columns)
    if missing:
        raise LabelFileError(path, 1, f"has no column {' and '.join(sorted(missing))}")
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        fields = line.rstrip("\r").split("\t")
        if fields == [""]:
            continue
        if len(fields) != len(columns):
            raise LabelFileError(path, number, f"has {len(fields)} fields, not {len(columns)}")
        rows.append((number, dict(zip(columns, fields, strict=True))))
    if not rows:
        raise LabelFileError(path, 0, "has no rows")
    return rows


def _read_text(path: Path | str) -> str:
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise LabelFileError(path, 0, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise LabelFileError(path, line, "is not UTF-8") from error
    if not text.strip():
        raise LabelFileError(path, 0, "is empty; its first line must name the columns")
    return text


def _label_row(path: Path | str, number: int, values: dict[str, str]) -> LabelRow:
    label = _WORDS.get(values["label"])
    if label is None:
        raise LabelFileError(path, number, f"label is {values['label']!r}, not hub or article")
    host = split_url(values["url"]).host
    if not host:
        raise LabelFileError(path, number, f"URL {values['url'][:100]!r} has no host")
    texts = LabelRow.__dataclass_fields__.keys() - set(CRAWL_COLUMNS)
    known: dict[str, Any] = {name: values.get(name, "") for name in texts}
    known["domain"] = known["domain"] or host
    for name in CRAWL_COLUMNS:
        known[name] = _number(path, number, name, values.get(name, ""))
    return LabelRow(**(known | {"label": label}))


def _number(path: Path | str, line: int, name: str, text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 16):  # noqa: PLR2004 - a petabyte
        raise LabelFileError(path, line, f"{name} is {text[:40]!r}, not a whole number")
    return int(text)


def write_labels(rows: Iterable[LabelRow], columns: Sequence[str] = LABEL_COLUMNS) -> str:
    """Return the text of a label file; tabs and line ends in fields become blanks."""
    lines = ["\t".join(columns)]
    lines += ["\t".join(_field(getattr(row, name)) for name in columns) for row in rows]
    return "\n".join(lines) + "\n"


def _field(value: str | int | None) -> str:
    return "" if value is None else " ".join(str(value).split())


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
    from hashlib import sha256  # noqa: PLC0415 - beside its only use

    digest = sha256()
    for item in sorted(json.dumps([row.label, row.url, row.anchor]) for row in rows):
        digest.update(item.encode() + b"\n")
    return digest.hexdigest()

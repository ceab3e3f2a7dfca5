"""Label files, and captured pages in a tar, which are read beside them."""

import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import md5
from pathlib import Path
from typing import Final

from classifier.hub.errors import HubClassifierError
from classifier.hub.evidence import split_url
from classifier.hub.labels import ARTICLE, HUB, LabelRow
from classifier.hub.page_text import BYTE_LIMIT

# Columns of a file that labels captured pages.
PAGE_COLUMNS: Final = ("label", "url", "domain", "lang", "md5", "encoding", "source")
# Paper 003, and files made for it, call an article *topic*.
_WORDS: Final = {HUB: HUB, ARTICLE: ARTICLE, "topic": ARTICLE}


class LabelFileError(HubClassifierError):
    """A label file cannot be read; ``line`` counts from 1, 0 = the whole file."""

    def __init__(self, path: Path | str, line: int, problem: str) -> None:
        self.path = path
        self.line = line
        self.problem = problem
        where = f"{path}, line {line}" if line else str(path)
        super().__init__(f"{where}: {problem}")


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
    known = {name: values.get(name, "") for name in LabelRow.__dataclass_fields__}
    return LabelRow(**(known | {"label": label, "domain": known["domain"] or host}))


def check_two_classes(rows: Sequence[LabelRow], path: Path | str) -> None:
    """Raise LabelFileError when only one of hub and article occurs."""
    labels = {row.label for row in rows}
    if len(labels) < 2:  # noqa: PLR2004 - hub and article
        raise LabelFileError(path, 0, f"has rows of class {labels.pop()} only; both are needed")


@dataclass(frozen=True, slots=True)
class Capture:
    """One labelled page; ``body`` is empty when the archive does not hold it."""

    row: LabelRow
    body: bytes


def read_captures(rows: Sequence[LabelRow], archive: Path | str) -> list[Capture]:
    """Return a capture for each row in order; raises LabelFileError when the tar is unreadable.

    At most 4 MB of each page are read. A page that is not in the archive has an empty body.
    """
    wanted = {_name_of(row) for row in rows}
    bodies: dict[str, bytes] = {}
    try:
        for name, body in _members(archive, wanted):
            bodies.setdefault(name, body)
    except (OSError, tarfile.TarError, EOFError) as error:
        raise LabelFileError(archive, 0, f"is no readable tar archive ({error})") from error
    return [Capture(row, bodies.get(_name_of(row), b"")) for row in rows]


def _members(archive: Path | str, wanted: set[str]) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(archive, "r:*") as tar:
        for member in tar:
            name = Path(member.name).stem
            if member.isfile() and name in wanted:
                opened = tar.extractfile(member)
                if opened:
                    yield name, opened.read(BYTE_LIMIT)


def _name_of(row: LabelRow) -> str:
    return row.md5 or md5(row.url.encode(), usedforsecurity=False).hexdigest()

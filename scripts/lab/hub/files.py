"""Captured pages in a tar, which are read beside label files."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import md5
from pathlib import Path
from typing import Final

from classifier.hub.errors import LabelFileError
from classifier.hub.labels import LabelRow
from classifier.hub.page_text import BYTE_LIMIT

# Columns of a file that labels captured pages.
PAGE_COLUMNS: Final = ("label", "url", "domain", "lang", "md5", "encoding", "source")


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

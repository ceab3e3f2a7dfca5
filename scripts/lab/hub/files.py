"""What is read beside plain label files: captured pages in a tar, and links without labels."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import md5
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from classifier.hub.errors import LabelFileError
from classifier.hub.labels import LabelRow, link_row, read_table
from classifier.hub.page_text import BYTE_LIMIT

# Columns of a file that labels captured pages.
PAGE_COLUMNS: Final = ("label", "url", "domain", "lang", "md5", "encoding", "source")


def read_links(path: Path | str) -> list[LabelRow]:
    """Read a file of links without labels; the rows' labels are empty."""
    return [
        link_row(path, number, {**values, "label": ""})
        for number, values in read_table(path, {"url"})
    ]


def check_two_classes(rows: Sequence[LabelRow], path: Path | str) -> None:
    """Raise LabelFileError when only one of hub and article occurs."""
    labels = {row.label for row in rows}
    if len(labels) < 2:  # noqa: PLR2004 - hub and article
        raise LabelFileError(path, 0, f"has rows of class {labels.pop()} only; both are needed")


def most_uncertain(probabilities: NDArray[np.float64], count: int) -> list[int]:
    """Return the places of the ``count`` probabilities nearest to one half, nearest first."""
    order = sorted(range(len(probabilities)), key=lambda place: abs(probabilities[place] - 0.5))
    return order[:count]


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

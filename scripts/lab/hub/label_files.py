"""What the scripts read and ask beside plain label files: links without labels, which to label first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from classifier.hub.errors import LabelFileError
from classifier.hub.labels import LabelRow, link_row, read_table

PAGE_COLUMNS: Final = ("label", "url", "domain", "lang", "md5", "encoding", "source")
"""Columns of a file that labels captured pages."""


def read_links(path: Path | str) -> list[LabelRow]:
    """Read a file of links without labels; the rows' labels are empty."""
    return [
        link_row(path, number, {**values, "label": ""})
        for number, values in read_table(path, {"url"})
    ]


def check_two_classes(rows: Sequence[LabelRow], path: Path | str) -> None:
    """Raise LabelFileError when only one of hub and topic occurs."""
    labels = {row.label for row in rows}
    if len(labels) < 2:  # noqa: PLR2004 - hub and topic
        raise LabelFileError(path, 0, f"has rows of class {labels.pop()} only; both are needed")


def most_uncertain(probabilities: NDArray[np.float64], count: int) -> list[int]:
    """Return the places of the ``count`` probabilities nearest to one half, nearest first."""
    order = sorted(range(len(probabilities)), key=lambda place: abs(probabilities[place] - 0.5))
    return order[:count]

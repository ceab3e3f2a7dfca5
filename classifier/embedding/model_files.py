"""Identity of a model in a folder, by a digest of its files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

# Of a larger file this much is read, in evenly spaced blocks: another training changes every weight.
WHOLE_BYTES: Final = 64 * 1024 * 1024
_BLOCK_BYTES: Final = 256 * 1024
# A folder with more files holds other things than a model.
_MOST_FILES: Final = 1_000
# Documentation; does not affect the vectors.
_TEXTS: Final = (".md", ".png", ".jpg")


def folder_digest(folder: Path) -> str:
    """Return 12 hexadecimal digits of a digest of the files' names, sizes and contents.

    Hidden files and read-me files do not count. Reads at most 64 MB of each file.
    """
    found = hashlib.sha256()
    for path in islice(_files(folder), _MOST_FILES):
        try:
            size = path.stat().st_size
            found.update(f"{path.relative_to(folder)}\0{size}\0".encode("utf-8", "surrogateescape"))
            for block in _blocks(path, size):
                found.update(block)
        except OSError:
            # Loading the model will report it.
            found.update(b"unreadable")
    return found.hexdigest()[:12]


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        for name in sorted(files):
            if not name.startswith(".") and not name.lower().endswith(_TEXTS):
                yield Path(place, name)


def _blocks(path: Path, size: int) -> Iterator[bytes]:
    starts = [*range(0, size, _BLOCK_BYTES)]
    if size > WHOLE_BYTES:
        gaps = WHOLE_BYTES // _BLOCK_BYTES - 1
        starts = [number * (size - _BLOCK_BYTES) // gaps for number in range(gaps + 1)]
    with path.open("rb") as file:
        for start in starts:
            file.seek(start)
            yield file.read(_BLOCK_BYTES)

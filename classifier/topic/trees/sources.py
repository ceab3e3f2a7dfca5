"""The lines of a tree's file, UTF-8: plain, xz, gzip or bzip2."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, cast

from classifier.topic.semantic_tree import TreeError

# After decompression: a damaged or hostile archive must not fill the memory.
MAX_BYTES: Final = 1 << 30
_MAX_LINE_BYTES: Final = 1 << 20
_MAGIC: Final[dict[bytes, type[lzma.LZMAFile | gzip.GzipFile | bz2.BZ2File]]] = {
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"\x1f\x8b": gzip.GzipFile,
    b"BZh": bz2.BZ2File,
}
_BOM: Final = b"\xef\xbb\xbf"
_DAMAGE: Final = (lzma.LZMAError, EOFError, zlib.error, gzip.BadGzipFile)


def open_source(path: Path) -> BinaryIO:
    """Open a file, decompressing by its first bytes; raises TreeError."""
    try:
        with path.open("rb") as stream:
            head = stream.read(8)
        for magic, opener in _MAGIC.items():
            if head.startswith(magic):
                return cast("BinaryIO", opener(path, "rb"))
        return path.open("rb")
    except OSError as error:
        raise TreeError(path, 0, f"cannot be read: {error.strerror}") from error


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (number from 1, line without its end); raises TreeError with the line at fault."""
    number = 0
    try:
        with open_source(path) as stream:
            for number, raw in enumerate(_bounded(path, stream), start=1):
                yield number, _decode(path, number, raw)
    except _DAMAGE as error:
        raise TreeError(
            path, number, "is damaged or cut off after this line; fetch it again"
        ) from error
    except OSError as error:
        raise TreeError(path, number, f"cannot be read on: {error}") from error


def read_bytes(path: Path) -> bytes:
    """Return the whole file, decompressed; raises TreeError."""
    try:
        with open_source(path) as stream:
            data = stream.read(MAX_BYTES + 1)
    except _DAMAGE as error:
        raise TreeError(path, 0, "is damaged or cut off; fetch it again") from error
    except OSError as error:
        raise TreeError(path, 0, f"cannot be read: {error}") from error
    if len(data) > MAX_BYTES:
        raise TreeError(path, 0, f"is larger than {MAX_BYTES} bytes")
    return data


def _bounded(path: Path, stream: BinaryIO) -> Iterator[bytes]:
    total = number = 0
    while raw := stream.readline(_MAX_LINE_BYTES):
        number += 1
        total += len(raw)
        if len(raw) == _MAX_LINE_BYTES:
            raise TreeError(path, number, "has an endless line; it is not a known semantic tree")
        if total > MAX_BYTES:
            raise TreeError(path, number, f"is larger than {MAX_BYTES} bytes")
        yield raw


def _decode(path: Path, number: int, raw: bytes) -> str:
    try:
        text = raw.removeprefix(_BOM if number == 1 else b"").decode()
    except UnicodeDecodeError as error:
        raise TreeError(
            path,
            number,
            "is not UTF-8; convert the file, for a Chinese one: iconv -f GB18030 -t UTF-8",
        ) from error
    return text.rstrip("\r\n")

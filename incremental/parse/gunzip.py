"""Gzip bodies (``sitemap.xml.gz``), unpacked in bounded pieces."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAGIC = b"\x1f\x8b"
_CHUNK_BYTES = 65_536
_GZIP_WINDOW = 16 + zlib.MAX_WBITS  # zlib: 16 selects the gzip format


def is_gzip(body: bytes) -> bool:
    """Return whether *body* starts like a gzip file."""
    return body.startswith(_MAGIC)


def pieces(body: bytes) -> Iterator[bytes]:
    """Yield *body* in pieces of at most 64 KiB, unpacking gzip only as far as the reader asks.

    A truncated or broken file yields its beginning.
    """
    if not is_gzip(body):
        for start in range(0, len(body), _CHUNK_BYTES):
            yield body[start : start + _CHUNK_BYTES]
        return
    unpacker = zlib.decompressobj(_GZIP_WINDOW)
    waiting = body
    while waiting and not unpacker.eof:
        try:
            piece = unpacker.decompress(waiting, _CHUNK_BYTES)
        except zlib.error:
            return
        if piece:
            yield piece
        waiting = unpacker.unconsumed_tail


def unpacked(body: bytes, max_bytes: int) -> bytes:
    """Return at most *max_bytes* of *body*, unpacked if it is gzip."""
    if not is_gzip(body):
        return body[:max_bytes]
    whole = bytearray()
    for piece in pieces(body):
        whole += piece
        if len(whole) >= max_bytes:
            break
    return bytes(whole[:max_bytes])

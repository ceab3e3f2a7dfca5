"""Folders of addresses, as people read them: ``/blog/2007/``, not escaped."""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import commonpath
from urllib.parse import unquote, urlsplit


def folder_of(urls: Sequence[str]) -> str:
    """Return the folder in which all *urls* lie: ``/blog/2007/``; at worst ``/``. Readable, not escaped."""
    if not urls:
        return ""
    shared = commonpath([urlsplit(url).path.rpartition("/")[0] + "/" for url in urls])
    return unquote(shared.rstrip("/")) + "/"


def widened(folder: str, other: str) -> str:
    """Return the folder in which two folders lie; an empty one says nothing."""
    if not folder or not other:
        return folder or other
    rooted = [one if one.startswith("/") else f"/{one}" for one in (folder, other)]
    return commonpath(rooted).rstrip("/") + "/"

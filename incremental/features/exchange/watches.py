"""Watches of changedetection.io: its JSON, or the zip that its backup page writes. Pure.

==========================  ==========================================================================
``url-watches.json``        everything: ``watching`` by id, names of tags in ``settings``
``changedetection.json``    of later versions: the settings alone
``ID/watch.json``           of later versions: one watch
``ID/tag.json``             of later versions: one tag
the API's ``/watch``        watches by id; tags have no names there
==========================  ==========================================================================
"""

from __future__ import annotations

import io
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from incremental.features.exchange.entry import ListError

ZIP = b"PK\x03\x04"
# Of one backup, unpacked: only the files above are read.
MAX_UNPACKED_BYTES = 50_000_000
_MAX_FILES = 200_000
# What zipfile raises for files that were cut, changed, encrypted (RuntimeError) or packed in another way.
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, OSError, EOFError),
    *(RuntimeError, ValueError, OverflowError, LookupError),
)
_WHOLE = ("url-watches.json", "changedetection.json")


@dataclass(frozen=True, slots=True)
class StoredWatch:
    """One watch. *tags* are names; a tag without a known name is counted in *unnamed*."""

    url: str
    title: str = ""
    tags: tuple[str, ...] = ()
    unnamed: int = 0
    paused: bool = False


def read_watches(content: bytes) -> Iterator[StoredWatch | None]:
    """Yield the watches in the order of the file; None for what is no watch.

    Raises:
        ListError: it cannot be read.
    """
    found = _unzipped(content) if content.startswith(ZIP) else _parsed(content)
    names: dict[str, str] = {}
    if isinstance(found, Mapping):
        names = _names_of(found)
        found = found.get("watching", found)
    watches = list(found.values()) if isinstance(found, Mapping) else found
    for watch in watches if isinstance(watches, list) else ():
        yield _watch_of(watch, names)


def _watch_of(watch: object, names: Mapping[str, str]) -> StoredWatch | None:
    if not isinstance(watch, Mapping) or not isinstance(watch.get("url"), str):
        return None
    ids = watch.get("tags")
    given = [one for one in ids if isinstance(one, str)] if isinstance(ids, list) else []
    named = [names[one] for one in given if one in names]
    # Before tags were objects: one text.
    named += [one.strip() for one in _text(watch.get("tag")).split(",")]
    title = _text(watch.get("title")) or _text(watch.get("page_title"))
    unnamed = sum(one not in names for one in given)
    return StoredWatch(
        watch["url"],
        title,
        tuple(dict.fromkeys(filter(None, named))),
        unnamed,
        watch.get("paused") is True,
    )


def _names_of(whole: Mapping[Any, Any]) -> dict[str, str]:
    """Return the names of tags by id."""
    place: object = whole
    for key in ("settings", "application", "tags"):
        place = place.get(key) if isinstance(place, Mapping) else None
    if not isinstance(place, Mapping):
        return {}
    titles = {
        str(key): _text(tag.get("title")) for key, tag in place.items() if isinstance(tag, Mapping)
    }
    return {key: title for key, title in titles.items() if title}


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _parsed(content: bytes) -> Any:  # noqa: ANN401 - whatever JSON holds
    try:
        return json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ListError(f"cannot be read as JSON: {error}") from None


def _unzipped(content: bytes) -> dict[str, Any]:
    """Return what a backup holds, in the form of ``url-watches.json``."""
    whole: dict[str, Any] = {}
    watches: dict[str, Any] = {}
    tags: dict[str, Any] = {}
    for name, value in _files(content):
        folder, _, file = name.rpartition("/")
        if file in _WHOLE and not folder and isinstance(value, dict):
            whole |= value
        elif file == "watch.json":
            watches[folder] = value
        elif file == "tag.json":
            tags[folder] = value
    names = {key: {"title": title} for key, title in _names_of(whole).items()} | tags
    settings = {"application": {"tags": names}}
    return {"watching": watches or whole.get("watching", {}), "settings": settings}


def _files(content: bytes) -> Iterator[tuple[str, Any]]:
    left = MAX_UNPACKED_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            if len(members) > _MAX_FILES:
                raise ListError(f"holds more than {_MAX_FILES} files")
            for member in members:
                if member.filename.rpartition("/")[2] not in (*_WHOLE, "watch.json", "tag.json"):
                    continue
                # The size in its header may be a lie.
                with archive.open(member) as file:
                    body = file.read(left + 1)
                left -= len(body)
                if left < 0:
                    raise ListError(f"unpacks to more than {MAX_UNPACKED_BYTES} bytes")
                yield member.filename, _parsed(body)
    except _BROKEN as error:
        why = str(error) or type(error).__name__
        raise ListError(f"cannot be read as a zip: {why}") from None

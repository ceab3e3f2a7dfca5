"""The page cache: bodies named by MD5 (paper 004, section 1.2).

A file is called ``<md5 of the URL>.<md5 of the body>``, two folder levels deep, gzip-compressed. It begins
with a line of its URL and, after a tab, the Content-Type that the server gave::

    a body comes back whole, or not at all: its URL and its MD5 prove it
    a body whose writing was interrupted is absent
    above the quota, and after its days, the oldest is deleted first
"""

import contextlib
import gzip
import hashlib
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from store.database.failures import of_file
from store.database.home import BODY, make_folder

_LEVELS = 2
_PROBE_BYTES = 65_536
_MAX_TYPE_CHARS = 200


class CachedBody(NamedTuple):
    """A fetched body."""

    content: bytes
    content_type: str
    """The whole header; empty = the server sent none."""


class CachedFile(NamedTuple):
    """A file of a page cache; the oldest sorts first."""

    written: float
    """Unix seconds, UTC."""
    size: int
    """Bytes, compressed."""
    path: str
    """Below the cache's own folder, with slashes."""

    @property
    def name(self) -> str:
        """Without its folders: see :func:`file_name`."""
        return self.path.rpartition("/")[2]


class PageCache:
    """Bodies by URL and content, in a folder.

    *quota_bytes*: compressed size that :meth:`prune` leaves; 0 disables the cache.
    """

    def __init__(self, folder: Path, *, quota_bytes: int) -> None:
        self.folder = folder
        self.quota_bytes = quota_bytes

    def put(self, url: str, body: bytes, content_type: str = "") -> str:
        """Store *body* unless present; return its MD5, 32 hexadecimal digits.

        Raises:
            StoreUnavailableError: the folder cannot be written (no space, no permission).
        """
        digest = body_md5(body)
        # Read, so that a damaged file is replaced.
        if self.quota_bytes and self.get(url, digest) is None:
            # One line, whatever the header contains.
            kind = " ".join(content_type.split())[:_MAX_TYPE_CHARS].encode("utf-8", "replace")
            content = _key(url) + (b"\t" + kind if kind else b"") + b"\n" + body
            # Level 6 costs three times as much, and a body is written once and rarely read.
            self._write(path_of(url, digest), gzip.compress(content, compresslevel=1, mtime=0))
        return digest

    def get(self, url: str, digest: str) -> bytes | None:
        """Return the body of *url* with this MD5; None if absent, pruned or damaged."""
        found = self.find(url, digest)
        return found.content if found is not None else None

    def find(self, url: str, digest: str) -> CachedBody | None:
        """Return the same body with its Content-Type."""
        try:
            content = gzip.decompress((self.folder / path_of(url, digest)).read_bytes())
        except (OSError, EOFError, zlib.error):
            return None
        # A damaged or foreign file reads as absent rather than as another page.
        rest = content.removeprefix(_key(url))
        kind, _, body = rest.partition(b"\n")
        if rest is content or kind[:1] not in (b"", b"\t") or body_md5(body) != digest:
            return None
        return CachedBody(body, kind[1:].decode("utf-8", "replace"))

    def forget(self, url: str, *, keep: frozenset[str] = frozenset()) -> int:
        """Delete the bodies of *url* except MD5s in *keep*; return how many."""
        prefix, folder = f"{_name(url)}.", _folder_of(_name(url))
        doomed = [
            f"{folder}/{name}"
            for name in self._names(folder, prefix)
            if name[len(prefix) :] not in keep
        ]
        self._delete(doomed)
        return len(doomed)

    def prune(self, *, older_than: float, named: frozenset[str] = frozenset()) -> int:
        """Delete bodies older than *older_than* (unix seconds), then the oldest above the quota.

        *named* files (see :func:`file_name`) ignore the age and go last for the quota. Returns how many went.
        """
        files = sorted(self._files(), key=lambda file: (file.name in named, file.written))
        doomed = [file for file in files if file.written < older_than and file.name not in named]
        rest = files[len(doomed) :]
        excess = sum(file.size for file in rest) - self.quota_bytes
        for file in rest:
            if excess <= 0:
                break
            doomed.append(file)
            excess -= file.size
        self._delete(file.path for file in doomed)
        return len(doomed)

    def size_bytes(self) -> int:
        """Return the compressed size of all bodies."""
        return sum(file.size for file in self._files())

    def check(self) -> None:
        """Write a little and delete it.

        Raises:
            StoreUnavailableError: the folder cannot be written.
        """
        try:
            make_folder(self.folder)
            # Beside the cache, where it does not count towards the quota.
            with tempfile.TemporaryFile(dir=self.folder.parent) as file:
                file.write(bytes(_PROBE_BYTES))
        except OSError as error:
            raise of_file(error, self.folder.parent) from error

    def _names(self, folder: str, prefix: str) -> list[str]:
        """Return the names of the files in *folder* that begin with *prefix*."""
        try:
            there = os.listdir(self.folder / folder)  # noqa: PTH208 - glob and iterdir take ten times as long
        except FileNotFoundError:
            return []
        except OSError as error:
            raise of_file(error, f"page cache {self.folder}") from error
        return [name for name in there if name.startswith(prefix)]

    def _delete(self, paths: Iterable[str]) -> None:
        for path in paths:
            (self.folder / path).unlink(missing_ok=True)

    def _files(self) -> Iterator[CachedFile]:
        # Temporary files of killed processes age like the rest; what else is there is the user's.
        for path in self.folder.glob("??/??/*"):
            if not (path.name.startswith("~") or path.match(BODY)):
                continue
            with contextlib.suppress(FileNotFoundError):  # forgotten meanwhile
                stat = path.stat()
                name = path.relative_to(self.folder).as_posix()
                yield CachedFile(stat.st_mtime, stat.st_size, name)

    def _write(self, path: str, content: bytes) -> None:
        target = self.folder / path
        try:
            make_folder(target.parent)
            # Renamed when complete: a kill leaves no partial file under a real name.
            with tempfile.NamedTemporaryFile(dir=target.parent, prefix="~", delete=False) as file:
                try:
                    file.write(content)
                    file.close()
                    os.replace(file.name, target)  # noqa: PTH105 - the rename that is atomic by contract
                except OSError:
                    Path(file.name).unlink(missing_ok=True)
                    raise
        except OSError as error:
            raise of_file(error, f"page cache {self.folder}") from error


def path_of(url: str, digest: str) -> str:
    """Return a body's path below the cache's folder: ``35/5b/<file name>``."""
    return f"{_folder_of(_name(url))}/{file_name(url, digest)}"


def _folder_of(name: str) -> str:
    return "/".join(name[2 * level : 2 * level + 2] for level in range(_LEVELS))


def _name(url: str) -> str:
    return hashlib.md5(_key(url)).hexdigest()


def _key(url: str) -> bytes:
    return url.encode("utf-8", "surrogatepass")


def file_name(url: str, digest: str) -> str:
    """Return the file name of the body of *url* with this MD5."""
    return f"{_name(url)}.{digest}"


def body_md5(body: bytes) -> str:
    """Return the MD5 of a body, 32 hexadecimal digits."""
    return hashlib.md5(body).hexdigest()

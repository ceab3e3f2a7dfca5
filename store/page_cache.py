"""The page cache: bodies on disk, named by MD5 (paper 004, section 1.2).

A file is called ``<md5 of the URL>.<md5 of the body>``, two folder levels deep, gzip-compressed. It begins
with its URL.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from store.failures import of_file
from store.home import make_folder

_LEVELS = 2


class PageCache:
    """Bodies by URL and content.

    *quota_bytes*: compressed size that :meth:`prune` leaves on disk; 0 disables the cache.
    """

    def __init__(self, folder: Path, *, quota_bytes: int) -> None:
        self.folder = folder
        self.quota_bytes = quota_bytes

    def put(self, url: str, body: bytes) -> str:
        """Store *body* unless present; return its MD5, 32 hexadecimal digits.

        Raises:
            StoreUnavailableError: the folder cannot be written (no space, no permission).
        """
        digest = body_md5(body)
        if self.quota_bytes and self.get(url, digest) is None:
            try:
                self._write(self._path(url, digest), _key(url) + b"\n" + body)
            except OSError as error:
                raise of_file(error, f"page cache {self.folder}") from error
        return digest

    def get(self, url: str, digest: str) -> bytes | None:
        """Return the body of *url* with this MD5; None if absent, pruned or damaged."""
        try:
            content = gzip.decompress(self._path(url, digest).read_bytes())
        except (OSError, EOFError, zlib.error):
            return None
        # A damaged or foreign file reads as absent rather than as another page.
        key = _key(url) + b"\n"
        body = content[len(key) :]
        return body if content.startswith(key) and body_md5(body) == digest else None

    def forget(self, url: str, *, keep: frozenset[str] = frozenset()) -> int:
        """Delete the bodies of *url* except MD5s in *keep*; return how many."""
        name = _name(url)
        folder, prefix = self._folder_of(name), f"{name}."
        try:
            there = os.listdir(folder)  # noqa: PTH208 - glob and iterdir take ten times as long
        except FileNotFoundError:
            return 0
        doomed = [
            file for file in there if file.startswith(prefix) and file[len(prefix) :] not in keep
        ]
        for file in doomed:
            (folder / file).unlink(missing_ok=True)
        return len(doomed)

    def prune(self, *, older_than: float, named: frozenset[str] = frozenset()) -> int:
        """Delete bodies older than *older_than* (unix seconds), then the oldest above the quota.

        *named* files (see :func:`file_name`) ignore the age and go last for the quota. Returns how many went.
        """
        files = sorted(self._files(), key=lambda file: (file[2].name in named, file[0]))
        doomed = [
            path for written, _, path in files if written < older_than and path.name not in named
        ]
        rest = files[len(doomed) :]
        excess = sum(size for _, size, _ in rest) - self.quota_bytes
        for _, size, path in rest:
            if excess <= 0:
                break
            doomed.append(path)
            excess -= size
        for path in doomed:
            path.unlink(missing_ok=True)
        return len(doomed)

    def size_bytes(self) -> int:
        """Return the compressed size of all bodies."""
        return sum(size for _, size, _ in self._files())

    def shrink(self, excess_bytes: int, *, older_than: float) -> tuple[int, int]:
        """Delete the oldest bodies until *excess_bytes* are gone; none younger than *older_than*.

        Returns how many went, and their bytes.
        """
        count = freed = 0
        for written, size, path in sorted(self._files()):
            if freed >= excess_bytes or written >= older_than:
                break
            path.unlink(missing_ok=True)
            count, freed = count + 1, freed + size
        return count, freed

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        # Temporary files of killed processes age like the rest.
        for path in self.folder.glob("*/*/*"):
            with contextlib.suppress(FileNotFoundError):  # forgotten meanwhile
                stat = path.stat()
                yield stat.st_mtime, stat.st_size, path

    def _folder_of(self, name: str) -> Path:
        return self.folder.joinpath(*(name[2 * level : 2 * level + 2] for level in range(_LEVELS)))

    def _path(self, url: str, digest: str) -> Path:
        return self._folder_of(_name(url)) / file_name(url, digest)

    @staticmethod
    def _write(path: Path, content: bytes) -> None:
        make_folder(path.parent)
        # Renamed when complete: a kill leaves no partial file under a real name.
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix="~", delete=False) as file:
            try:
                # Level 6 costs three times as much, and a body is written once and rarely read.
                file.write(gzip.compress(content, compresslevel=1, mtime=0))
                file.close()
                os.replace(file.name, path)  # noqa: PTH105 - the rename that is atomic by contract
            except OSError:
                Path(file.name).unlink(missing_ok=True)
                raise


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

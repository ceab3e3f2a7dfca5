"""The page cache: bodies on disk, named by MD5 (paper 004, section 1.2).

A file is named ``<md5 of the URL>.<md5 of the body>`` in two levels of folders, gzip-compressed. It begins
with the URL itself, so that a damaged or foreign file reads as absent and not as another page's body.
Written to a temporary name and put in place by ``os.replace``: killed at any instant, no half file
stays under a real name.
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

from store.errors import StoreError
from store.home import make_folder

_LEVELS = 2


class PageCache:
    """Bodies by URL and content.

    *quota_bytes* bounds what :meth:`prune` leaves on disk, compressed; 0 keeps nothing at all.
    """

    def __init__(self, folder: Path, *, quota_bytes: int) -> None:
        self.folder = folder
        self.quota_bytes = quota_bytes

    def put(self, url: str, body: bytes) -> str:
        """Keep *body* and return its MD5, 32 hexadecimal digits. A body that is there is not rewritten.

        Raises:
            StoreError: the folder cannot be written (no space, no permission).
        """
        digest = body_md5(body)
        if self.quota_bytes and self.get(url, digest) is None:
            try:
                self._write(self._path(url, digest), _key(url) + b"\n" + body)
            except OSError as error:
                raise StoreError(f"page cache {self.folder}: {error}") from error
        return digest

    def get(self, url: str, digest: str) -> bytes | None:
        """Return the body of *url* with that MD5, or None when it is absent, pruned or damaged."""
        try:
            content = gzip.decompress(self._path(url, digest).read_bytes())
        except (OSError, EOFError, zlib.error):
            return None
        key = _key(url) + b"\n"
        body = content[len(key) :]
        return body if content.startswith(key) and body_md5(body) == digest else None

    def forget(self, url: str, *, keep: frozenset[str] = frozenset()) -> int:
        """Delete the bodies of *url* but those whose MD5 is in *keep*; return how many went."""
        name = _name(url)
        doomed = [p for p in self._folder_of(name).glob(f"{name}.*") if p.suffix[1:] not in keep]
        for path in doomed:
            path.unlink(missing_ok=True)
        return len(doomed)

    def prune(self, *, older_than: float, named: frozenset[str] = frozenset()) -> int:
        """Delete bodies written before *older_than* (unix seconds), then the oldest above the quota.

        What is *named* (see :func:`file_name`) outlives the age, and goes last for the quota.
        Returns how many files went.
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

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        # What a killed process left under a temporary name grows old like the rest.
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
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix="~", delete=False) as file:
            try:
                # Level 1: a body is written once and read seldom, and level 6 costs three times as much.
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
    """Return the name of the file that holds the body of *url* with that MD5."""
    return f"{_name(url)}.{digest}"


def body_md5(body: bytes) -> str:
    """Return the MD5 of a body, 32 hexadecimal digits."""
    return hashlib.md5(body).hexdigest()

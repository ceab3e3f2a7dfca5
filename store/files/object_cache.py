"""The page cache on an object store, or on whatever else fsspec has a URL for: ``s3://bucket/prefix``.

Several machines can share it. An object appears whole or not at all (Amazon S3, "data consistency model");
where the place makes no such promise, a half object reads as absent. Each call has a time limit.
Who may write there is up to the environment: AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL and so on.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final

from store.database.failures import of_file
from store.errors import StoreError
from store.files.page_cache import CachedFile, PageCache

_CONNECT_SECONDS: Final = 10
_READ_SECONDS: Final = 30
_ATTEMPTS: Final = 3
# As many as one request to S3 deletes.
_BATCH: Final = 1_000
_PROBE: Final = "~probe"
# What file systems call the time at which a file was written.
_WRITTEN: Final = ("LastModified", "last_modified", "mtime", "updated", "created")
_Errors = tuple[type[Exception], ...]
_USER: Final = re.compile(r"(?<=://)[^/@]*@")


class ObjectCache(PageCache):
    """A page cache at a URL that fsspec knows.

    Raises:
        StoreError: nothing that is installed knows such URLs.
    """

    def __init__(self, url: str, *, quota_bytes: int) -> None:
        super().__init__(quota_bytes)
        self.url = _USER.sub("", url)
        """Without user and password."""
        self._system, self._root = _opened(url)
        self._failures, damages = _errors_of(url)
        self._absent: _Errors = (FileNotFoundError, *damages)

    def check(self) -> None:
        """Write a little and delete it.

        Raises:
            StoreUnavailableError: the place does not answer, or refuses.
        """
        self._write(_PROBE, b"probe")
        self._delete([_PROBE])

    def reach(self) -> None:
        """Ask whether the place is there; write nothing.

        Raises:
            StoreUnavailableError: it does not answer, or there is no such bucket.
        """
        top = self._root.partition("/")[0] or "/"
        with self._errors():
            if not self._system.exists(top):
                raise FileNotFoundError(f"there is no {top}")

    def _has(self, url: str, digest: str) -> bool:
        # To ask costs as much as to write, and a damaged object is written again this way.
        del url, digest
        return False

    def _read(self, path: str) -> bytes | None:
        with self._errors():
            try:
                return bytes(self._system.cat_file(self._at(path)))
            except self._absent:
                return None

    def _write(self, path: str, content: bytes) -> None:
        with self._errors():
            self._system.pipe_file(self._at(path), content)

    def _names(self, folder: str, prefix: str) -> list[str]:
        with self._errors():
            try:
                paths = self._system.ls(self._at(folder), detail=False)
            except FileNotFoundError:
                return []
        names = (str(path).rpartition("/")[2] for path in paths)
        return [name for name in names if name.startswith(prefix)]

    def _delete(self, paths: Iterable[str]) -> None:
        waiting = iter(paths)
        while batch := [self._at(path) for path in islice(waiting, _BATCH)]:
            with self._errors():
                try:
                    self._system.rm(batch)
                except FileNotFoundError:
                    for path in batch:
                        with contextlib.suppress(FileNotFoundError):
                            self._system.rm_file(path)

    def _files(self) -> Iterator[CachedFile]:
        with self._errors():
            try:
                found = self._system.find(self._root, detail=True)
            except FileNotFoundError:
                return
        for path, info in found.items():
            below = str(path).removeprefix(self._root).lstrip("/")
            yield CachedFile(_written(info), int(info.get("size") or 0), below)

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}"

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise of_file(error, f"page cache {self.url}") from error
        except self._failures as error:
            problem = OSError(str(error) or type(error).__name__)
            raise of_file(problem, f"page cache {self.url}") from error


def _is_s3(url: str) -> bool:
    return url.startswith(("s3://", "s3a://"))


def _errors_of(url: str) -> tuple[_Errors, _Errors]:
    """Return what a place raises that is no OSError: when it cannot be used, and of a damaged file."""
    if not _is_s3(url):
        return (), ()
    from botocore.exceptions import BotoCoreError, FlexibleChecksumError  # noqa: PLC0415 - an extra

    return (BotoCoreError,), (FlexibleChecksumError,)


def _opened(url: str) -> tuple[Any, str]:
    """Return the file system, and the cache's folder in it."""
    try:
        from fsspec.core import url_to_fs  # noqa: PLC0415 - an extra, loaded only by those who use it
    except ImportError as error:
        raise StoreError(f"[store] cache = {_USER.sub('', url)!r} {_WAY_OUT}") from error
    options: dict[str, Any] = {"skip_instance_cache": True, "use_listings_cache": False}
    if _is_s3(url):
        limits = {"connect_timeout": _CONNECT_SECONDS, "read_timeout": _READ_SECONDS}
        options["config_kwargs"] = {**limits, "retries": {"total_max_attempts": _ATTEMPTS}}
    try:
        system, root = url_to_fs(url, **options)
    except (ImportError, ValueError) as error:
        raise StoreError(f"[store] cache = {_USER.sub('', url)!r} {_WAY_OUT}: {error}") from error
    return system, str(root).rstrip("/")


_WAY_OUT: Final = (
    "must be empty (the store's folder) or a URL that fsspec knows; for s3:// install the extra: "
    "pip install 'hubwatch[s3]'"
)


def _written(info: dict[str, Any]) -> float:
    """Return when a file was written, unix seconds; endless where nobody says, so that it is kept."""
    for name in _WRITTEN:
        value = info.get(name)
        if isinstance(value, int | float):
            return float(value)
        if isinstance(value, str):
            with contextlib.suppress(ValueError):
                value = datetime.fromisoformat(value)
        if isinstance(value, datetime):
            aware = value if value.tzinfo else value.replace(tzinfo=UTC)
            return aware.timestamp()
    return float("inf")

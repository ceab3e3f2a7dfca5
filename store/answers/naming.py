"""Readable names of sites and of the folder that URLs share. Pure."""

from collections.abc import Callable, Sequence
from itertools import chain, count
from posixpath import commonpath
from urllib.parse import unquote, urlsplit


def free_name(name: str, seed_url: str, is_taken: Callable[[str], bool]) -> str:
    """Return the first site name that *is_taken* rejects.

    Tries *name*, with port, with path, with both; then *seed_url*, then that with a number.
    """
    parts = urlsplit(seed_url)
    port = f":{parts.port}" if parts.port else ""
    path = parts.path.rstrip("/")
    short = (name, name + port, name + path, name + port + path, seed_url)
    numbered = (f"{seed_url}#{number}" for number in count(2))
    return next(one for one in chain(short, numbered) if not is_taken(one))


def folder_of(urls: Sequence[str]) -> str:
    """Return the folder that all *urls* share, such as ``/blog/2007/``, at worst ``/``. Not escaped."""
    if not urls:
        return ""
    shared = commonpath([urlsplit(url).path.rpartition("/")[0] + "/" for url in urls])
    return unquote(shared.rstrip("/")) + "/"


def widened(folder: str, other: str) -> str:
    """Return the folder that two folders share; an empty one does not count."""
    if not folder or not other:
        return folder or other
    rooted = [one if one.startswith("/") else f"/{one}" for one in (folder, other)]
    return commonpath(rooted).rstrip("/") + "/"

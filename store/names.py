"""What a site is called: its host, and as much more of its seed as tells it from the others. Pure."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, count
from urllib.parse import urlsplit


def free_name(name: str, seed_url: str, is_taken: Callable[[str], bool]) -> str:
    """Return the first name of a site that *is_taken* denies.

    In this order: *name*, with the port, with the path, with both; *seed_url*; that with a number.
    """
    parts = urlsplit(seed_url)
    port = f":{parts.port}" if parts.port else ""
    path = parts.path.rstrip("/")
    short = (name, name + port, name + path, name + port + path, seed_url)
    numbered = (f"{seed_url}#{number}" for number in count(2))
    return next(one for one in chain(short, numbered) if not is_taken(one))

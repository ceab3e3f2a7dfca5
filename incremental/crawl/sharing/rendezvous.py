"""Which site is whose: rendezvous hashing (highest random weight), a function of names alone.

Every daemon computes the same answer without asking. When one comes, it takes sites from the others and
moves none between them; when one goes, only its own move.

Source: Thaler and Ravishankar, "Using Name-Based Mappings to Increase Hit Rates", IEEE/ACM Transactions on
Networking 6 (1), 1998, section 3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from incremental.base.errors import InputError

MOST_SHARDS: Final = 1_000
_SHARD: Final = re.compile(r"(\d{1,4})/(\d{1,4})")


@dataclass(frozen=True, slots=True)
class Shard:
    """One of so many daemons, counted from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def read_shard(text: str) -> Shard:
    """Read ``2/8``.

    Raises:
        InputError: it is none, or there is no such shard.
    """
    found = _SHARD.fullmatch(text.strip())
    number, of = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= number <= of <= MOST_SHARDS:
        way_out = f"expected INDEX/COUNT, e.g. 2/8 (at most {MOST_SHARDS})"
        raise InputError("--shard", text[:40], way_out)
    return Shard(number, of)


def weight(key: str, site: int) -> int:
    """Return how much a daemon wants a site: evenly distributed, the same on every machine."""
    digest = blake2b(f"{key} {site}".encode(), digest_size=8).digest()
    return int.from_bytes(digest)


def part_of(daemon: int, keys: Mapping[int, str], sites: Iterable[int]) -> set[int]:
    """Return the *sites* of a daemon; *keys*: what each daemon is chosen by, by its id."""
    if keys.keys() <= {daemon}:
        return set(sites)
    # Ties are practically impossible; broken by id.
    own, others = (keys[daemon], daemon), [(keys[one], one) for one in keys if one != daemon]
    return {
        site
        for site in sites
        if all((weight(own[0], site), own[1]) > (weight(key, site), one) for key, one in others)
    }

"""Which site is whose: rendezvous hashing (highest random weight), a function of ids alone.

Every daemon computes the same answer without asking. When one comes, it takes sites from the others and
moves none between them; when one goes, only its own move.

Source: Thaler and Ravishankar, "Using Name-Based Mappings to Increase Hit Rates", IEEE/ACM Transactions on
Networking 6 (1), 1998, section 3.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from hashlib import blake2b


def weight(daemon: int, site: int) -> int:
    """Return how much a daemon wants a site: evenly distributed, the same on every machine."""
    digest = blake2b(f"{daemon} {site}".encode(), digest_size=8).digest()
    return int.from_bytes(digest)


def part_of(daemon: int, daemons: Collection[int], sites: Iterable[int]) -> set[int]:
    """Return the *sites* of one of the *daemons*, all by id."""
    others = set(daemons) - {daemon}
    # Ties are practically impossible; broken by id.
    return {
        site
        for site in sites
        if all((weight(daemon, site), daemon) > (weight(one, site), one) for one in others)
    }

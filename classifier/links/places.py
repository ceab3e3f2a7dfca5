"""The value of hosts and folders: pages in one folder are often of one topic.

::

    https://host/2019/02/13/java/json.html   ->   host > host/java
    value(place) = (sum of r of the judged pages there + PRIOR value(place above)) / (their number + PRIOR)
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Final
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

# Folders of a path that count.
MAX_DEPTH: Final = 4
# Weight of the place above, in pages. On a wiki where every page links to every other, nothing but folder
# and words distinguishes its parts.
PRIOR: Final = 3.0
# Numeric folders (dates, pages) carry no information and are left out.
_COUNTING: Final = re.compile(r"[\d._-]*")


@lru_cache(maxsize=20_000)
def key_of(text: str) -> int:
    """Return a hash of a URL or a place."""
    # Of 52 bits, which every JSON reader keeps exact.
    digest = blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 12


@lru_cache(maxsize=20_000)
def places_of(url: str) -> tuple[int, ...]:
    """Return the keys of a page's places, its host first; () for an invalid URL."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ()
    if not parts.netloc:
        return ()
    place = parts.netloc.lower()
    places = [place]
    for folder in parts.path.rstrip("/").split("/")[1:-1]:
        if len(places) <= MAX_DEPTH and not _COUNTING.fullmatch(folder):
            place = f"{place}/{folder}"
            places.append(place)
    return tuple(key_of(one) for one in places)


class PlaceValues:
    """The values of judged pages' places; built again whenever a page's value changes."""

    def __init__(
        self, places: Sequence[tuple[int, ...]], values: NDArray[np.float64], mean: float
    ) -> None:
        """Add each page's value to its places; *mean* is the prior of all hosts."""
        self._mean = mean
        self._values: dict[int, float] = {}
        for depth in range(MAX_DEPTH + 1):
            there = [number for number, chain in enumerate(places) if len(chain) > depth]
            if not there:
                break
            keys = np.array([places[number][depth] for number in there])
            unique, first, inverse, counts = np.unique(
                keys, return_index=True, return_inverse=True, return_counts=True
            )
            above = [
                self._values[places[there[index]][depth - 1]] if depth else mean
                for index in first.tolist()
            ]
            sums = np.bincount(inverse, values[there]) + PRIOR * np.array(above)
            self._values.update(
                zip(unique.tolist(), (sums / (counts + PRIOR)).tolist(), strict=True)
            )

    def site(self, places: tuple[int, ...]) -> float:
        """Return the value of a page's host; the overall mean if unknown."""
        return self._values.get(places[0], self._mean) if places else self._mean

    def folder(self, places: tuple[int, ...]) -> float:
        """Return the innermost known folder's value minus its host's."""
        for place in reversed(places[1:]):
            if place in self._values:
                return self._values[place] - self.site(places)
        return 0.0

"""A crawl's memory of links and the value of their targets: bounded, plain numbers.

::

    r(u)    = the examples' opinion of page u and its nearness to them (if unknown, the topic's
              judgement), on the scale of this crawl: 0 = lower third, 1 = best tenth;
              with vectors, mixed with the opinion by meaning on its own scale  (meaning_opinion)
    page u links to targets t;  of these n were fetched, judged r(t)
    hand(u) = (sum of r(t) + OWN r(u) + PRIOR mean) / (n + OWN + PRIOR)     the value of its links
    usual(site) = mean r of the site's pages, drawn to the mean of all      (link_places)
    lift(t) = sum over known parents u of (hand(u) - usual(site of u)) / sqrt(parents + 1)
    site(t) = usual(site of t) - mean
    folder(t) = mean r of the pages in the folder of t - usual(site of t)
"""

import math
from array import array
from collections.abc import Iterable, Mapping
from typing import Any, Final, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from classifier.links.places import PlaceValues, key_of, places_of
from classifier.words.errors import reading

# Beyond this the older half of the pages is dropped.
MAX_PAGES: Final = 5_000
MAX_LINKS_PER_PAGE: Final = 500
# Of all pages together; beyond this the older half of the pages is dropped.
MAX_LINKS: Final = 200_000
# Weight of a page's own relevance for its links, in followed links: first its own counts, then more and more
# the outcome of the links that were followed.
OWN: Final = 3.0
PRIOR: Final = 1.0
# Of a page's value by words; the rest is its nearness.
OPINION_SHARE: Final = 0.35
# Of a page's value, where its meaning is known.
MEANING_SHARE: Final = 0.5
# Vectors distinguish more pages: 1 is the best third.
MEANING_HIGH_SHARE: Final = 0.3
_FEW_PAGES: Final = 20
_LOW_QUANTILE: Final = 0.3
_HIGH_SHARE: Final = 0.1
_LEAST_RANGE: Final = 0.05
# Of the best tenth: where nearly all pages are good, the lower third is not bad.
_LOW_AT_MOST: Final = 0.2
_UNSURE_PAGES: Final = 8.0
# Mean relevance, on a crawl's scale, before any page was judged.
_USUAL: Final = 0.25
_STEEPNESS: Final = 2.0


Likeness = tuple[float | None, float | None]
"""The examples' opinion of a page, 0 to 1, and its cosine to them; None = unknown."""
NOTHING_KNOWN: Final = (None, None)


class _Page(msgspec.Struct, array_like=True):
    """A judged page; the form on disk too."""

    key: int
    places: tuple[int, ...]
    relevance: float
    opinion: float | None
    nearness: float | None
    targets: list[int]
    """Keys of the pages that it links to."""
    meaning: float | None = None
    """The examples' opinion by meaning, on any scale."""


class LinkMemory:
    """Judged pages, their links, and the value each passes on. One per topic; not thread-safe."""

    def __init__(self) -> None:
        # In order of judgement; the places in this list are the numbers below.
        self._pages: list[_Page] = []
        self._numbers: dict[int, int] = {}
        # Key of a target -> numbers of the judged pages that link to it.
        self._parents: dict[int, list[int]] = {}
        # Numbers of judged parents, and of their judged targets.
        self._pairs: tuple[array[int], array[int]] = (array("l"), array("l"))
        self._link_count = 0
        self._hands: NDArray[np.float64] | None = None
        self._values: PlaceValues | None = None
        # The usual value on each judged page's site.
        self._usual: list[float] = []
        self._own: NDArray[np.float64] | None = None
        self._mean = 0.0
        # Of the judgements alone.
        self._judged_mean = 0.0
        self._range = (0.0, 1.0)

    def __len__(self) -> int:
        return len(self._pages)

    def add(
        self,
        url: str,
        relevance: float,
        targets: Iterable[str],
        *,
        parent: str = "",
        likeness: Likeness = NOTHING_KNOWN,
    ) -> None:
        """Remember a judged page and its links; *parent* is a page known to link to it.

        A page judged before gets its new relevance and likeness, and keeps its links.
        """
        key = key_of(url)
        if key in self._numbers:
            self.revalue({url: relevance}, {url: likeness})
            return
        number = self._enter(_Page(key, places_of(url), relevance, *likeness, []))
        parents = set(self._parents.get(key, ()))
        if parent and key_of(parent) in self._numbers:
            parents.add(self._numbers[key_of(parent)])
        for one in sorted(parents):
            self._pair(one, number)
        self._add_links(number, {key_of(target) for target in targets} - {key})
        if len(self) > MAX_PAGES or self._link_count > MAX_LINKS:
            # The younger half stays.
            self._restore(self._pages[len(self) // 2 :])

    def _enter(self, page: _Page) -> int:
        number = self._numbers[page.key] = len(self._pages)
        self._pages.append(page)
        self._hands = None
        return number

    def _add_links(self, number: int, targets: Iterable[int]) -> None:
        self._pages[number].targets = sorted(targets)[:MAX_LINKS_PER_PAGE]
        for target in self._pages[number].targets:
            self._parents.setdefault(target, []).append(number)
            self._link_count += 1
            if target in self._numbers:
                self._pair(number, self._numbers[target])

    def _pair(self, parent: int, child: int) -> None:
        self._pairs[0].append(parent)
        self._pairs[1].append(child)

    def revalue(
        self, relevances: Mapping[str, float], likeness: Mapping[str, Likeness] | None = None
    ) -> None:
        """Update judged pages' relevance and likeness; None changes nothing."""
        for url, relevance in relevances.items():
            if (page := self._judged(url)) is not None:
                page.relevance = relevance
        for url, (opinion, nearness) in (likeness or {}).items():
            if (page := self._judged(url)) is not None:
                page.opinion = page.opinion if opinion is None else opinion
                page.nearness = page.nearness if nearness is None else nearness
        self._hands = None

    def _judged(self, url: str) -> _Page | None:
        number = self._numbers.get(key_of(url))
        return None if number is None else self._pages[number]

    def put_meanings(self, opinions: Mapping[int, float]) -> None:
        """Set the opinion by meaning of judged pages, by key; others keep theirs."""
        for key, opinion in opinions.items():
            if key in self._numbers:
                self._pages[self._numbers[key]].meaning = opinion
        self._hands = None

    def forget_meanings(self) -> None:
        """Forget all opinions by meaning: they were of another space."""
        for page in self._pages:
            page.meaning = None
        self._hands = None

    def lift(self, url: str, shown_by: str = "", likeness: float | None = None) -> float:
        """Return the promise of *url* by its known parents, 0 = usual.

        *shown_by* counts as a parent too; *likeness* is its relevance as the topic judged it, for a
        page that is not remembered here.
        """
        hands = self.hands()
        parents = self._parents.get(key_of(url), [])
        lifts = [float(hands[number]) - self._usual[number] for number in parents]
        if shown_by:
            number = self._numbers.get(key_of(shown_by))
            if number is None and likeness is not None:
                lifts.append((self.scaled(likeness) - self._judged_mean) * OWN / (OWN + PRIOR))
            elif number is not None and number not in parents:
                lifts.append(float(hands[number]) - self._usual[number])
        # Over all parents: on link graphs their number is more informative than the best of them. The root
        # damps the sum by its noise: two good parents count more than one, and the parents of a page in
        # every menu are of all kinds and cancel out.
        return sum(lifts) / math.sqrt(len(lifts) + 1)

    def site(self, url: str) -> float:
        """Return the mean of the host of *url* relative to that of all pages."""
        values = self._place_values()
        return values.site(places_of(url)) - self._mean if values else 0.0

    def folder(self, url: str) -> float:
        """Return the mean of the folder of *url* relative to that of its host."""
        values = self._place_values()
        return values.folder(places_of(url)) if values else 0.0

    def _place_values(self) -> PlaceValues | None:
        self.hands()
        return self._values

    def best_nearness(self, url: str, shown_by: str = "") -> float:
        """Return the nearness of the best known parent to the examples, 0 for none."""
        numbers = set(self._parents.get(key_of(url), ()))
        if shown_by and key_of(shown_by) in self._numbers:
            numbers.add(self._numbers[key_of(shown_by)])
        near = (self._pages[number].nearness for number in numbers)
        return max((value for value in near if value is not None), default=0.0)

    def expected(self, promise: float) -> float:
        """Return a promise as the expected relevance of its page, 0 to 1.

        A promise of 0 gives the mean of the judged pages, the highest that of the best tenth; while few
        pages are judged, general values count too.
        """
        self.hands()
        known = len(self) / (len(self) + _UNSURE_PAGES)
        low, high = self._range[0] * known, self._range[1] * known + 1 - known
        usual = min(max(self._mean * known + _USUAL * (1 - known), _USUAL / 5), 1 - _USUAL / 5)
        odds = math.log(usual / (1 - usual)) + _STEEPNESS * promise
        return low + (high - low) / (1 + math.exp(-min(max(odds, -30.0), 30.0)))

    def value_of_key(self, key: int) -> float:
        """Return r of a judged page by its key; 0 if it is not remembered."""
        self.hands()
        number = self._numbers.get(key)
        return float(self._own[number]) if number is not None and self._own is not None else 0.0

    def scaled(self, relevance: float) -> float:
        """Return a relevance on the scale of this crawl: 0 = lower third so far, 1 = best tenth."""
        # A crawl can only choose between these, however strict its topic's threshold is.
        low, high = self._range
        return min(max((relevance - low) / (high - low), 0.0), 1.0)

    def hands(self) -> NDArray[np.float64]:
        """Return the value that each judged page passes on to its links."""
        if self._hands is None:
            self._hands = self._computed()
        return self._hands

    def _computed(self) -> NDArray[np.float64]:
        count = len(self)
        if not count:
            self._mean, self._judged_mean, self._range = 0.0, 0.0, (0.0, 1.0)
            self._usual, self._values = [], None
            return np.zeros(0)
        raw = np.array([page.relevance for page in self._pages])
        self._range = _range(raw)
        own = _scaled(raw, self._range)
        self._judged_mean = float(own.mean())
        pages = self._pages
        opinions = np.array([page.opinion for page in pages], dtype=np.float64)
        near = np.array([page.nearness for page in pages], dtype=np.float64)
        likeness = ~(np.isnan(opinions) | np.isnan(near))
        if likeness.any():
            # The judgement follows its own feedback and would make the crawl drift; examples do not.
            steady = [
                _scaled(views[likeness], _range(views[likeness])) for views in (opinions, near)
            ]
            own[likeness] = OPINION_SHARE * steady[0] + (1 - OPINION_SHARE) * steady[1]
        meanings = np.array([page.meaning for page in pages], dtype=np.float64)
        known = ~np.isnan(meanings)
        if known.any():
            meant = _scaled(meanings[known], _range(meanings[known], MEANING_HIGH_SHARE))
            own[known] = MEANING_SHARE * meant + (1 - MEANING_SHARE) * own[known]
        self._own = own
        self._mean = float(own.mean())
        self._values = PlaceValues([page.places for page in pages], own, self._mean)
        # Subtracted in lift: it keeps the menus of a good site from coming first.
        self._usual = [self._values.site(page.places) for page in pages]
        parents, children = (np.array(side, dtype=np.int64) for side in self._pairs)
        sums = np.bincount(parents, own[children], count)
        followed = np.bincount(parents, minlength=count)
        # A page that is off topic but led to good pages (a hub) passes their value on, so that a crawl
        # tunnels through it.
        hands: NDArray[np.float64] = (sums + OWN * own + PRIOR * self._mean) / (
            followed + OWN + PRIOR
        )
        return hands

    def _restore(self, pages: list[_Page]) -> None:
        self.__init__()  # type: ignore[misc]  # begins again with what is kept
        for page in pages:
            self._enter(page)
        for number, page in enumerate(pages):
            self._add_links(number, page.targets)

    def to_json(self) -> dict[str, Any]:
        """Return plain data; URLs are stored as hashes."""
        return {"pages": [_rounded(page) for page in self._pages]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read the form of :meth:`to_json`; raises TopicModelError."""
        read = cls()
        with reading("links"):
            read._restore(msgspec.convert(data["pages"][-MAX_PAGES:], list[_Page]))
        return read


def _rounded(page: _Page) -> list[Any]:
    kept = msgspec.to_builtins(page)
    return [round(value, 4) if isinstance(value, float) else value for value in kept]


def _scaled(raw: NDArray[np.float64], limits: tuple[float, float]) -> NDArray[np.float64]:
    low, high = limits
    return np.clip((raw - low) / (high - low), 0.0, 1.0)


def _range(raw: NDArray[np.float64], high_share: float = _HIGH_SHARE) -> tuple[float, float]:
    """Return the bounds of the lower third and the best tenth; of a few pages, the maximum."""
    low = float(np.quantile(raw, _LOW_QUANTILE))
    if len(raw) <= _FEW_PAGES:
        high = float(raw.max())
    else:
        best = max(5, int(len(raw) * high_share))
        high = float(np.sort(raw)[-best:].mean())
    low = min(low, _LOW_AT_MOST * high)
    return low, max(high, low + _LEAST_RANGE)

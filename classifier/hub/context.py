"""Site context: evidence about a URL from the site's other known URLs.

A URL above many others (``/news/`` above ``/news/2024/...``) is likely a hub, one of hundreds with
the same template likely an article. An unknown field adds nothing.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log1p
from statistics import median
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from classifier.hub.evidence import LinkEvidence, UrlParts, split_url

# Context moves log-odds by at most this: behaviour, not layout, overrules a sure classifier.
_LIMIT = 2.5

# Log-odds per unit of ``_size_of``, chosen by hand on recorded sites whose lists are known: weights learned
# on six of the seven sites did worse on the seventh.
# The number and place of pages that show a link have no weight: it is scored when first seen, on one page.
# Links in every page's frame are recognised later, by their behaviour.
_WEIGHTS: Final = {
    "urls_below": 1.2,
    "template_siblings": -0.4,
    "anchor_ratio": -0.4,
}


def adjust_for_context(
    log_odds: NDArray[np.float64], links: Sequence[LinkEvidence]
) -> NDArray[np.float64]:
    """Return log-odds with the site context added."""
    shifts = [sum(added for _, _, added in context_reasons(link)) for link in links]
    if not any(shifts):
        return log_odds
    shifted: NDArray[np.float64] = log_odds + np.clip(shifts, -_LIMIT, _LIMIT)
    return np.clip(shifted, -12.0, 12.0)


def context_reasons(link: LinkEvidence) -> list[tuple[str, float, float]]:
    """Return (field, value, log-odds added) for each known context field of a link."""
    reasons = []
    for name, weight in _WEIGHTS.items():
        value = getattr(link, name)
        if value is not None:
            reasons.append((name, float(value), weight * _size_of(name, float(value))))
    return reasons


def _size_of(name: str, value: float) -> float:
    if name == "anchor_ratio":
        return float(np.clip(np.log2(max(value, 0.1)), -2, 2))
    return log1p(min(value, 1000))


def template_of(parts: UrlParts) -> str:
    """Return a URL's form: numbers become ``N``, the last name ``S`` (slug) or ``W`` (word)."""
    names = ["N" if segment.isdigit() else segment for segment in parts.segments[:-1]]
    if parts.segments:
        names.append(_form_of(parts.stem) + (f".{parts.extension}" if parts.extension else ""))
    keys = sorted(pair.partition("=")[0] for pair in parts.query.split("&") if pair)
    return f"{parts.host}/{'/'.join(names)}?{'&'.join(keys)}"


def _form_of(stem: str) -> str:
    if stem.isdigit():
        return "N"
    long = len(stem) > 20 or stem.count("-") + stem.count("_") > 2  # noqa: PLR2004 - a slug
    return "S" if long or any(letter.isdigit() for letter in stem) else "W"


@dataclass(frozen=True, slots=True)
class SiteIndex:
    """All known URLs of one site, from which each gets its context."""

    # ``host/path/`` of every URL, sorted, so that URLs below one are found by bisection.
    paths: tuple[str, ...]
    siblings: Counter[str]
    """Number of known URLs of each template."""
    anchor_lengths: dict[str, float]
    """Median anchor length of each template."""

    @classmethod
    def build(cls, known: Iterable[tuple[str, str | None]]) -> Self:
        """Build from (URL, anchor or None), duplicates counting once."""
        parts = {url: (split_url(url), anchor) for url, anchor in known}
        lengths: dict[str, list[int]] = defaultdict(list)
        siblings: Counter[str] = Counter()
        for part, anchor in parts.values():
            template = template_of(part)
            siblings[template] += 1
            if anchor:
                lengths[template].append(len(anchor))
        medians = {template: float(median(sizes)) for template, sizes in lengths.items()}
        paths = tuple(sorted({_folder_of(part) for part, _ in parts.values()}))
        return cls(paths, siblings, medians)

    def add_context(self, link: LinkEvidence) -> LinkEvidence:
        """Return the link with its context on this site."""
        parts = split_url(link.url)
        template = template_of(parts)
        usual = self.anchor_lengths.get(template)
        ratio = len(link.anchor) / usual if link.anchor and usual else None
        folder = _folder_of(parts)
        start = bisect_left(self.paths, folder)
        end = bisect_left(self.paths, folder[:-1] + "0")  # "0" follows "/"
        # Not replace(): it costs six times as much, and every unknown link comes here.
        return LinkEvidence(
            url=link.url,
            anchor=link.anchor,
            urls_below=max(end - start - 1, 0),
            template_siblings=max(self.siblings[template] - 1, 0),
            anchor_ratio=ratio,
        )


def _folder_of(parts: UrlParts) -> str:
    path = "/".join(parts.segments)
    if parts.extension and parts.stem in {"index", "default"}:
        path = "/".join(parts.segments[:-1])
    return f"{parts.host}/{path}/" if path else f"{parts.host}/"

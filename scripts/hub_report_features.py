"""What page size and crawl depth add: paper 003's ninth and tenth feature, and our own machine.

Two tables, for ``scripts/report_hub_classifier.py features``. Captured pages have a size and no way to
them; recorded sites have both: their link graph is walked from the home page.
"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import urljoin

import numpy as np
from lab.hub.folded import confusion
from lab.hub.paper import train_paper_url
from lxml import etree, html
from numpy.typing import NDArray
from replay_site import ReplaySite
from sklearn.linear_model import LogisticRegression

from classifier.hub.classifier import HubClassifier
from classifier.hub.evidence import LinkEvidence
from classifier.hub.svm import Pair
from classifier.hub.updating import folds_of
from incremental.base.urls import normalize

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# What a row of a table may know beside URL and anchor.
KNOWN: Final = {
    "neither": (),
    "size": ("page_bytes",),
    "depth": ("crawl_depth",),
    "both": ("page_bytes", "crawl_depth"),
}
FOLDS = 5
# The address of a page that sends its visitors on.
REFRESH = re.compile(r"^\s*\d+\s*;\s*url\s*=\s*['\"]?([^'\"]+)", re.IGNORECASE)
# How often the link graph of a recorded site is walked; what is there at no such moment has no depth.
MOMENTS = 3


@dataclass(frozen=True, slots=True)
class Labelled:
    """Links with size and depth where they are known; every field has one entry a link."""

    links: Sequence[LinkEvidence]
    hubs: Bools
    alone: Floats
    """Log-odds by URL and anchor, of machines that never saw the link's site."""

    def only(self, names: tuple[str, ...]) -> list[LinkEvidence]:
        """Return the links with only the features in *names*."""
        size, depth = ("page_bytes" in names), ("crawl_depth" in names)
        return [
            replace(
                link,
                page_bytes=link.page_bytes if size else None,
                crawl_depth=link.crawl_depth if depth else None,
            )
            for link in self.links
        ]

    def columns(self, names: tuple[str, ...]) -> Floats:
        """Return the log-odds, and the logarithm of each of *names* (0 = unknown)."""
        more = [[np.log1p(getattr(link, name) or 0) for link in self.links] for name in names]
        return np.column_stack([self.alone, *more])


def recorded_site(file: Path, truth: Path, classifier: HubClassifier) -> Labelled:
    """Return the new lists and articles of a recorded site with the size and depth that they had."""
    with truth.open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines, delimiter="\t") if row["linked"]]
    rows = [row for row in rows if row["kind"] in {"list", "article"}]
    site = ReplaySite(file)
    depths: dict[str, int] = {}
    for moment in np.linspace(site.first_ts, site.last_ts, MOMENTS + 1)[1:].tolist():
        for url, depth in depths_at(site, moment).items():
            depths.setdefault(url, depth)
    links = [
        LinkEvidence(
            row["url"],
            page_bytes=len(site.answer(row["url"], float(row["published"])).body) or None,
            crawl_depth=depths.get(normalize(row["url"]) or ""),
        )
        for row in rows
    ]
    hubs = np.array([row["kind"] == "list" for row in rows], dtype=np.bool_)
    return Labelled(links, hubs, classifier.log_odds([LinkEvidence(link.url) for link in links]))


def depths_at(site: ReplaySite, moment: float) -> dict[str, int]:
    """Return how many clicks each page of a site was from its home page at a moment."""
    home = normalize(site.base_url) or site.base_url
    depths, waiting = {home: 0}, deque([home])
    while waiting:
        url = waiting.popleft()
        for link in _links(site.answer(url, moment).body, url):
            if link.startswith(home) and link not in depths:
                depths[link] = depths[url] + 1
                waiting.append(link)
    return depths


def _links(body: bytes, url: str) -> Iterator[str]:
    if url.endswith((".xml", ".txt", ".json")) or not body.strip():
        return
    try:
        tree = html.document_fromstring(body, base_url=url)
    except (etree.LxmlError, ValueError):
        return
    refreshes = (REFRESH.search(node.get("content", "")) for node in tree.iter("meta"))
    addresses = [found[1] for found in refreshes if found]
    addresses += [node.get("href", "") for node in tree.iter("a")]
    for address in addresses:
        link = _joined(url, address)
        if link:
            yield link


def _joined(url: str, address: str) -> str | None:
    try:
        return normalize(urljoin(url, address))
    except ValueError:
        return None


def sites_table(sites: dict[str, Labelled], pair: Pair) -> Iterator[str]:
    """Yield the table's lines: share of a site's URLs judged rightly, by machines of the other sites."""
    yield "| site | URLs | with a depth | " + " | ".join(
        f"{who}, {name}" for who in ("paper", "ours") for name in KNOWN
    )
    yield "| --- " * (3 + 2 * len(KNOWN)) + "|"
    found = []
    for name, site in sites.items():
        others = [other for key, other in sites.items() if key != name]
        shares = [_share(_paper(others, site, names, pair), site.hubs) for names in KNOWN.values()]
        shares += [_share(_ours(others, site, names), site.hubs) for names in KNOWN.values()]
        found.append(shares)
        with_depth = np.mean([link.crawl_depth is not None for link in site.links])
        yield f"| {name} | {len(site.links)} | {with_depth:.0%} | {_row(shares)} |"
    yield f"| mean | | | {_row(np.mean(found, axis=0).tolist())} |"


def _row(shares: Sequence[float]) -> str:
    return " | ".join(f"{share:.3f}" for share in shares)


def _share(values: Floats, hubs: Bools) -> float:
    return float(np.mean((values > 0) == hubs))


# Rows of one site and class that the paper's machine learns: a large site is one opinion.
PER_CLASS = 100


def _paper(
    others: Sequence[Labelled], site: Labelled, names: tuple[str, ...], pair: Pair
) -> Floats:
    links: list[LinkEvidence] = []
    hubs: list[bool] = []
    for other in others:
        for wanted in (True, False):
            places = np.flatnonzero(other.hubs == wanted)[:PER_CLASS].tolist()
            links += [other.only(names)[place] for place in places]
            hubs += [wanted] * len(places)
    machine = train_paper_url(links, np.array(hubs), cost=pair.cost, gamma=pair.gamma)
    return machine.decide_links(site.only(names))


def _ours(others: Sequence[Labelled], site: Labelled, names: tuple[str, ...]) -> Floats:
    weights = np.concatenate([np.full(len(o.hubs), 1 / len(o.hubs)) for o in others])
    learned = LogisticRegression(C=10.0).fit(
        np.vstack([other.columns(names) for other in others]),
        np.concatenate([other.hubs for other in others]),
        sample_weight=100 * weights,
    )
    values: Floats = learned.decision_function(site.columns(names))
    return values


def pages_table(pages: Labelled, domains: Sequence[str], pair: Pair) -> Iterator[str]:
    """Yield the table's lines: captured pages by URL, with and without their size, by folds of domains."""
    yield "| what | precision | recall | F1 |"
    yield "| --- | --- | --- | --- |"
    numbers = folds_of(domains, FOLDS, "features")
    for name in ("neither", "size"):
        for who, judge in (("paper", _paper_of(pair)), ("ours", _ours)):
            values = np.zeros(len(pages.hubs))
            for number in range(FOLDS):
                inside, outside = _part(pages, numbers != number), _part(pages, numbers == number)
                values[numbers == number] = judge([inside], outside, KNOWN[name])
            found = confusion(values > 0, pages.hubs)
            figures = f"{found.precision:.3f} | {found.recall:.3f} | {found.f1:.3f}"
            yield f"| {who}, {name} | {figures} |"


def _paper_of(pair: Pair) -> Callable[[Sequence[Labelled], Labelled, tuple[str, ...]], Floats]:
    def judge(others: Sequence[Labelled], site: Labelled, names: tuple[str, ...]) -> Floats:
        [known] = others
        machine = train_paper_url(known.only(names), known.hubs, cost=pair.cost, gamma=pair.gamma)
        return machine.decide_links(site.only(names))

    return judge


def _part(rows: Labelled, kept: Bools) -> Labelled:
    places = np.flatnonzero(kept).tolist()
    return Labelled([rows.links[place] for place in places], rows.hubs[kept], rows.alone[kept])

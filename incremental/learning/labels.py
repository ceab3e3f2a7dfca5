"""What people say of pages, and what the pages' behaviour says: hub or topic page.

::

    hubwatch label URL hub|topic ── correct ────────┐  acts at once, outranks all else
    nightly: hub_news ── BehaviourRule ── observe ──┼── store ── merged ── training, export
    hubwatch labels import FILE ── import_labels ───┘  for training alone
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from classifier.hub.errors import LabelFileError
from classifier.hub.labels import (
    CRAWL_COLUMNS,
    HUB,
    LABEL_COLUMNS,
    TOPIC,
    Behaviour,
    BehaviourRule,
    LabelRow,
    Said,
    read_labels,
    write_labels,
)
from incremental.crawl.sites import read_scope
from incremental.errors import InputError
from incremental.judge.links import without_mirror
from incremental.judge.mirrors import rules
from incremental.urls import host_of, identity, normalize, registered_domain
from store import Store
from store.enums import HubKind, HubRole, LabelOrigin, PageLabel
from store.values import HubNews, HubRow, LabelEntry, NewHub, SeenLink, SiteRow

RULE = BehaviourRule()
FRAME_HUBS = 8
"""A new page that stands on more hubs than this, and on more than half of its site's, says nothing of any."""
SILENT_PROBABILITY = 1 / 3
"""Probability of a hub from which on a silent page is called a topic page."""
_OBSERVED_ROLES = (HubRole.SEED, HubRole.HOME, HubRole.LIST, HubRole.USER)
"""Feeds and sitemaps are found by other means than their addresses; later pages of a list are read once."""


@dataclass(frozen=True, slots=True)
class Correction:
    """What came of a user's label."""

    url: str
    label: str
    sites: tuple[str, ...]
    """Names of the watched sites where it acts; none = it only trains."""


def correct(store: Store, text: str, label: str, *, now: float) -> Correction:
    """Store a user's label of the URL *text* and let it act on every site in whose scope it lies.

    ``hub`` makes the page a hub that is due now and is never dropped; ``topic`` ends its being one,
    and keeps it from becoming one again.

    Raises:
        InputError: it is no web address, or ``topic`` is said of a seed. Nothing was stored.
    """
    url = normalize(text)
    if url is None:
        raise InputError("url", text[:200], "not a web address")
    where = places(store, url)
    known = [(row, page) for row, address in where for page in pages_at(store, row, address)]
    if label == TOPIC:
        _refuse_seeds(store, url, known)
    url = where[0][1] if where else url
    anchor = next((str(page["anchor"]) for _, page in known if page["anchor"]), "")
    entry = LabelEntry(
        url=url,
        identity=identity(url),
        label=PageLabel(label),
        origin=LabelOrigin.USER,
        at=now,
        anchor=anchor,
        site_id=where[0][0].id if where else None,
    )
    new = (
        NewHub(HubKind.HTML, HubRole.USER, 1.0, "you said that it is a hub", now)
        if label == HUB
        else None
    )
    links = [(row.id, SeenLink(identity(at), at, anchor, hub=new)) for row, at in where]
    store.write.correct(entry, links)
    return Correction(url, label, tuple(row.name for row, _ in where))


def _refuse_seeds(store: Store, url: str, known: list[tuple[SiteRow, dict[str, Any]]]) -> None:
    for row, page in known:
        hub = store.read.hub(page["id"])
        if hub is not None and hub.role == HubRole.SEED:
            raise InputError("url", url, f"{row.name} begins there; `hubwatch remove` ends that")


def places(store: Store, url: str) -> list[tuple[SiteRow, str]]:
    """Return the sites in whose scope a URL lies, each with the address by which it knows the page."""
    found = []
    for row in store.read.sites():
        address = without_mirror(url, rules(json.loads(row.mirrors)))
        if read_scope(row).verdict(address).inside:
            found.append((row, address))
    return found


def pages_at(store: Store, row: SiteRow, url: str) -> list[dict[str, Any]]:
    """Return the columns of a site's page with that address, if it was seen."""
    return [page for page in store.read.find_page(url, identity(url)) if page["site"] == row.id]


def merged(entries: Iterable[LabelEntry]) -> list[LabelEntry]:
    """Return one label a page, that of the highest origin, in the order in which they were said."""
    entries, best = list(entries), dict[str, LabelEntry]()
    for origin in LabelOrigin:  # later members outrank earlier ones
        best |= {entry.identity: entry for entry in entries if entry.origin == origin}
    return sorted(best.values(), key=lambda entry: (entry.at, entry.identity))


def label_rows(entries: Iterable[LabelEntry]) -> list[LabelRow]:
    """Return labels as the classifier learns them; the registered domain keeps a site's rows together."""
    return [
        LabelRow(
            label=entry.label,
            url=entry.url,
            anchor=entry.anchor,
            domain=registered_domain(host_of(entry.url)),
            source=entry.origin,
        )
        for entry in entries
    ]


def export_labels(store: Store) -> tuple[str, int]:
    """Return the text of a label file with one row a page, and the number of rows."""
    rows = [_with_crawl(store, entry, row) for entry, row in _rows_of(store)]
    return write_labels(rows, (*LABEL_COLUMNS, *CRAWL_COLUMNS)), len(rows)


def _rows_of(store: Store) -> list[tuple[LabelEntry, LabelRow]]:
    entries = merged(store.read.labels())
    return list(zip(entries, label_rows(entries), strict=True))


def _with_crawl(store: Store, entry: LabelEntry, row: LabelRow) -> LabelRow:
    """Return the row with what the crawl knows of its page: size and steps from the seed."""
    if entry.site_id is None:
        return row
    read = store.read
    page = read.known(entry.site_id, [entry.identity]).get(entry.identity)
    if page is None:
        return row
    return replace(row, page_bytes=read.page_size(page.id), crawl_depth=read.crawl_depth(page.id))


def import_labels(store: Store, path: Path, *, now: float) -> tuple[int, int]:
    """Store the labels of a file, for training; return how many rows it has and how many said something new.

    Raises:
        LabelFileError: names the line. Nothing was stored.
    """
    said: dict[str, Said] = {}
    rows = read_labels(path, said)
    entries = []
    for place, row in enumerate(rows):
        url = normalize(row.url)
        if url is None:
            problem = f"URL {row.url[:100]!r} is no web address"
            raise LabelFileError(path, _line_of(path, place), problem)
        entries.append(
            LabelEntry(
                url, identity(url), PageLabel(row.label), LabelOrigin.IMPORTED, now, row.anchor
            )
        )
    return len(rows), store.write.put_labels(entries)


def _line_of(path: Path, place: int) -> int:
    """Return the line of a file's row, counted from 1; blank lines are no rows."""
    lines = path.read_text(encoding="utf-8-sig").split("\n")
    return [n for n, line in enumerate(lines, start=1) if line.rstrip("\r")][place + 1]


def observe(store: Store, now: float) -> int:
    """Let the pages' behaviour write labels; return how many are new or changed."""
    changed = 0
    for row in store.read.sites():
        hubs = store.read.hubs(row.id)
        labels = _judge(_behaviours(store, row.id, hubs))
        said = {one.identity: one for one in store.read.site_labels(row.id, LabelOrigin.BEHAVIOUR)}
        entries = [_entry(store, hub, label, now) for hub, label in labels if label is not None]
        silent = [hub.identity for hub, label in labels if label is None and hub.identity in said]
        changed += store.write.put_labels(entries)
        store.write.forget_labels(
            [one for one in silent if said[one].label == TOPIC], LabelOrigin.BEHAVIOUR
        )
    return changed


def _behaviours(
    store: Store, site_id: int, hubs: list[HubRow]
) -> list[tuple[HubRow, Behaviour, Behaviour]]:
    """Return the hubs that can be judged with what they did: in all, and without the site's frame."""
    judged = [
        hub
        for hub in hubs
        if hub.kind == HubKind.HTML and hub.role in _OBSERVED_ROLES and not hub.failures
        if hub.baseline_at is not None and hub.visited_at is not None
    ]
    all_news = store.read.hub_news(site_id)
    own_news = store.read.hub_news(site_id, most_hubs=max(FRAME_HUBS, len(judged) // 2))
    return [
        (
            hub,
            _behaviour(hub, all_news.get(hub.page_id)),
            _behaviour(hub, own_news.get(hub.page_id)),
        )
        for hub in judged
    ]


def _behaviour(hub: HubRow, news: HubNews | None) -> Behaviour:
    brought = news or HubNews()
    return Behaviour(
        visits=hub.visits - 1,
        visits_with_news=brought.visits,
        new_links=brought.new_links,
        watched_seconds=(hub.visited_at or 0.0) - (hub.baseline_at or 0.0),
    )


def _judge(
    behaviours: list[tuple[HubRow, Behaviour, Behaviour]],
) -> list[tuple[HubRow, str | None]]:
    """Return what the visits of each hub say of it, None while that is open.

    Silence speaks against a hub as far as it is rare on its site: on a blog that writes once a month, most
    tags are silent for a year, and are lists all the same. A seed, or a user's hub, that is silent is
    what somebody wants watched.
    """
    lists = [RULE.judge(own) for hub, _, own in behaviours if hub.role == HubRole.LIST]
    silent, brought = lists.count(TOPIC), lists.count(HUB)
    odds = (silent + 1) / (silent + brought + 2)
    labels: list[tuple[HubRow, str | None]] = []
    for hub, behaviour, own in behaviours:
        label = HUB if RULE.judge(own) == HUB else None
        if hub.role == HubRole.LIST and RULE.judge(behaviour) == TOPIC:
            prior = min(max(hub.score, 0.01), 0.99)
            hub_like = prior * odds
            label = TOPIC if hub_like / (hub_like + 1 - prior) < SILENT_PROBABILITY else None
        labels.append((hub, label))
    return labels


def _entry(store: Store, hub: HubRow, label: str, now: float) -> LabelEntry:
    page = store.read.page(hub.page_id)
    return LabelEntry(
        url=hub.url,
        identity=hub.identity,
        label=PageLabel(label),
        origin=LabelOrigin.BEHAVIOUR,
        at=now,
        anchor=page.anchor if page else "",
        site_id=hub.site_id,
    )

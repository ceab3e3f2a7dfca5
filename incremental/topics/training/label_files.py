"""Labels of all origins, for training and in files.

::

    hubwatch label URL hub|article ── corrections ──┐
    nightly: hub_news ── behaviour ─────────────────┼── store ── merged ── training, export
    hubwatch labels import FILE ── import_labels ───┘  for training only
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from classifier.hub.errors import LabelFileError
from classifier.hub.labels import (
    CRAWL_COLUMNS,
    LABEL_COLUMNS,
    LabelRow,
    Said,
    read_labels,
    write_labels,
)
from incremental.base.urls import canonical_key, host_of, normalize, registered_domain
from store import Store
from store.enums import LabelOrigin, PageLabel
from store.values import LabelEntry


def merged(entries: Iterable[LabelEntry]) -> list[LabelEntry]:
    """Return one label per page, of the highest origin, oldest first."""
    entries, best = list(entries), dict[str, LabelEntry]()
    for origin in LabelOrigin:  # later members outrank earlier ones
        best |= {entry.canonical_key: entry for entry in entries if entry.origin == origin}
    return sorted(best.values(), key=lambda entry: (entry.at, entry.canonical_key))


def label_rows(entries: Iterable[LabelEntry]) -> list[LabelRow]:
    """Return labels as training rows."""
    # The registered domain groups a site's rows: in one fold only, or they would judge each other too kindly.
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
    """Return a label file's text, one row per page, and the number of rows."""
    entries = merged(store.read.labels())
    pairs = zip(entries, label_rows(entries), strict=True)
    rows = [_with_crawl(store, entry, row) for entry, row in pairs]
    return write_labels(rows, (*LABEL_COLUMNS, *CRAWL_COLUMNS)), len(rows)


def _with_crawl(store: Store, entry: LabelEntry, row: LabelRow) -> LabelRow:
    if entry.site_id is None:
        return row
    read = store.read
    page = read.known(entry.site_id, [entry.canonical_key]).get(entry.canonical_key)
    if page is None:
        return row
    return replace(row, page_bytes=read.page_size(page.id), crawl_depth=read.crawl_depth(page.id))


def import_labels(store: Store, path: Path, *, now: float) -> tuple[int, int]:
    """Store labels for training only; return the number of rows, and of new or changed labels.

    Raises:
        LabelFileError: names the line. Nothing was stored.
    """
    said: dict[str, Said] = {}
    rows = read_labels(path, said)
    entries = []
    for place, row in enumerate(rows):
        url = normalize(row.url)
        if url is None:
            problem = f"URL {row.url[:100]!r} is not a web address"
            raise LabelFileError(path, _line_of(path, place), problem)
        entries.append(
            LabelEntry(
                url, canonical_key(url), PageLabel(row.label), LabelOrigin.IMPORTED, now, row.anchor
            )
        )
    return len(rows), store.write.put_labels(entries)


def _line_of(path: Path, place: int) -> int:
    """Return the line of a row, from 1, counting blank lines."""
    lines = path.read_text(encoding="utf-8-sig").split("\n")
    return [n for n, line in enumerate(lines, start=1) if line.rstrip("\r")][place + 1]

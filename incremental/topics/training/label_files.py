"""Labels of both origins, for training and in files.

::

    hubwatch label URL hub|article ── corrections ──┬── store ── merged ── training, export
    nightly: hub_news ── behaviour ─────────────────┘
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from classifier.hub.labels import (
    CRAWL_COLUMNS,
    LABEL_COLUMNS,
    LabelRow,
    write_labels,
)
from incremental.base.urls import host_of, registered_domain
from store import Store
from store.enums import LabelOrigin
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

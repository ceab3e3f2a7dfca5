"""Labels of both origins, for training.

::

    hubwatch label URL hub|article ── corrections ──┬── store ── merged ── training
    nightly: hub_news ── behaviour ─────────────────┘
"""

from collections.abc import Iterable

from classifier.hub.labels import LabelRow, write_labels
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
    rows = label_rows(merged(store.read.labels()))
    return write_labels(rows), len(rows)

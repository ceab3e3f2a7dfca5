"""Training of a whole model from label rows and captured pages.

::

    label rows ── URL machine (held-out log-odds of rows and pages) ─┐
    captures ── content features ── content machine ── cascade ──────┴── HubModel + metrics

Every metric in a model was measured on domains that the measured machine had not seen.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classifier.hub.content_features import describe_page
from classifier.hub.labels import LabelRow, labels_hash
from classifier.hub.model import HubModel
from classifier.hub.svm import Pair
from lab.hub import grid
from lab.hub.content_training import PageRows, TrainedContent, train_content
from lab.hub.files import Capture
from lab.hub.folded import FoldedRows, compared, first_rows, sections_of
from lab.hub.url_training import Choose, Probes, TrainedUrlMachine, TrainingRows, train_url_machine


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """How to train; ``search`` or ``found`` must be given."""

    search: grid.Search | None = None
    """Search C and gamma of every machine."""
    found: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What an earlier search found for every machine (:attr:`HubModel.search`), taken over as it is; not
    asked when there is a search."""
    report: Callable[[str], None] = field(default=lambda _: None)
    """Hears a line of each step."""


@dataclass
class _Chooser:
    """Gives each machine its C and gamma, and notes for the manifest where they come from."""

    options: TrainingOptions
    notes: dict[str, Any] = field(default_factory=dict)

    def of(self, name: str) -> Choose:
        return partial(self._choose, name)

    def _choose(self, name: str, rows: FoldedRows, domains: Sequence[str]) -> Pair:
        if self.options.search is None:
            note = dict(self.options.found[name])
        else:
            note = grid.search(name, rows, domains, grid.PLAN, self.options.search)
            self.options.report(f"{name}: C {note['cost']:g}, gamma {note['gamma']:g}")
        self.notes[name] = note
        return Pair(float(note["cost"]), float(note["gamma"]))


def train_model(
    rows: Sequence[LabelRow],
    captures: Sequence[Capture],
    version: str,
    options: TrainingOptions,
) -> HubModel:
    """Train every machine; raises TrainingError when the data cannot.

    At most ten rows a domain and label are learned from. The captures' URLs are learned from too,
    without an anchor.
    """
    chooser = _Chooser(options)
    captures = [captures[place] for place in first_rows([_key(c.row) for c in captures])]
    pages = [capture.row for capture in captures]
    learned = _rows_to_learn(rows, pages)
    hubs = _hubs(learned)
    trained = train_url_machine(
        TrainingRows([row.evidence for row in learned], hubs, [row.domain for row in learned]),
        chooser.of("url"),
        probes=Probes([row.evidence for row in pages], [row.domain for row in pages]),
        report=options.report,
    )
    options.report("content of the captured pages")
    features = np.array([describe_page(c.body, c.row.encoding or None) for c in captures])
    sizes = np.array([len(capture.body) for capture in captures], dtype=np.float64)
    domains = [row.domain for row in pages]
    content = train_content(
        PageRows(features, sizes, _hubs(pages), domains, trained.probed),
        chooser.of("content"),
        chooser.of("joint"),
    )
    return HubModel(
        version=version,
        url=trained.machine,
        content=content.machine,
        cascade=content.cascade,
        checks=trained.checks,
        training=_training_note(learned, pages),
        metrics=_metrics(learned, trained, pages, content),
        search=chooser.notes,
    )


def _rows_to_learn(rows: Sequence[LabelRow], pages: Sequence[LabelRow]) -> list[LabelRow]:
    """Return all rows, each URL once."""
    known = {row.url for row in rows}
    joined = [*rows, *(row for row in pages if row.url not in known)]
    return [joined[place] for place in first_rows([_key(row) for row in joined])]


def _key(row: LabelRow) -> tuple[str, str]:
    return row.domain, row.label


def _hubs(rows: Sequence[LabelRow]) -> NDArray[np.bool_]:
    return np.array([row.is_hub for row in rows], dtype=bool)


def _training_note(rows: Sequence[LabelRow], pages: Sequence[LabelRow]) -> dict[str, Any]:
    return {
        "rows": len(rows),
        "hubs": int(_hubs(rows).sum()),
        "domains": len({row.domain for row in rows}),
        "pages": len(pages),
        "hub_pages": int(_hubs(pages).sum()),
        "sha256": labels_hash([*rows, *pages]),
    }


def _metrics(
    rows: Sequence[LabelRow],
    trained: TrainedUrlMachine,
    pages: Sequence[LabelRow],
    content: TrainedContent,
) -> dict[str, Any]:
    """Scores by five folds of domains."""
    hubs = _hubs(rows)
    page_hubs = _hubs(pages)
    return {
        "how": (
            "Five-fold cross-validation by domain: each URL is judged by models that never saw "
            "its domain."
        ),
        "urls": {
            name: _score(trained.held_out[inside] > 0, hubs[inside])
            for name, inside in sections_of(rows).items()
        },
        "pages": {
            "url": _score(trained.probed > 0, page_hubs),
            "content": _score(content.held_out > 0, page_hubs),
            "cascade": _score(content.held_out_cascade > 0, page_hubs),
        },
    }


def _score(predicted: NDArray[np.bool_], hubs: NDArray[np.bool_]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in compared(predicted, hubs).items()}

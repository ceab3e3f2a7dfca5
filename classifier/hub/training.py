"""Training of a whole model from label rows and captured pages.

::

    label rows ── URL machine (held-out log-odds of rows and pages) ─┐
    captures ── content features ── content machine ── cascade ──────┴── HubModel + metrics
                               └── rivals

Every metric in a model was measured on domains that the measured machine had not seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from classifier.evaluation import Outcome, confusion
from classifier.hub import grid, paper, rivals
from classifier.hub.content_features import describe_page
from classifier.hub.content_training import TrainedContent, train_content
from classifier.hub.folds import first_rows
from classifier.hub.labels import LabelRow, labels_hash
from classifier.hub.model import HubModel
from classifier.hub.url_training import Probes, TrainedUrlMachine, TrainingRows, train_url_machine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from classifier.hub.captures import Capture

PAPER_COST = 32.0
PAPER_GAMMA = 0.0625
"""Paper 003's best pair on 2,000 rows."""
PAPER_CONTENT_COST = 1024.0
PAPER_CONTENT_GAMMA = 4.0
"""Found by :func:`classifier.hub.grid.search` on the captured pages; the paper gives none. Its pair for
URLs calls every page a topic: counts scaled by their maximum crowd at -1."""


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """How to train; the defaults are those of the shipped model."""

    search: bool = False
    """Search C and gamma of the paper's machines by ten-fold grid instead of taking its best."""
    tell: Callable[[str], None] = field(default=lambda _: None)
    """Hears a line of each step."""


def train_model(
    rows: Sequence[LabelRow],
    captures: Sequence[Capture],
    version: str,
    options: TrainingOptions | None = None,
) -> HubModel:
    """Train every machine; raises TrainingError when the data cannot.

    At most ten rows a domain and label are learned from. The captures' URLs are learned from too,
    without an anchor.
    """
    options = options or TrainingOptions()
    captures = [captures[place] for place in first_rows([_key(c.row) for c in captures])]
    learned = _rows_to_learn(rows, [capture.row for capture in captures])
    hubs = _hubs(learned)
    pages = [capture.row for capture in captures]
    trained = train_url_machine(
        TrainingRows([row.evidence for row in learned], hubs, [row.domain for row in learned]),
        probes=Probes([row.evidence for row in pages], [row.domain for row in pages]),
        tell=options.tell,
    )
    options.tell("content of the captured pages")
    features = np.array([describe_page(c.body, c.row.encoding or None) for c in captures])
    content = train_content(features, _hubs(pages), [row.domain for row in pages], trained.probed)
    options.tell("the paper's machines")
    paper_rows = paper_rows_of(learned)
    return HubModel(
        version=version,
        url=trained.machine,
        content=content.machine,
        cascade=content.cascade,
        paper_url=_paper_url([learned[place] for place in paper_rows], options),
        paper_content=_paper_content(features, _hubs(pages), options),
        heuristic=rivals.HeuristicBayes.fit(features, _hubs(pages)),
        checks=trained.checks,
        training=_training_note(learned, pages),
        metrics=_metrics(learned, trained, pages, content),
    )


def paper_rows_of(rows: Sequence[LabelRow], size: int = grid.SEARCH_ROWS) -> list[int]:
    """Return the places of a balanced sample, as the paper's training sets are."""
    return grid.balanced_sample(_hubs(rows), [row.domain for row in rows], size)


def _rows_to_learn(rows: Sequence[LabelRow], pages: Sequence[LabelRow]) -> list[LabelRow]:
    known = {row.url for row in rows}
    joined = [*rows, *(row for row in pages if row.url not in known)]
    return [joined[place] for place in first_rows([_key(row) for row in joined])]


def _key(row: LabelRow) -> tuple[str, str]:
    return row.domain, row.label


def _hubs(rows: Sequence[LabelRow]) -> NDArray[np.bool_]:
    return np.array([row.is_hub for row in rows], dtype=bool)


def _paper_url(rows: Sequence[LabelRow], options: TrainingOptions) -> paper.PaperMachine:
    links = [row.evidence for row in rows]
    hubs = _hubs(rows)
    if not options.search:
        return paper.train_paper_url(links, hubs, cost=PAPER_COST, gamma=PAPER_GAMMA)
    values = paper.learn_values([row.evidence for row in rows if row.is_hub])
    described = paper.describe_as_paper(links, values)
    best = _search("paper_url", described, hubs, options)
    return paper.train_paper_url(links, hubs, cost=best.cost, gamma=best.gamma)


def _paper_content(
    features: NDArray[np.float64], hubs: NDArray[np.bool_], options: TrainingOptions
) -> paper.PaperMachine:
    rows = rivals.paper_content_rows(features)
    if not options.search:
        return rivals.train_paper_content(
            rows, hubs, cost=PAPER_CONTENT_COST, gamma=PAPER_CONTENT_GAMMA
        )
    best = _search("paper_content", rows, hubs, options)
    return rivals.train_paper_content(rows, hubs, cost=best.cost, gamma=best.gamma)


def _search(
    name: str,
    rows: NDArray[np.float64],
    hubs: NDArray[np.bool_],
    options: TrainingOptions,
) -> grid.GridPoint:
    def progress(done: int, total: int, point: grid.GridPoint) -> None:
        options.tell(
            f"{name}: {done} of {total}: C {point.cost:g}, gamma {point.gamma:g}:"
            f" {point.accuracy:.4f}"
        )

    scaled = paper.apply_known(paper.scale_known(rows), rows)
    return grid.search(scaled, hubs, progress=progress)


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
    sections = {
        "all": np.ones(len(rows), dtype=bool),
        "no_root": np.array([not row.is_root for row in rows], dtype=bool),
        "zh": np.array([row.lang == "zh" for row in rows], dtype=bool),
    }
    page_hubs = _hubs(pages)
    return {
        "how": "five folds by domain; every row judged by machines that never saw its domain",
        "urls": {
            name: _score(trained.held_out[inside] > 0, hubs[inside])
            for name, inside in sections.items()
        },
        "pages": {
            "url": _score(trained.probed > 0, page_hubs),
            "content": _score(content.held_out > 0, page_hubs),
            "cascade": _score(content.held_out_cascade > 0, page_hubs),
        },
    }


def _score(predicted: NDArray[np.bool_], hubs: NDArray[np.bool_]) -> dict[str, float]:
    outcome: Outcome = confusion(predicted, hubs)
    return {
        "precision": round(outcome.precision, 4),
        "recall": round(outcome.recall, 4),
        "f1": round(outcome.f1, 4),
        "n": outcome.n,
    }

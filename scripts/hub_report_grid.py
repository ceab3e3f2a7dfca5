"""The grids of a model's search as heat maps, for ``scripts/report_hub_classifier.py grid``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from lab.hub.grid import GridResult, GridStage

from classifier.hub.model import HubModel

# What the crawler uses; the paper's two machines are in the manifest, too.
MACHINES = ("url", "content", "joint")
DOTS_PER_INCH = 80
# Everything this much below the best, and worse, has one colour: what matters lies near the top.
FALL_SHOWN = 0.03


def draw_grids(model: HubModel, out: Path) -> None:
    """Draw coarse and fine grid of each machine: mean and deviation of each pair, the winner framed.

    Raises:
        KeyError: the model's manifest keeps no grids.
    """
    import matplotlib as mpl  # noqa: PLC0415 - the other reports need none

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "grids"
    from matplotlib import pyplot as plt  # noqa: PLC0415 - after the choice of back end

    figure, axes = plt.subplots(2, len(MACHINES), figsize=(13, 6.4), layout="constrained")
    for column, name in enumerate(MACHINES):
        found = GridResult.from_json(model.search[name])
        for row, stage in enumerate((found.coarse, found.fine)):
            axis = axes[row, column]
            _panel(axis, stage)
            kind = ("coarse", "fine")[row]
            axis.set_title(
                f"{name}, {kind}: {found.measure}, {stage.folds} folds of {stage.rows} rows",
                fontsize=9,
            )
        _frame(axes[1, column], found)
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=DOTS_PER_INCH, metadata={"Software": None})


def _panel(axis: Any, stage: GridStage) -> None:  # noqa: ANN401 - matplotlib has few types
    costs, gammas = _axes_of(stage)
    scores = np.full((len(gammas), len(costs)), np.nan)
    for point in stage.points:
        scores[gammas.index(point.gamma), costs.index(point.cost)] = point.score
    best = float(np.nanmax(scores))
    axis.imshow(
        scores, origin="lower", aspect="auto", cmap="viridis", vmin=best - FALL_SHOWN, vmax=best
    )
    for point in stage.points:
        dark = point.score < best - FALL_SHOWN / 2
        axis.text(
            costs.index(point.cost),
            gammas.index(point.gamma),
            f"{point.score:.3f}\n±{point.deviation:.3f}",
            ha="center",
            va="center",
            fontsize=8,
            color="white" if dark else "black",
        )
    axis.set_xticks(range(len(costs)), [f"{cost:g}" for cost in costs])
    axis.set_yticks(range(len(gammas)), [f"2^{np.log2(gamma):.0f}" for gamma in gammas])
    axis.set_xlabel("C", fontsize=8)
    axis.set_ylabel("gamma", fontsize=8)


def _axes_of(stage: GridStage) -> tuple[list[float], list[float]]:
    return sorted({p.cost for p in stage.points}), sorted({p.gamma for p in stage.points})


def _frame(axis: Any, found: GridResult) -> None:  # noqa: ANN401 - matplotlib has few types
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - heavy

    costs, gammas = _axes_of(found.fine)
    place = costs.index(found.pair.cost), gammas.index(found.pair.gamma)
    corner = place[0] - 0.48, place[1] - 0.48
    axis.add_patch(Rectangle(corner, 0.96, 0.96, fill=False, edgecolor="red", linewidth=2))

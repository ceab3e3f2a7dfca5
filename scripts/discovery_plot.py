"""Curves of the discovery benchmark: harvest and sites per fifth of the run, a column for each topic."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def plot(report: dict[str, Any], pages: int, path: Path) -> None:
    """Draw the harvest in each fifth (above) and the sites found up to its end (below)."""
    import matplotlib as mpl  # noqa: PLC0415 - heavy

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415 - heavy

    size = (2.6 * len(report), 4.6)
    figure, panels = plt.subplots(2, len(report), figsize=size, squeeze=False, layout="constrained")
    for column, (topic, found) in enumerate(report.items()):
        upper, lower = panels[:, column]
        for name, row in found["operators"].items():
            _draw(upper, lower, name, row, pages)
        upper.set(title=topic, ylim=(0, None))
        lower.set(xlabel="pages read", ylim=(0, None))
        for panel in (upper, lower):
            panel.grid(alpha=0.3)
            panel.tick_params(labelsize="x-small")
    panels[0, 0].set_ylabel("harvest in the fifth")
    panels[1, 0].set_ylabel("sites so far")
    handles, names = panels[0, 0].get_legend_handles_labels()
    columns = min(len(names), 3 * len(report))
    figure.legend(handles, names, loc="outside lower center", ncols=columns, fontsize="small")
    figure.savefig(path, dpi=90)
    plt.close(figure)


def _draw(upper: Any, lower: Any, name: str, row: dict[str, Any], pages: int) -> None:  # noqa: ANN401 - untyped
    """Draw one strategy, up to the fifth in which it ended."""
    step = pages / len(row["by_fifth"])
    fifths = [one for place, one in enumerate(row["by_fifth"]) if place * step < row["read"]]
    ends = [step * number for number in range(1, len(fifths) + 1)]
    width = 2.4 if name == "bandit" else 1.0
    for panel, value in ((upper, "harvest"), (lower, "sites")):
        panel.plot(ends, [one[value] for one in fifths], label=name, linewidth=width, marker=".")

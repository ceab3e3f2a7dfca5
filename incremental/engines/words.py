"""The engine in words, for people who read English."""

from __future__ import annotations

from incremental.engines.visits import EngineReport


def engine_in_words(engine: EngineReport) -> str:
    """Return what runs the visits, and how many at a time."""
    at_once = _counted(engine.workers, "visit", "visits")
    if engine.kind == "threads":
        where = "threads of the daemon"
    elif engine.kind == "processes":
        where = _counted(engine.processes, "process", "processes")
    else:
        where = f"Dask at {engine.address}, {_counted(engine.processes, 'worker', 'workers')}"
    return f"{where}, {at_once} at a time"


def _counted(number: int, one: str, more: str) -> str:
    return f"{number} {one if number == 1 else more}"

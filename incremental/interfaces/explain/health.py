"""The daemon's health and the quarantine, as ``status`` and the API give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from incremental.daemon.health import HealthReport
from incremental.daemon.pulse import STALE_SECONDS
from incremental.visit.engines.visits import EngineReport
from store import Store
from store.daemons import DaemonRow

MOST_QUARANTINED = 50


def health_facts(report: HealthReport | None, now: float) -> dict[str, Any] | None:
    """Return a report as plain data; None without one. Times are unix seconds, UTC."""
    if report is None:
        return None
    silent = now - report.at > STALE_SECONDS
    return {
        "at": report.at,
        "state": report.state.value,
        "well": report.well and not silent,
        "silent": silent,
        "started_at": report.started_at,
        "visits_under_way": report.visits_under_way,
        "engine": _engine_facts(report.engine),
        "problems": [
            {
                "kind": one.kind.value,
                "feature": one.feature,
                "detail": one.detail,
                "since": one.since,
            }
            for one in report.problems
        ],
        "jobs": [
            {
                "name": job.name,
                "began_at": job.began_at,
                "ended_at": job.ended_at,
                "next_at": job.next_at,
                "failures": job.failures,
                "error": job.error,
            }
            for job in report.jobs
        ],
    }


def _engine_facts(engine: EngineReport | None) -> dict[str, Any] | None:
    if engine is None:
        return None
    return {
        "kind": engine.kind,
        "workers": engine.workers,
        "processes": engine.processes,
        "address": engine.address,
        "waits": engine.waits,
        "refused": list(engine.refused),
        "in_words": engine.text(),
    }


def daemons_facts(rows: Sequence[DaemonRow]) -> list[dict[str, Any]]:
    """Return the daemons that share a PostgreSQL store, the oldest first; none in a SQLite file."""
    return [
        {
            "name": row.name,
            "shard": None if row.shard is None else f"{row.shard}/{row.shards}",
            "sites": row.sites,
            "heartbeat_seconds": round(row.beat_age, 1),
            "lives": row.lives,
            "is_leader": row.is_leader,
            "version": row.version,
        }
        for row in rows
    ]


def quarantine_facts(store: Store) -> list[dict[str, Any]]:
    """Return what met a bug, the latest failure first, with the traces."""
    rows = store.quarantine.entries(limit=MOST_QUARANTINED)
    urls = store.quarantine.urls(rows)
    return [
        {
            "kind": row.kind.value,
            "key": row.key,
            "url": urls.get(row.id),
            "purpose": row.purpose,
            "at": row.at,
            "again_at": row.again_at,
            "times": row.times,
            "version": row.version,
            "error": row.error,
            "trace": row.trace,
        }
        for row in rows
    ]

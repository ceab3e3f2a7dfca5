"""Discovery results for JSON: runs, rounds, proposals."""

from __future__ import annotations

import json
from typing import Any

from store import Store
from store.discovery import ProposalRow, RoundRow, RunRow
from store.enums import ProposalState


def discovery_facts(store: Store, topic_id: int) -> dict[str, Any]:
    """Return the last run of a topic (None = no run yet), its rounds, and proposal counts by state."""
    last = store.discovery.last_run(topic_id)
    rounds = store.discovery.rounds(last.id) if last is not None else []
    return {
        "run": run_facts(last) if last is not None else None,
        "proposals": store.discovery.proposal_counts().get(topic_id, {}),
        "rounds": [round_facts(one) for one in rounds],
    }


def run_facts(row: RunRow) -> dict[str, Any]:
    """Return a run; *rounds* and *pages* are its limits."""
    names = ("id", "status", "why", "rounds", "pages", "started_at", "ended_at")
    return {name: getattr(row, name) for name in names}


def round_facts(row: RoundRow) -> dict[str, Any]:
    """Return a round; score None = operator not tried before."""
    return {
        "number": row.number,
        "operator": row.operator,
        "scores": json.loads(row.scores),
        "asked": row.asked,
        "read": row.found,
        "new_sites": row.sites,
        "reward": row.reward,
        "note": row.note,
        "at": row.at,
    }


def proposal_facts(row: ProposalRow) -> dict[str, Any]:
    """Return a proposed site with its best pages and hubs."""
    pages, hubs = json.loads(row.pages), json.loads(row.hubs)
    return {
        "site": row.host,
        "state": row.state,
        "score": row.score,
        "why": row.why,
        "pages": [{"url": url, "title": title, "score": score} for url, title, score in pages],
        "hubs": [{"url": url, "probability": score} for url, score in hubs],
        "proposed_at": row.proposed_at,
        "decided_at": row.decided_at,
    }


def open_proposals(store: Store) -> dict[int, int]:
    """Count the undecided proposals by topic."""
    counts = store.discovery.proposal_counts()
    return {topic: states.get(ProposalState.PROPOSED, 0) for topic, states in counts.items()}

"""Discovery results: runs, rounds, proposals."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from incremental.base.texts import read_text
from incremental.features.discovery.operators import SEARCHING
from incremental.interfaces.results.schema import result_of
from store import Store
from store.discovery.values import ProposalRow, ProposalState, RoundRow, RunRow


@dataclass(frozen=True, slots=True)
class ProposedPage:
    """A page of a proposed site and its ranking score."""

    url: str
    title: str
    score: float


@dataclass(frozen=True, slots=True)
class ProposedHub:
    """A likely hub of a proposed site."""

    url: str
    probability: float


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed site with its best pages and hubs, and the user's decision."""

    site: str
    state: str
    score: float
    why: str
    pages: list[ProposedPage]
    hubs: list[ProposedHub]
    proposed_at: datetime
    decided_at: datetime | None


@dataclass(frozen=True, slots=True)
class Run:
    """A discovery run."""

    id: int
    status: str
    """running (or interrupted, to be resumed), done, stopped."""
    why: str
    rounds: int
    """Limit."""
    pages: int
    """Limit of pages read."""
    started_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class Round:
    """One round: the chosen operator and its result."""

    number: int
    operator: str
    scores: dict[str, float | None]
    """Operators' scores at the choice; null = not tried before."""
    asked: int
    read: int
    new_sites: int
    reward: float
    note: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Discovery:
    """The last run of a topic."""

    run: Run | None
    """null = no run yet."""
    proposals: dict[str, int]
    """Number of sites by state."""
    rounds: list[Round]
    skipped: list[str]
    """Operators without a search provider."""


def discovery_of(store: Store, topic_id: int) -> Discovery:
    """Return the last run of a topic."""
    last = store.discovery.last_run(topic_id)
    found = store.discovery.rounds(last.id) if last is not None else []
    rounds = [_round_of(one) for one in found]
    return Discovery(
        run=None if last is None else run_of(last),
        proposals=store.discovery.proposal_counts().get(topic_id, {}),
        rounds=rounds,
        skipped=[name for name in SEARCHING if rounds and name not in rounds[-1].scores],
    )


def run_of(row: RunRow) -> Run:
    """Return a run."""
    return result_of(Run, row, why=read_text(row.why))


def _round_of(row: RoundRow) -> Round:
    scores = json.loads(row.scores)
    return result_of(Round, row, scores=scores, read=row.found, new_sites=row.sites)


def proposal_of(row: ProposalRow) -> Proposal:
    """Return a proposed site."""
    pages = [ProposedPage(*page) for page in json.loads(row.pages)]
    hubs = [ProposedHub(*hub) for hub in json.loads(row.hubs)]
    return result_of(Proposal, row, site=row.host, pages=pages, hubs=hubs, why=read_text(row.why))


def open_proposals(store: Store) -> dict[int, int]:
    """Count the undecided proposals by topic."""
    counts = store.discovery.proposal_counts()
    return {topic: states.get(ProposalState.PROPOSED, 0) for topic, states in counts.items()}

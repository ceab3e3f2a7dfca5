"""Discovery results: the last run, proposals."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from incremental.base.texts import read_text
from incremental.interfaces.results.schema import result_of
from store import Store
from store.discovery.values import ProposalRow, ProposalState, RunRow


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
    """The last run of a topic."""

    why: str
    """Why it ended; empty = it is running, or was interrupted."""
    note: str
    """Errors of the search provider."""
    started_at: datetime
    ended_at: datetime | None


def run_of(row: RunRow) -> Run:
    """Return a run."""
    return result_of(Run, row, why=read_text(row.why))


def proposal_of(row: ProposalRow) -> Proposal:
    """Return a proposed site."""
    pages = [ProposedPage(*page) for page in json.loads(row.pages)]
    hubs = [ProposedHub(*hub) for hub in json.loads(row.hubs)]
    return result_of(Proposal, row, site=row.host, pages=pages, hubs=hubs, why=read_text(row.why))


def open_proposals(store: Store) -> dict[int, int]:
    """Count the undecided proposals by topic."""
    counts = store.discovery.proposal_counts()
    return {topic: states.get(ProposalState.PROPOSED, 0) for topic, states in counts.items()}

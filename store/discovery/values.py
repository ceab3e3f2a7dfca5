"""What a discovery found and proposes."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class ProposalState(StrEnum):
    """The user's decision on a proposed site."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class RunRow:
    """The last run of a topic."""

    why: str
    """Why it ended, a stored text; empty = it runs, or was interrupted."""
    note: str
    """Errors of the search provider."""
    started_at: float
    ended_at: float | None


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page that a run fetched."""

    url: str
    canonical_key: str
    operator: str
    title: str = ""
    text: str = "{}"
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class NewProposal:
    """A site that seems worth watching, with its evidence."""

    host: str
    score: float
    pages: Sequence[tuple[str, str, float]] = ()
    """URL, title and score, best first."""
    hubs: Sequence[tuple[str, float]] = ()
    """URL and hub probability, likeliest first."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class ProposalRow:
    """A proposal and the user's decision. *pages* and *hubs* are JSON."""

    id: int
    host: str
    state: ProposalState
    score: float
    pages: str
    hubs: str
    why: str
    proposed_at: float
    decided_at: float | None

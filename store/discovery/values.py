"""What a discovery found and proposes."""

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
    links: tuple[str, ...] = ()
    """URLs it links to."""


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
class NewProposal:
    """A site that seems worth watching, with its evidence."""

    host: str
    score: float
    why: str
    """A stored text."""
    pages: tuple[ProposedPage, ...]
    """Best first."""
    hubs: tuple[ProposedHub, ...]
    """Likeliest first."""


@dataclass(frozen=True, slots=True)
class ProposalRow(NewProposal):
    """A proposal and the user's decision."""

    id: int
    state: ProposalState
    proposed_at: float

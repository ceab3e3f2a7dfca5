"""The workers of a cluster: which may be given visits, and how much each has to do. Plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from incremental.texts import Text

# Its beginning, and when it is given up.
_RETIREMENT = frozenset({"closing_gracefully", "running"})


@dataclass(slots=True)
class Worker:
    """A worker that the scheduler knows."""

    address: str
    threads: int
    refusal: str | None = None
    """Why it gets no visits; empty = it may have some; None = not known yet."""
    visits: int = 0
    """Under way."""

    @property
    def accepted(self) -> bool:
        """Whether it may have visits."""
        return self.refusal == ""


@dataclass(slots=True)
class Roster:
    """The workers at hand."""

    workers: dict[str, Worker] = field(default_factory=dict)
    """By address."""

    def update(self, there: Mapping[str, int]) -> tuple[list[str], list[str]]:
        """Take in the workers and their threads; return who has come, and who is gone."""
        come = [address for address in there if address not in self.workers]
        gone = [address for address in self.workers if address not in there]
        for address in come:
            self.workers[address] = Worker(address, there[address])
        for address in gone:
            del self.workers[address]
        return come, gone

    @property
    def accepted(self) -> list[Worker]:
        """Those that may have visits."""
        return [one for one in self.workers.values() if one.accepted]

    def not_known(self) -> list[str]:
        """Return the addresses of those that have not introduced themselves."""
        return [one.address for one in self.workers.values() if one.refusal is None]

    @property
    def unknown(self) -> int:
        """How many have not introduced themselves."""
        return len(self.not_known())

    @property
    def most(self) -> int:
        """How many visits they can make at a time."""
        return sum(one.threads for one in self.accepted)

    def choose(self) -> Worker | None:
        """Return the worker with the least to do for its size; None = there is none."""
        return min(self.accepted, key=lambda one: one.visits / max(one.threads, 1), default=None)

    def refused(self) -> Iterable[str]:
        """Say who is refused, and why."""
        for one in self.workers.values():
            if one.refusal:
                yield Text("health.worker_refused", address=one.address, reason=one.refusal)


def was_stopped(events: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether the last worker that left an address was stopped on purpose.

    *events*: Dask's of that address, oldest first. A worker that is closed or retired tells the scheduler so
    before it goes; one that is killed, or whose process crashes, does not.
    """
    closes = stopped = False
    for event in events:
        match event.get("action"):
            case "add-worker":
                closes = False
            case "closing-worker":
                # Dask closes a worker that meets a bug of its own, which a visit may have caused.
                closes = not str(event.get("reason")).endswith("fail-hard")
            case "worker-status-change" if event.get("status") in _RETIREMENT:
                closes = event.get("status") == "closing_gracefully"
            case "remove-worker":
                stopped, closes = closes or bool(event.get("expected")), False
    return stopped


def refusal(theirs: tuple[str, int], ours: tuple[str, int]) -> str:
    """Return why a worker that introduced itself is refused; empty = it is not."""
    if theirs == ours:
        return ""
    return Text(
        "health.worker_version",
        theirs=theirs[0] or "?",
        their_protocol=theirs[1],
        ours=ours[0] or "?",
        our_protocol=ours[1],
    )

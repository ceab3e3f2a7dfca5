"""Domain discovery in the store: runs that go on after a kill, what they read, what they propose.

A round is one transaction: its pages, their links, the run's state and the round itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from peewee import EXCLUDED, chunked, fn

from store.database import storage_errors, writing
from store.models import (
    DiscoveryLink,
    DiscoveryPage,
    DiscoveryRound,
    DiscoveryRun,
    Proposal,
    SearchMeter,
)
from store.reader import Reader
from store.texts import MAX_ADDRESS, MAX_TEXT, storable

MAX_PAGE_TEXT = 40_000
"""Characters of JSON that are kept of one page."""
MAX_LINKS = 300
"""Links kept of one page."""
MAX_PAGES = 5_000
"""Pages kept of one topic's earlier runs, with their links; the oldest go first."""
MAX_RUNS = 100
"""Runs kept of one topic, with their rounds and what they read; the oldest go first."""
_BOUNDS = {
    "title": MAX_TEXT,
    "why": MAX_TEXT,
    "note": MAX_TEXT,
    "host": 300,
    **dict.fromkeys(("url", "identity", "via", "source", "target"), MAX_ADDRESS),
}


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as it stands."""

    id: int
    topic_id: int
    status: str
    why: str
    exploration: str
    rounds: int
    pages: int
    started_at: float
    updated_at: float
    ended_at: float | None


@dataclass(frozen=True, slots=True)
class RoundRow:
    """A round that was carried out."""

    number: int
    operator: str
    scores: str
    asked: int
    found: int
    sites: int
    reward: float
    note: str
    at: float


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page that a run read, with the addresses that it links to."""

    url: str
    identity: str
    host: str
    operator: str
    via: str = ""
    title: str = ""
    text: str = "{}"
    score: float | None = None
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadPageRow:
    """A page that a run read, as it is kept."""

    url: str
    identity: str
    host: str
    operator: str
    via: str
    title: str
    text: str
    score: float | None
    at: float


@dataclass(frozen=True, slots=True)
class NewProposal:
    """A site that seems worth watching."""

    host: str
    score: float
    pages: Sequence[tuple[str, str, float]] = ()
    hubs: Sequence[tuple[str, float]] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class ProposalRow:
    """A proposal and what was said of it. *pages* and *hubs* are JSON."""

    id: int
    topic_id: int
    host: str
    state: str
    score: float
    pages: str
    hubs: str
    why: str
    proposed_at: float
    decided_at: float | None


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """All that a round brought, written in one transaction."""

    run_id: int
    topic_id: int
    round: RoundRow
    exploration: str
    pages: Sequence[ReadPage] = field(default_factory=tuple)


def _columns(model: Any, row: type) -> list[Any]:  # noqa: ANN401 - a peewee model
    return [getattr(model, one.name.removesuffix("_id")) for one in fields(row)]


class Discovery(Reader):
    """The questions and the writes, on one database."""

    # Runs.

    def begin(self, topic_id: int, *, rounds: int, pages: int, now: float) -> int:
        """Record a new run; return its id."""
        row = {
            "topic": topic_id,
            "rounds": rounds,
            "pages": pages,
            "started_at": now,
            "updated_at": now,
        }
        with writing(self._db, self._where):
            return int(DiscoveryRun.insert(row).execute(self._db))

    def run(self, run_id: int) -> RunRow | None:
        """Return one run."""
        return self._one_run(DiscoveryRun.id == run_id)

    def unfinished(self, topic_id: int) -> RunRow | None:
        """Return the run that was cut off, the latest one."""
        return self._one_run((DiscoveryRun.topic == topic_id) & (DiscoveryRun.status == "running"))

    def last_run(self, topic_id: int) -> RunRow | None:
        """Return the latest run of a topic."""
        return self._one_run(DiscoveryRun.topic == topic_id)

    def _one_run(self, which: Any) -> RunRow | None:  # noqa: ANN401 - a peewee expression
        query = DiscoveryRun.select(*_columns(DiscoveryRun, RunRow)).where(which)
        rows = self._rows(query.order_by(DiscoveryRun.id.desc()).limit(1))
        return RunRow(*rows[0]) if rows else None

    def end(self, run_id: int, status: str, why: str, *, now: float) -> None:
        """Say that a run is over, and why; its state, which may be large, is of no more use."""
        with storage_errors(self._where):
            DiscoveryRun.update(
                status=status, why=storable(why), exploration="{}", updated_at=now, ended_at=now
            ).where(DiscoveryRun.id == run_id).execute(self._db)

    def forget(self, topic_id: int, *, pages: int = MAX_PAGES, runs: int = MAX_RUNS) -> None:
        """Drop what a topic's oldest runs left, over these numbers. Proposals stay.

        Not while a run is cut off: it goes on from its pages.
        """
        with writing(self._db, self._where):
            dropped = 0
            for model, most in ((DiscoveryRun, runs), (DiscoveryPage, pages)):
                mine = model.select(model.id).where(model.topic == topic_id)
                last = mine.order_by(model.id.desc()).offset(most).limit(1).scalar(self._db)
                if last is not None:
                    old = (model.topic == topic_id) & (model.id <= last)
                    dropped += model.delete().where(old).execute(self._db)
            if not dropped:
                return
            kept = DiscoveryPage.select(DiscoveryPage.url).where(DiscoveryPage.topic == topic_id)
            DiscoveryLink.delete().where(
                (DiscoveryLink.topic == topic_id) & DiscoveryLink.source.not_in(kept)
            ).execute(self._db)

    def rounds(self, run_id: int) -> list[RoundRow]:
        """Return the rounds of a run in order."""
        query = DiscoveryRound.select(*_columns(DiscoveryRound, RoundRow))
        query = query.where(DiscoveryRound.run == run_id).order_by(DiscoveryRound.number)
        return [RoundRow(*row) for row in self._rows(query)]

    def record(self, record: RoundRecord) -> None:
        """Write a round with its pages and the run's new state."""
        at = record.round.at
        with writing(self._db, self._where):
            row = {"run": record.run_id, **_whole(asdict(record.round))}
            DiscoveryRound.insert(row).on_conflict_ignore().execute(self._db)
            for page in record.pages:
                self._put_page(record, page)
            DiscoveryRun.update(
                exploration=storable(record.exploration, None), updated_at=at
            ).where(DiscoveryRun.id == record.run_id).execute(self._db)

    def _put_page(self, record: RoundRecord, page: ReadPage) -> None:
        values = _whole(asdict(page))
        targets = values.pop("targets")
        values |= {"topic": record.topic_id, "run": record.run_id, "at": record.round.at}
        if len(values["text"]) > MAX_PAGE_TEXT:
            values["text"] = "{}"
        query = DiscoveryPage.insert(values).on_conflict(
            conflict_target=[DiscoveryPage.topic, DiscoveryPage.identity],
            update={
                getattr(DiscoveryPage, name): getattr(EXCLUDED, name)
                for name in ("title", "text", "score", "at")
            },
        )
        query.execute(self._db)
        links = [
            {
                "topic": record.topic_id,
                "source": values["url"],
                "target": storable(one, MAX_ADDRESS),
            }
            for one in dict.fromkeys(targets[:MAX_LINKS])
        ]
        for batch in chunked(links, 100):
            DiscoveryLink.insert_many(batch).on_conflict_ignore().execute(self._db)

    # What was read.

    def pages(self, topic_id: int) -> list[ReadPageRow]:
        """Return all pages that runs of a topic read, in the order in which they were read."""
        query = DiscoveryPage.select(*_columns(DiscoveryPage, ReadPageRow))
        query = query.where(DiscoveryPage.topic == topic_id).order_by(DiscoveryPage.id)
        return [ReadPageRow(*row) for row in self._rows(query)]

    def links(self, topic_id: int) -> list[tuple[str, str]]:
        """Return the links between addresses that runs of a topic saw."""
        query = DiscoveryLink.select(DiscoveryLink.source, DiscoveryLink.target)
        return [
            (str(a), str(b)) for a, b in self._rows(query.where(DiscoveryLink.topic == topic_id))
        ]

    def linkers(self, topic_id: int, url: str, *, limit: int) -> list[str]:
        """Return addresses of pages that link to *url*, as runs of a topic saw them."""
        query = DiscoveryLink.select(DiscoveryLink.source).where(
            (DiscoveryLink.topic == topic_id) & (DiscoveryLink.target == url)
        )
        rows = self._rows(query.order_by(DiscoveryLink.source).limit(limit))
        return [str(source) for (source,) in rows]

    # Proposals.

    def propose(self, topic_id: int, proposals: Iterable[NewProposal], *, now: float) -> None:
        """Record proposals; what was decided on a site stays decided."""
        with writing(self._db, self._where):
            for one in proposals:
                row = _whole(asdict(one)) | {"topic": topic_id, "proposed_at": now}
                row["pages"] = storable(json.dumps(one.pages, ensure_ascii=False), None)
                row["hubs"] = storable(json.dumps(one.hubs, ensure_ascii=False), None)
                query = Proposal.insert(row).on_conflict(
                    conflict_target=[Proposal.topic, Proposal.host],
                    update={
                        getattr(Proposal, name): getattr(EXCLUDED, name)
                        for name in ("score", "pages", "hubs", "why")
                    },
                    where=Proposal.state == "proposed",
                )
                query.execute(self._db)

    def proposals(self, topic_id: int, state: str | None = "proposed") -> list[ProposalRow]:
        """Return proposals in a state (None = all), the best first."""
        query = Proposal.select(*_columns(Proposal, ProposalRow)).where(Proposal.topic == topic_id)
        if state is not None:
            query = query.where(Proposal.state == state)
        rows = self._rows(query.order_by(Proposal.score.desc(), Proposal.id))
        return [ProposalRow(*row) for row in rows]

    def decide(self, proposal_ids: Sequence[int], state: str, *, now: float) -> int:
        """Record what the user said of proposals; return how many were changed."""
        with writing(self._db, self._where):
            query = Proposal.update(state=state, decided_at=now).where(
                Proposal.id.in_(list(proposal_ids)) & (Proposal.state != state)
            )
            return int(query.execute(self._db))

    def proposal_counts(self) -> dict[int, dict[str, int]]:
        """Count proposals by topic id and state."""
        query = Proposal.select(Proposal.topic, Proposal.state, fn.COUNT(Proposal.id))
        counts: dict[int, dict[str, int]] = {}
        for topic, state, number in self._rows(query.group_by(Proposal.topic, Proposal.state)):
            counts.setdefault(topic, {})[state] = number
        return counts

    # Search providers, and leads.

    def meter(self, provider: str) -> str:
        """Return the JSON of how often a provider was asked, or leads were followed; empty = never."""
        rows = self._rows(
            SearchMeter.select(SearchMeter.meter).where(SearchMeter.provider == provider)
        )
        return str(rows[0][0]) if rows else ""

    def put_meter(self, provider: str, meter: str) -> None:
        """Keep how often a provider was asked."""
        row = {"provider": provider, "meter": meter}
        with storage_errors(self._where):
            SearchMeter.insert(row).on_conflict(
                conflict_target=[SearchMeter.provider], update={SearchMeter.meter: EXCLUDED.meter}
            ).execute(self._db)


def _whole(values: Mapping[str, object]) -> dict[str, Any]:
    """Return column values with every text storable; JSON is not cut."""
    return {
        name: storable(value, _BOUNDS.get(name)) if isinstance(value, str) else value
        for name, value in values.items()
    }

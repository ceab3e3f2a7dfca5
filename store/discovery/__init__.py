"""Discovery in the store: resumable runs, the pages they fetched, their proposals.

A round is one transaction: its pages and links, the run's state, the round itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from peewee import fn

from store.database import writing
from store.database.repository import MAX_ROWS, Repository, Shape, batches, upsert
from store.database.texts import MAX_ADDRESS, MAX_TEXT, columns, storable
from store.discovery.values import (
    LinkingPage,
    NewProposal,
    ProposalRow,
    ProposalState,
    ReadPage,
    RoundRecord,
    RoundRow,
    RunRow,
    RunStatus,
)
from store.models import (
    DiscoveryLink,
    DiscoveryPage,
    DiscoveryRound,
    DiscoveryRun,
    Proposal,
    SearchMeter,
)

# JSON characters kept per page.
MAX_PAGE_TEXT = 40_000
# Links kept per page.
MAX_LINKS = 300
# Pages kept per topic, with their links; the oldest are deleted first.
MAX_PAGES = 5_000
# Runs kept per topic, with rounds and pages; the oldest are deleted first.
MAX_RUNS = 100
_BOUNDS = {
    "title": MAX_TEXT,
    "why": MAX_TEXT,
    "note": MAX_TEXT,
    "host": 300,
    **dict.fromkeys(("url", "canonical_key", "via", "source", "target"), MAX_ADDRESS),
}

_RUN = Shape(RunRow, DiscoveryRun)
_ROUND = Shape(RoundRow, DiscoveryRound)
_PAGE = Shape(ReadPage, DiscoveryPage)
_PROPOSAL = Shape(ProposalRow, Proposal)


class Discovery(Repository):
    """Queries and writes, on one database."""

    # Runs.

    def begin(self, topic_id: int, *, rounds: int, pages: int, now: float) -> int:
        """Record a new run; return its id."""
        row = {"topic": topic_id, "rounds": rounds, "pages": pages}
        times = {"started_at": now, "updated_at": now}
        with writing(self._db, self._where):
            return int(DiscoveryRun.insert({**row, **times}).execute(self._db))

    def run(self, run_id: int) -> RunRow | None:
        """Return one run."""
        return self._one_run(DiscoveryRun.id == run_id)

    def unfinished(self, topic_id: int) -> RunRow | None:
        """Return the latest interrupted run."""
        mine = DiscoveryRun.topic == topic_id
        return self._one_run(mine & (DiscoveryRun.status == RunStatus.RUNNING))

    def last_run(self, topic_id: int) -> RunRow | None:
        """Return the latest run of a topic."""
        return self._one_run(DiscoveryRun.topic == topic_id)

    def _one_run(self, which: Any) -> RunRow | None:  # noqa: ANN401 - a peewee expression
        query = _RUN.select().where(which)
        return self._first(_RUN, query.order_by(DiscoveryRun.id.desc()))

    def end(self, run_id: int, status: str, why: str, *, now: float) -> None:
        """Mark a run as ended and clear its state."""
        # The state of an exploration may be large, and only an interrupted run resumes from it.
        over = {"status": status, "why": storable(why), "updated_at": now, "ended_at": now}
        query = DiscoveryRun.update({**over, "exploration": "{}"})
        self._write(query.where(DiscoveryRun.id == run_id))

    def forget(self, topic_id: int, *, pages: int = MAX_PAGES, runs: int = MAX_RUNS) -> None:
        """Delete a topic's oldest runs and pages over these limits; proposals stay."""
        # Not for use while a run is interrupted: it resumes from its pages.
        with writing(self._db, self._where):
            dropped = 0
            for model, most in ((DiscoveryRun, runs), (DiscoveryPage, pages)):
                mine = model.select(model.id).where(model.topic == topic_id)
                last = mine.order_by(model.id.desc()).offset(most).limit(1).scalar(self._db)
                if last is not None:
                    old = (model.topic == topic_id) & (model.id <= last)
                    dropped += model.delete().where(old).execute(self._db)
            if dropped:
                self._drop_links(topic_id)

    def _drop_links(self, topic_id: int) -> None:
        """Delete the links of pages that are gone."""
        kept = DiscoveryPage.select(DiscoveryPage.url).where(DiscoveryPage.topic == topic_id)
        lost = (DiscoveryLink.topic == topic_id) & DiscoveryLink.source.not_in(kept)
        DiscoveryLink.delete().where(lost).execute(self._db)

    def rounds(self, run_id: int) -> list[RoundRow]:
        """Return the rounds of a run in order."""
        query = _ROUND.select().where(DiscoveryRound.run == run_id)
        return self._all(_ROUND, query.order_by(DiscoveryRound.number))

    def record(self, record: RoundRecord) -> None:
        """Write a round with its pages and the run's new state."""
        row = {"run": record.run_id, **columns(asdict(record.round), _BOUNDS)}
        state = {
            "exploration": storable(record.exploration, None),
            "updated_at": record.round.at,
        }
        with writing(self._db, self._where):
            DiscoveryRound.insert(row).on_conflict_ignore().execute(self._db)
            for page in record.pages:
                self._put_page(record, page)
            run = DiscoveryRun.update(state).where(DiscoveryRun.id == record.run_id)
            run.execute(self._db)

    def _put_page(self, record: RoundRecord, page: LinkingPage) -> None:
        values = columns(asdict(page), _BOUNDS)
        targets = values.pop("targets")
        values |= {"topic": record.topic_id, "run": record.run_id, "at": record.round.at}
        if len(values["text"]) > MAX_PAGE_TEXT:
            values["text"] = "{}"
        renewed = ("title", "text", "score", "at")
        upsert(DiscoveryPage, values, ("topic", "canonical_key"), renewed).execute(self._db)
        link = {"topic": record.topic_id, "source": values["url"]}
        for batch in batches(targets[:MAX_LINKS], MAX_ROWS):
            rows = [{**link, "target": storable(one, MAX_ADDRESS)} for one in batch]
            DiscoveryLink.insert_many(rows).on_conflict_ignore().execute(self._db)

    # Fetched pages.

    def pages(self, topic_id: int) -> list[ReadPage]:
        """Return the pages that runs of a topic fetched, in that order."""
        query = _PAGE.select().where(DiscoveryPage.topic == topic_id)
        return self._all(_PAGE, query.order_by(DiscoveryPage.id))

    def links(self, topic_id: int) -> list[tuple[str, str]]:
        """Return (source, target) links that runs of a topic saw."""
        query = DiscoveryLink.select(DiscoveryLink.source, DiscoveryLink.target)
        rows = self._rows(query.where(DiscoveryLink.topic == topic_id))
        return [(str(source), str(target)) for source, target in rows]

    def linkers(self, topic_id: int, url: str, *, limit: int) -> list[str]:
        """Return pages that link to *url*, as runs of a topic saw."""
        query = DiscoveryLink.select(DiscoveryLink.source).where(
            (DiscoveryLink.topic == topic_id) & (DiscoveryLink.target == url)
        )
        return self._column(query.order_by(DiscoveryLink.source).limit(limit))

    # Proposals.

    def propose(self, topic_id: int, proposals: Iterable[NewProposal], *, now: float) -> None:
        """Record proposals."""
        # The user's decision on a site stays.
        with writing(self._db, self._where):
            for one in proposals:
                row = columns(asdict(one), _BOUNDS) | {"topic": topic_id, "proposed_at": now}
                row["pages"] = storable(json.dumps(one.pages, ensure_ascii=False), None)
                row["hubs"] = storable(json.dumps(one.hubs, ensure_ascii=False), None)
                undecided = Proposal.state == ProposalState.PROPOSED
                renewed = ("score", "pages", "hubs", "why")
                upsert(Proposal, row, ("topic", "host"), renewed, undecided).execute(self._db)

    def proposals(
        self, topic_id: int, state: str | None = ProposalState.PROPOSED
    ) -> list[ProposalRow]:
        """Return proposals in a state (None = all), best first."""
        query = _PROPOSAL.select().where(Proposal.topic == topic_id)
        if state is not None:
            query = query.where(Proposal.state == state)
        return self._all(_PROPOSAL, query.order_by(Proposal.score.desc(), Proposal.id))

    def decide(self, proposal_ids: Sequence[int], state: ProposalState, *, now: float) -> int:
        """Record the user's decision; return how many proposals changed."""
        changed = Proposal.id.in_(list(proposal_ids)) & (Proposal.state != state)
        return self._write(Proposal.update(state=state, decided_at=now).where(changed))

    def proposal_counts(self) -> dict[int, dict[str, int]]:
        """Count proposals by topic id and state."""
        key = (Proposal.topic, Proposal.state)
        return self._counts(Proposal.select(*key, fn.COUNT(Proposal.id)).group_by(*key))

    # Search providers.

    def meter(self, provider: str) -> str:
        """Return the JSON request count of a provider; empty = none."""
        query = SearchMeter.select(SearchMeter.meter).where(SearchMeter.provider == provider)
        return str(self._scalar(query) or "")

    def put_meter(self, provider: str, meter: str) -> None:
        """Store the request count of a provider."""
        row = {"provider": provider, "meter": meter}
        self._write(upsert(SearchMeter, row, ["provider"], ["meter"]))

    def forget_older(self, *, before: float) -> int:
        """Delete a run older than *before* with its pages or, without one, open proposals; return how many.

        The last run of each topic stays.
        """
        latest = DiscoveryRun.select(fn.MAX(DiscoveryRun.id)).group_by(DiscoveryRun.topic)
        over = (DiscoveryRun.status != RunStatus.RUNNING) & (DiscoveryRun.updated_at < before)
        query = DiscoveryRun.select(DiscoveryRun.id, DiscoveryRun.topic)
        query = query.where(over & DiscoveryRun.id.not_in(latest)).order_by(DiscoveryRun.id)
        with writing(self._db, self._where):
            for run, topic in query.limit(1).tuples().execute(self._db):
                DiscoveryRun.delete().where(DiscoveryRun.id == run).execute(self._db)
                self._drop_links(topic)
                return 1
            undecided = (Proposal.state == ProposalState.PROPOSED) & (Proposal.proposed_at < before)
            return int(Proposal.delete().where(undecided).execute(self._db))

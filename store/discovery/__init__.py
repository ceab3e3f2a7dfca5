"""Discovery in the store: the last run of each topic, the pages that runs fetched, their proposals."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict

from peewee import fn

from store.database import writing
from store.database.repository import MAX_ROWS, Repository, Shape
from store.database.statements import upsert
from store.database.texts import MAX_ADDRESS, MAX_TEXT, columns, storable, to_json
from store.discovery.values import NewProposal, ProposalRow, ProposalState, ReadPage, RunRow
from store.models import DiscoveryPage, DiscoveryRun, Proposal

# JSON characters kept per page.
MAX_PAGE_TEXT = 40_000
# Links kept per page.
MAX_LINKS = 300
# Pages kept per topic, with their links; the oldest are deleted first.
MAX_PAGES = 5_000
_BOUNDS = {
    "title": MAX_TEXT,
    "why": MAX_TEXT,
    "host": 300,
    **dict.fromkeys(("url", "canonical_key"), MAX_ADDRESS),
}

_RUN = Shape(RunRow, DiscoveryRun)
_PAGE = Shape(ReadPage, DiscoveryPage)
_PROPOSAL = Shape(ProposalRow, Proposal)


class Discovery(Repository):
    """Queries and writes, on one database."""

    # Runs.

    def begin(self, topic_id: int, *, now: float, keep: int = MAX_PAGES) -> None:
        """Record that a run of a topic begins, in place of its last one; *keep* its newest pages."""
        row = {"topic": topic_id, "why": "", "note": "", "started_at": now, "ended_at": None}
        renewed = ("why", "note", "started_at", "ended_at")
        mine = DiscoveryPage.select(DiscoveryPage.id).where(DiscoveryPage.topic == topic_id)
        with writing(self._db, self._where):
            upsert(DiscoveryRun, row, ["topic"], renewed).execute(self._db)
            oldest = mine.order_by(DiscoveryPage.id.desc()).offset(keep).limit(1)
            if (last := oldest.scalar(self._db)) is not None:
                old = (DiscoveryPage.topic == topic_id) & (DiscoveryPage.id <= last)
                DiscoveryPage.delete().where(old).execute(self._db)

    def end(self, topic_id: int, why: str, note: str, *, now: float) -> RunRow:
        """Record how the run of a topic ended; return it."""
        over = {"why": storable(why), "note": storable(note), "ended_at": now}
        self._write(DiscoveryRun.update(over).where(DiscoveryRun.topic == topic_id))
        ended = self.last_run(topic_id)
        assert ended is not None, "it was begun"
        return ended

    def last_run(self, topic_id: int) -> RunRow | None:
        """Return the latest run of a topic."""
        return self._first(_RUN, _RUN.select().where(DiscoveryRun.topic == topic_id))

    def record(self, topic_id: int, pages: Iterable[ReadPage], *, now: float) -> None:
        """Write the pages of a round."""
        renewed = ("title", "text", "score", "links", "at")
        with writing(self._db, self._where):
            for page in pages:
                values = columns(asdict(page), _BOUNDS) | {"topic": topic_id, "at": now}
                links = (storable(one, MAX_ADDRESS) for one in page.links[:MAX_LINKS])
                values["links"] = to_json(list(links))
                if len(values["text"]) > MAX_PAGE_TEXT:
                    values["text"] = "{}"
                upsert(DiscoveryPage, values, ("topic", "canonical_key"), renewed).execute(self._db)

    # Fetched pages.

    def pages(self, topic_id: int) -> list[ReadPage]:
        """Return the pages that runs of a topic fetched, in that order."""
        query = _PAGE.select().where(DiscoveryPage.topic == topic_id)
        return self._all(_PAGE, query.order_by(DiscoveryPage.id))

    # Proposals.

    def propose(self, topic_id: int, proposals: Iterable[NewProposal], *, now: float) -> None:
        """Record proposals."""
        # The user's decision on a site stays.
        with writing(self._db, self._where):
            for one in proposals:
                row = columns(asdict(one), _BOUNDS) | {"topic": topic_id, "proposed_at": now}
                row["pages"], row["hubs"] = to_json(row["pages"]), to_json(row["hubs"])
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

    def decide(self, proposal_ids: Sequence[int], state: ProposalState) -> int:
        """Record the user's decision; return how many proposals changed."""
        changed = Proposal.id.in_(list(proposal_ids)) & (Proposal.state != state)
        return self._write(Proposal.update(state=state).where(changed))

    def proposal_counts(self) -> dict[int, dict[str, int]]:
        """Count proposals by topic id and state."""
        key = (Proposal.topic, Proposal.state)
        return self._counts(Proposal.select(*key, fn.COUNT(Proposal.id)).group_by(*key))

    def forget_older(self, *, before: float) -> int:
        """Delete a batch of pages read before *before*, or else open proposals; return how many."""
        old = DiscoveryPage.select(DiscoveryPage.id).where(DiscoveryPage.at < before)
        undecided = (Proposal.state == ProposalState.PROPOSED) & (Proposal.proposed_at < before)
        with writing(self._db, self._where):
            if ids := self._column(old.limit(MAX_ROWS)):
                return int(
                    DiscoveryPage.delete().where(DiscoveryPage.id.in_(ids)).execute(self._db)
                )
            return int(Proposal.delete().where(undecided).execute(self._db))

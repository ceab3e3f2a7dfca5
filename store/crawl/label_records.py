"""Writes labels, and the effects of a user's label on pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

from store.crawl.backfills import adopt_waiting
from store.crawl.page_records import PageRecords
from store.database import writing
from store.database.repository import batches, upsert
from store.database.texts import columns
from store.enums import HubRole, HubStatus, LabelOrigin, PageState
from store.models import Hub, Label, Page, VisitRequest
from store.rules import Rule
from store.values import LabelEntry, SeenLink

_NOT_SEED = Hub.role != HubRole.SEED


class LabelRecords(PageRecords):
    """Writes of labels."""

    def put_labels(self, labels: Iterable[LabelEntry]) -> int:
        """Record labels in one transaction; return how many are new or changed.

        Each origin has one label per URL.
        """
        with writing(self._db, self._where):
            return self._put_labels(tuple(labels))

    def correct(self, label: LabelEntry, pages: Sequence[tuple[int, SeenLink]]) -> None:
        """Record a user's label and apply it to *pages*, given with their site ids.

        A page whose link has a hub becomes a hub, and is read now if it was never read; any other stops
        being one, unless it is a seed.
        """
        with writing(self._db, self._where):
            self._put_labels([label])
            for site_id, link in pages:
                if link.hub is not None:
                    self._promote(site_id, link, label.at)
                else:
                    self._demote(site_id, link, label.at)

    def _promote(self, site_id: int, link: SeenLink, now: float) -> None:
        page_id = self._put_pages(site_id, [link], now, None)[link.canonical_key]
        given = columns(asdict(link.hub)) if link.hub else {}
        # What visits found out is more reliable, and remains.
        found = ("kind", "baseline_at", "revisit")
        fields = {**{name: given[name] for name in given if name not in found}, "failures": 0}
        known = (Hub.page == page_id) & _NOT_SEED
        Hub.update(fields).where(known).execute(self._db)
        awake = {HubStatus.DROPPED: HubStatus.CANDIDATE, HubStatus.DORMANT: HubStatus.ACTIVE}
        for before, after in awake.items():
            Hub.update(state=after).where(known & (Hub.state == before)).execute(self._db)
        Page.update(verify_due_at=None).where(Page.id == page_id).execute(self._db)
        if Hub.select().where(known & (Hub.visits == 0)).exists(self._db):
            asked = {"page": page_id, "site_id": site_id, "at": now}
            VisitRequest.insert(asked).on_conflict_ignore().execute(self._db)

    def _demote(self, site_id: int, link: SeenLink, now: float) -> None:
        pages = Page.select(Page.id).where(
            (Page.site == site_id) & (Page.canonical_key == link.canonical_key)
        )
        Hub.delete().where(Hub.page.in_(pages) & _NOT_SEED).execute(self._db)
        # It was waiting for a visit as a hub that now never comes, so it is verified at once.
        waiting = Page.id.in_(pages) & (Page.state == PageState.PENDING)
        Page.update(verify_due_at=now).where(waiting).execute(self._db)
        was_hub = Page.id.in_(pages) & (Page.rule == Rule.HUB)
        Page.update(rule=Rule.NOT_A_HUB).where(was_hub).execute(self._db)
        adopt_waiting(self._db, site_id, link.canonical_key, now)

    def forget_labels(self, canonical_keys: Iterable[str], origin: LabelOrigin) -> None:
        """Delete the labels *origin* gave to these pages."""
        with writing(self._db, self._where):
            for batch in batches(canonical_keys):
                said = Label.canonical_key.in_(batch) & (Label.origin == origin)
                Label.delete().where(said).execute(self._db)

    def _put_labels(self, labels: Sequence[LabelEntry]) -> int:
        changed = 0
        for label in labels:
            row = {"site": label.site_id, **columns(asdict(label))}
            del row["site_id"]
            said = (Label.canonical_key == row["canonical_key"]) & (Label.origin == label.origin)
            same = Label.select(Label.label).where(said & (Label.label == label.label))
            if same.exists(self._db):
                continue
            renewed = ("url", "label", "at", "anchor")
            upsert(Label, row, ("canonical_key", "origin"), renewed).execute(self._db)
            changed += 1
        return changed

"""All writes of the crawler; a visit's whole outcome is one transaction.

::

    SiteRecords   sites                        (store/crawl/site_records.py)
    PageRecords   pages and hubs               (store/crawl/page_records.py)
    LabelRecords  labels and their effects     (store/crawl/record.py)
    merge_pages   pages that are one page      (store/crawl/merges.py)
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from peewee import Database

from store.crawl.backfills import adopt_waiting, join_backfill, put_backfill, unannounced
from store.crawl.merges import merge_pages
from store.crawl.page_records import SET_HUB, SET_PAGE, PageRecords
from store.crawl.refreshes import put_refresh
from store.crawl.site_records import SET_SITE, SiteRecords
from store.database import writing
from store.database.failures import storage_errors
from store.database.repository import batches
from store.database.statements import Inserted, Prepared, Updated, any_of, upsert
from store.database.texts import columns, storable
from store.enums import ChangeKind, HubKind, HubRole, HubStatus, LabelOrigin, PageState
from store.files.page_cache import PageCache
from store.models import LIVING, Change, Host, Hub, Label, Page, Sighting, Visit, VisitRequest
from store.rules import Fate, Rule
from store.search.news import note_language, put_news, put_text
from store.topics import put_scores
from store.values import (
    HostRow,
    LabelEntry,
    PageChange,
    SeenLink,
    SiteChange,
    SiteChanges,
    TopicScore,
    VisitPlan,
    VisitRecord,
)
from store.watched_changes import put_watched_change

_NOT_SEED = Hub.role != HubRole.SEED


class LabelRecords(PageRecords):
    """Writes of labels."""

    def put_labels(self, labels: Iterable[LabelEntry]) -> int:
        """Record labels in one transaction; return how many are new or changed.

        Each origin has one label per URL.
        """
        changed = 0
        with writing(self._db, self._where):
            for label in labels:
                row = {"site": label.site_id, **columns(asdict(label))}
                del row["site_id"]
                said = Label.canonical_key == row["canonical_key"]
                said &= Label.origin == label.origin
                same = Label.select(Label.label).where(said & (Label.label == label.label))
                if same.exists(self._db):
                    continue
                renewed = ("url", "label", "at", "anchor")
                upsert(Label, row, ("canonical_key", "origin"), renewed).execute(self._db)
                changed += 1
        return changed

    def correct(self, label: LabelEntry, pages: Sequence[tuple[int, SeenLink]]) -> None:
        """Record a user's label and apply it to *pages*, given with their site ids.

        A page whose link has a hub becomes a hub, and is read now if it was never read; any other stops
        being one, unless it is a seed.
        """
        with writing(self._db, self._where):
            self.put_labels([label])
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


# Statements of every visit.
_SHOWN = Prepared(
    lambda hub: Sighting.select(Sighting.page, Sighting.gone_at).where(Sighting.hub == hub)
)
_SET_GONE = Updated(
    Sighting, lambda hub, pages: (Sighting.hub == hub) & any_of(Sighting.page, pages)
)
_SET_PAGES = Updated(Page, lambda pages: any_of(Page.id, pages))
_LIVING = Prepared(lambda page: Page.select(LIVING).where(Page.id == page))
_HOST = Inserted(Host, ["name"])
_NEW_SIGHTINGS = Inserted(Sighting, ignore=True)
_NEW_CHANGES = Inserted(Change)
_NEW_VISIT = Inserted(Visit)


class Recorder(SiteRecords, LabelRecords):
    """The only writer; *cache* keeps the bodies of pages whose URL changes."""

    def __init__(self, database: Database, where: str, cache: PageCache) -> None:
        super().__init__(database, where)
        self._cache = cache

    def change_site(self, site_id: int, changes: SiteChanges, now: float) -> dict[str, int]:
        """Write changes of a site besides its visits; return the ids of added pages by canonical key.

        Of folded pages each is one page with its link from then on, at the latter's address.
        """
        with writing(self._db, self._where):
            if changes.fields:
                SET_SITE.run(self._db, columns(changes.fields), site=site_id)
            self._change_hubs(site_id, changes)
            links = (*changes.added, *(link for _, link in changes.folded))
            ids = self._put_pages(site_id, links, now, None) if links else {}
            at = self._at(site_id, [link.canonical_key for _, link in changes.folded])
            pairs = [(old, at[link.canonical_key]) for old, link in changes.folded]
            merge_pages(self._db, self._cache, pairs, now, Rule.ALIAS)
            return ids

    def put_host(self, host: HostRow) -> None:
        """Insert or replace a host's politeness state."""
        given = asdict(host)
        fields = columns({name: given[name] for name in given if given[name] is not None})
        fields["crawl_delay_seconds"] = host.crawl_delay_seconds
        with storage_errors(self._where):
            _HOST.run(self._db, [fields])

    def visit(
        self,
        record: VisitRecord,
        plan: VisitPlan = VisitPlan(),  # noqa: B008 - a frozen value
        opinion: Sequence[TopicScore] | None = None,
    ) -> list[int]:
        """Record one visit; return the ids of the pages it announced, in page order.

        *opinion* is what topics say of the visited page; None = they did not judge it.
        """
        # Killed at any instant, either all of a visit is in the store or nothing is; the visit is then due
        # again, and nothing is announced twice.
        with writing(self._db, self._where):
            hub = columns({**record.hub_fields, **plan.hub_fields})
            if record.drop_hub or not self._set_hub(record.page_id, hub):
                living = _LIVING.rows(self._db, page=record.page_id)
                if living and living[0][0] != record.page_id:
                    # Another page replaced it while it was fetched.
                    record = replace(record, page_id=living[0][0])
                    self._set_hub(record.page_id, hub)
            announced = self._record_links(record, plan.named)
            # Before it is announced, so that its text is indexed once.
            self._record_page(record, judged=opinion is not None)
            if record.fate == Fate.ANNOUNCE:
                rule = record.page_fields.get("rule")
                announced += self._announce(record, {record.page_id: rule}, record.first_hub_id)
            if record.fate == Fate.BACKFILL:
                join_backfill(self._db, record)
            if plan.host is not None:
                self.put_host(plan.host)
            if record.site_fields or plan.site_fields:
                fields = columns({**record.site_fields, **plan.site_fields})
                SET_SITE.run(self._db, fields, site=record.site_id)
            if record.rebaseline:
                others = (Hub.site_id == record.site_id) & (Hub.page != record.page_id)
                lists = others & (Hub.kind == HubKind.HTML)
                Hub.update(baseline_at=None).where(lists).execute(self._db)
            self._verify_again(record)
            put_scores(self._db, record.site_id, record.topic_scores, record.at)
            put_scores(self._db, record.site_id, opinion or (), record.at)
            self._merge(record)
            return announced

    def _merge(self, record: VisitRecord) -> None:
        """Make one page of each two that the visit shows to be one."""
        moved = {link.canonical_key: link for link in record.links or () if link.moved_from}
        self._put_changes(
            record,
            ChangeKind.MOVED,
            [(link.moved_from or 0, storable(link.url)) for link in moved.values()],
            record.page_id,
        )
        at = self._at(record.site_id, list(moved))
        pairs = [(link.moved_from or 0, at[key]) for key, link in moved.items()]
        merge_pages(self._db, self._cache, pairs, record.at, Rule.LED_ON)
        if record.moved_to is not None:
            key = record.moved_to.canonical_key
            same = self._at(record.site_id, [key])[key]
            merge_pages(self._db, self._cache, [(record.page_id, same)], record.at, Rule.LED_ON)
        elif (known := record.page_fields.get("moved_to")) is not None:
            merge_pages(self._db, self._cache, [(record.page_id, known)], record.at, Rule.SAME_PAGE)

    def _verify_again(self, record: VisitRecord) -> None:
        for one in record.verify_again:
            fields: dict[str, object] = {"verify_due_at": record.at}
            fields |= {"state": one.state} if one.state else {}
            fields |= {"rule": one.rule} if one.rule else {}
            page = Page.update(fields).where(Page.id == one.page_id)
            page = page.where(Page.announced_at.is_null()) if one.state else page
            page.execute(self._db)

    def _record_links(self, record: VisitRecord, named: Container[str]) -> list[int]:
        more = [link for link in record.more_pages if link.canonical_key not in named]
        if more:
            self._put_pages(record.site_id, more, record.at, record.page_id)
        if record.links is None:
            return []
        ids = self._put_pages(record.site_id, record.links, record.at, record.page_id)
        self._put_sightings(record, ids)
        announced = {ids[t.canonical_key]: t for t in record.links if t.fate == Fate.ANNOUNCE}
        rules = {page: link.rule for page, link in announced.items()}
        news = self._announce(record, rules, record.page_id)
        self._plan_verification({page: announced[page] for page in news}, record.at)
        put_backfill(
            self._db,
            record,
            [ids[t.canonical_key] for t in record.links if t.fate == Fate.BACKFILL],
        )
        return news

    def _put_sightings(self, record: VisitRecord, ids: Mapping[str, int]) -> None:
        links = record.links or ()
        rows = [
            {
                "hub": record.page_id,
                "page": ids[link.canonical_key],
                "first_seen_at": record.at,
                "anchor": storable(link.anchor),
                "tag_path": storable(link.tag_path),
            }
            for link in links
        ]
        hub = record.page_id
        before = dict(_SHOWN.rows(self._db, hub=hub))
        _NEW_SIGHTINGS.run(self._db, [row for row in rows if row["page"] not in before])
        here = set(ids.values())
        back = [page for page, gone in before.items() if gone is not None and page in here]
        lost = [page for page, gone in before.items() if gone is None and page not in here]
        if back:
            _SET_GONE.run(self._db, {"gone_at": None}, hub=hub, pages=back)
        if lost and not record.keep_missing:
            _SET_GONE.run(self._db, {"gone_at": record.at}, hub=hub, pages=lost)

    def _announce(
        self, record: VisitRecord, rules: Mapping[int, str | None], hub_id: int | None
    ) -> list[int]:
        """Announce pages not yet announced, alone or with an event; return each once.

        *rules*: the rule that announces each page id; None = unchanged.
        """
        news = unannounced(self._db, list(rules))
        for rule in dict.fromkeys(rules[page] for page in news):
            fields = {"announced_at": record.at, "state": PageState.KNOWN}
            fields |= {"rule": rule} if rule is not None else {}
            _SET_PAGES.run(self._db, fields, pages=[page for page in news if rules[page] == rule])
        self._put_changes(record, ChangeKind.ADDED, [(page, "") for page in news], hub_id)
        put_news(self._db, news, record.at)
        return news

    def _put_changes(
        self, record: VisitRecord, kind: str, pages: list[tuple[int, str]], hub_id: int | None
    ) -> None:
        common = {"site": record.site_id, "kind": kind, "at": record.at, "hub_id": hub_id}
        _NEW_CHANGES.run(self._db, [{**common, "page": page, "detail": d} for page, d in pages])

    def _set_hub(self, page_id: int, fields: Mapping[str, object]) -> bool:
        """Set columns of a hub; return whether there is one."""
        return bool(fields) and SET_HUB.run(self._db, fields, page=page_id) > 0

    def _record_page(self, record: VisitRecord, *, judged: bool) -> None:
        """Write the visit's log entry and the changes of the visited page and its site."""
        links = record.links or ()
        visit = {
            "page": record.page_id,
            "at": record.at,
            "status": record.status,
            "http_code": record.http_code,
            "body_bytes": record.body_bytes,
            "elapsed_seconds": record.elapsed_seconds,
            "links": len(links),
            "new_pages": sum(link.fate == Fate.ANNOUNCE for link in links),
            "overflow": record.overflow,
            "detail": storable(record.detail),
        }
        _NEW_VISIT.run(self._db, [visit])
        if record.drop_hub:
            Hub.delete().where(Hub.page == record.page_id).execute(self._db)
        self._record_visited(record, judged=judged)
        if record.text is not None:
            put_text(self._db, record.page_id, record.text, record.at)
        if record.next_refresh is not None:
            put_refresh(self._db, record.site_id, record.page_id, record.next_refresh)
        if record.page_change is not None:
            change_id = self._insert_change(record, record.page_change, record.page_id)
            put_watched_change(self._db, record, record.page_change, change_id)
        if record.site_change is not None:
            self._insert_change(record, record.site_change, None)

    def _record_visited(self, record: VisitRecord, *, judged: bool) -> None:
        fields = columns(record.page_fields) | ({"link_context": None} if judged else {})
        if record.moved_to is not None:
            self._put_pages(record.site_id, [record.moved_to], record.at, record.first_hub_id)
        # Set when it is merged with that page, as the last step.
        fields.pop("moved_to", None)
        if fields:
            SET_PAGE.run(self._db, fields, page=record.page_id)
            if "language" in fields:
                note_language(self._db, record.page_id, fields["language"])

    def _insert_change(
        self, record: VisitRecord, change: PageChange | SiteChange, page_id: int | None
    ) -> int:
        fields: dict[str, Any] = {"kind": change.kind, "detail": storable(change.detail)}
        if isinstance(change, PageChange):
            fields |= {"body_before": change.body_before, "body_after": change.body_after}
        query = Change.insert(
            site=record.site_id, page=page_id, at=record.at, hub_id=record.page_id, **fields
        )
        return int(query.execute(self._db))

"""Every write. One visit's whole outcome is one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Unpack

from peewee import fn

from store.backfills import adopt_waiting, is_of_event, join_backfill, put_backfill, unannounced
from store.database import writing
from store.enums import ChangeKind, HubKind, HubRole, HubStatus, LabelOrigin, PageState
from store.failures import storage_errors
from store.models import Change, Host, Hub, Label, Page, Sighting, Site, Visit, WatchedPage
from store.naming import free_name
from store.news import forget_texts, move_news, note_language, put_news, put_refresh, put_text
from store.page_watches import put_next_watch
from store.queries.site_facts import has_history, refused
from store.repository import Repository, batches, upsert
from store.statements import Inserted, Prepared, Updated, Upserted, any_of
from store.texts import columns, storable
from store.topics import put_external_candidates, put_scores
from store.updates import HubUpdate, PageUpdate, SiteUpdate
from store.values import (
    HostRow,
    LabelEntry,
    NewHub,
    PageChange,
    SeenLink,
    SiteChange,
    TopicOpinion,
    VisitPlan,
    VisitRecord,
)
from store.watched_changes import put_watched_change

# Texts taken out of the index in one transaction.
_TEXTS = 500
# Hubs that are never visited again are due later than any clock goes.
_FOREVER = 1e12
_NOT_SEED = Hub.role != HubRole.SEED

# What every visit reads and writes.
_IDS = Prepared(
    lambda site, keys: Page.select(Page.canonical_key, Page.id).where(
        (Page.site == site) & any_of(Page.canonical_key, keys)
    )
)
_REFUSED = Prepared(lambda page: Page.select(Page.id).where((Page.id == page) & refused()))
_SHOWN = Prepared(
    lambda hub: Sighting.select(Sighting.page, Sighting.gone_at).where(Sighting.hub == hub)
)
_SET_GONE = Updated(
    Sighting, lambda hub, pages: (Sighting.hub == hub) & any_of(Sighting.page, pages)
)
_BY_SEED = Prepared(lambda seed: Site.select(Site.id).where(Site.seed_url == seed))
_NAMED = Prepared(
    lambda name, but: Site.select(Site.id).where((Site.name == name) & (Site.id != but))
)
_NEW_SITE = Upserted(Site, ["seed_url"])
_NEW_HUB = Inserted(Hub, ("page", "site_id", "kind", "role", "score", "why", "due_at"), ignore=True)
_SET_SITE = Updated(Site, lambda site: Site.id == site)
_SET_HUB = Updated(Hub, lambda page: Hub.page == page)
_SET_PAGE = Updated(Page, lambda page: Page.id == page)
_SET_PAGES = Updated(Page, lambda pages: any_of(Page.id, pages))
_HOST = Upserted(Host, ["name"])
_NEW_PAGE = (
    *("site", "canonical_key", "url", "anchor", "published_at", "first_seen_at", "first_hub_id"),
    *("state", "verify_due_at", "verify_score", "link_context", "rule"),
)
_NEW_PAGES = Inserted(Page, _NEW_PAGE, ignore=True)
_NEW_SIGHTINGS = Inserted(
    Sighting, ("hub", "page", "first_seen_at", "anchor", "tag_path", "position"), ignore=True
)
_NEW_CHANGES = Inserted(Change, ("site", "page", "kind", "at", "hub_id", "detail"))
_NEW_VISIT = Inserted(
    Visit,
    (
        *("page", "at", "status", "http_code", "body_bytes", "elapsed_seconds", "links"),
        *("new_pages", "overflow", "detail"),
    ),
)


class Recorder(Repository):
    """The one writer."""

    def add_site(
        self, seed_url: str, name: str, *, now: float, **fields: Unpack[SiteUpdate]
    ) -> int:
        """Add a site, or return the id of the one with this seed; *fields* are set either way.

        If another site has this *name*, a longer one is used.
        """
        with writing(self._db, self._where):
            found = _BY_SEED.rows(self._db, seed=seed_url)
            if found:
                if fields:
                    changed = columns({**fields, "changed_at": now})
                    _SET_SITE.run(self._db, changed, site=found[0][0])
                return int(found[0][0])
            new = {"seed_url": seed_url, "name": self._free_name(name, seed_url), "added_at": now}
            # Should another process have added it just now, its row stays.
            _NEW_SITE.run(self._db, [{**new, **columns(fields)}], update=["seed_url"])
            return int(_BY_SEED.rows(self._db, seed=seed_url)[0][0])

    @contextmanager
    def together(self, *, undo: bool = False) -> Iterator[None]:
        """Make what the block writes one transaction; *undo* = none of it stays."""
        with writing(self._db, self._where):
            if not undo:
                yield
                return
            with self._db.savepoint() as point:
                yield
                point.rollback()

    def rename_site(self, site_id: int, name: str, url: str) -> None:
        """Name a site *name*, extended by part of *url* if another site has that name."""
        with writing(self._db, self._where):
            own = self._free_name(name, url, but=site_id)
            Site.update(name=own).where(Site.id == site_id).execute(self._db)

    def _free_name(self, name: str, url: str, *, but: int = 0) -> str:
        def is_taken(one: str) -> bool:
            return bool(_NAMED.rows(self._db, name=one, but=but))

        return free_name(name, url, is_taken)

    def update_site(self, site_id: int, **fields: Unpack[SiteUpdate]) -> None:
        """Set columns of a site."""
        with storage_errors(self._where):
            _SET_SITE.run(self._db, columns(fields), site=site_id)

    def remove_site(self, site_id: int) -> None:
        """Delete a site with its pages, hubs, sightings, visits and changes, and its behaviour labels."""
        # In batches, so that a large index does not block the crawler.
        more = True
        while more:
            with writing(self._db, self._where):
                more = forget_texts(self._db, site_id, limit=_TEXTS) == _TEXTS
        with writing(self._db, self._where):
            self._delete_site(site_id)

    def _delete_site(self, site_id: int) -> None:
        # Users' labels stay.
        written = (Label.site == site_id) & (Label.origin == LabelOrigin.BEHAVIOUR)
        Label.delete().where(written).execute(self._db)
        Site.delete().where(Site.id == site_id).execute(self._db)

    def withdraw_site(self, site_id: int) -> bool:
        """Delete a site unless it has a history; return whether it did. The only automatic deletion."""
        with writing(self._db, self._where):
            lost = not has_history(self._db, site_id)
            if lost:  # without history nothing was announced, so nothing is indexed
                self._delete_site(site_id)
            return lost

    def add_pages(
        self, site_id: int, links: Iterable[SeenLink], *, now: float, hub_id: int | None = None
    ) -> dict[str, int]:
        """Add pages and hubs that no visit showed (seeds, probes).

        Returns ids by canonical key, including pages already known.
        """
        with writing(self._db, self._where):
            return self._put_pages(site_id, tuple(links), now, hub_id)

    def update_hub(self, page_id: int, **fields: Unpack[HubUpdate]) -> None:
        """Set columns of a hub."""
        with storage_errors(self._where):
            _SET_HUB.run(self._db, columns(fields), page=page_id)

    def make_hubs(self, site_id: int, page_ids: Iterable[int], hub: NewHub) -> None:
        """Make pages hubs if they are not; what a user labelled an article stays one."""
        with writing(self._db, self._where):
            for page_id in page_ids:
                self._put_hub(page_id, site_id, hub)

    def remove_hub(self, page_id: int) -> None:
        """Stop treating a page as a hub. Its sightings stay."""
        self._write(Hub.delete().where(Hub.page == page_id))

    def hasten_candidates(self, page_ids: Sequence[int], latest: float) -> None:
        """Make hubs that were never read due at *latest* or earlier."""
        with writing(self._db, self._where):
            for batch in batches(page_ids):
                late = Hub.page.in_(batch) & Hub.visited_at.is_null() & (Hub.due_at > latest)
                Hub.update(due_at=latest).where(late & (Hub.failures == 0)).execute(self._db)

    def withdraw_candidates(self, page_ids: Sequence[int]) -> None:
        """Stop treating pages as hubs that were never read: others of their form are articles."""
        with writing(self._db, self._where):
            for batch in batches(page_ids):
                unread = Hub.page.in_(batch) & Hub.visited_at.is_null()
                Hub.delete().where(unread & (Hub.role == HubRole.LIST)).execute(self._db)
                was_hub = Page.id.in_(batch) & (Page.rule == "hub")
                Page.update(rule="like_articles").where(was_hub).execute(self._db)

    def hasten_hubs(self, site_id: int, role: HubRole, *, latest: float) -> None:
        """Make the hubs of a role due at *latest* or earlier, except those that failed."""
        late = (Hub.site_id == site_id) & (Hub.role == role) & (Hub.due_at > latest)
        self._write(Hub.update(due_at=latest).where(late & (Hub.failures == 0)))

    def bring_forward(self, seconds: float, now: float) -> None:
        """Bring visits that are due after *now* forward by *seconds*: the clock was ahead by them."""
        sites = Site.select(Site.id)  # the indexes begin with them
        earlier: dict[Any, tuple[Any, Any]] = {
            Hub: (
                Hub.due_at,
                Hub.site_id.in_(sites) & (Hub.due_at > now) & (Hub.due_at < _FOREVER),
            ),
            Page: (Page.verify_due_at, Page.site.in_(sites) & (Page.verify_due_at > now)),
            WatchedPage: (
                WatchedPage.due_at,
                WatchedPage.site_id.in_(sites)
                & (WatchedPage.due_at > now)
                & (WatchedPage.due_at < _FOREVER),
            ),
        }
        with writing(self._db, self._where):
            for table, (column, late) in earlier.items():
                table.update({column: column - seconds}).where(late).execute(self._db)

    def begin_baseline(self, page_id: int, at: float) -> None:
        """Skip a hub's baseline, so that its first visit announces."""
        # For later pages of an overflowed list.
        unread = (Hub.page == page_id) & Hub.baseline_at.is_null()
        self._write(Hub.update(baseline_at=at).where(unread))

    def update_page(self, page_id: int, **fields: Unpack[PageUpdate]) -> None:
        """Set columns of a page."""
        with storage_errors(self._where):
            _SET_PAGE.run(self._db, columns(fields), page=page_id)

    def fold_path_alias(
        self, site_id: int, moves: Sequence[tuple[int, SeenLink]], now: float
    ) -> None:
        """Merge each page of *moves* into the page it is an alias of: history, sightings and hub.

        What was announced or known of the old page holds for the other.
        """
        with writing(self._db, self._where):
            ids = self._put_pages(site_id, [link for _, link in moves], now, None)
            for old, link in moves:
                new = ids[link.canonical_key]
                if new != old:
                    self._fold_page(old, new)
                    move_news(self._db, old, new, now)

    def _fold_page(self, old: int, new: int) -> None:
        was = Page.alias()
        both = was.id.in_([old, new])
        folded = {
            "first_seen_at": fn.MIN(was.first_seen_at),
            "announced_at": fn.MIN(was.announced_at),
            "anchor": fn.MAX(was.anchor),
            "verify_due_at": fn.MIN(was.verify_due_at),
        }
        fields = {name: was.select(value).where(both) for name, value in folded.items()}
        Page.update(fields).where(Page.id == new).execute(self._db)
        rule = was.select(was.rule).where(was.id == old)
        undecided = (Page.id == new) & Page.rule.is_null()
        Page.update(rule=rule).where(undecided).execute(self._db)
        circle = (Page.id == new) & (Page.moved_to == old)
        Page.update(state=PageState.KNOWN, moved_to=None).where(circle).execute(self._db)
        moved = Page.update(state=PageState.MOVED, moved_to=new, verify_due_at=None, rule="alias")
        moved.where(Page.id == old).execute(self._db)
        if not Hub.select(Hub.page).where(Hub.page == new).exists(self._db):
            Hub.update(page=new).where(Hub.page == old).execute(self._db)
        Hub.delete().where(Hub.page == old).execute(self._db)
        for column in (Sighting.page, Sighting.hub):
            self._repoint(column, old, new)
        Visit.update(page=new).where(Visit.page == old).execute(self._db)
        Change.update(page=new).where(Change.page == old).execute(self._db)
        # One announcement, the earlier.
        announced = (Change.page == new) & (Change.kind == ChangeKind.ADDED)
        query = Change.select(Change.id).where(announced).order_by(Change.id)
        again = [change for (change,) in query.tuples().execute(self._db)][1:]
        if again:
            Change.delete().where(Change.id.in_(again)).execute(self._db)

    def _repoint(self, column: Any, old: int, new: int) -> None:  # noqa: ANN401 - a peewee field
        """Repoint the sightings of *old* to *new*; where both have one, *new*'s stays."""
        other = Sighting.hub if column is Sighting.page else Sighting.page
        twin = Sighting.alias()
        taken = twin.select(getattr(twin, other.name)).where(getattr(twin, column.name) == new)
        free = (column == old) & other.not_in(taken)
        Sighting.update({column: new}).where(free).execute(self._db)
        Sighting.delete().where(column == old).execute(self._db)

    def put_labels(self, labels: Iterable[LabelEntry]) -> int:
        """Record labels in one transaction; return how many are new or changed.

        Each origin has one label per URL.
        """
        with writing(self._db, self._where):
            return self._put_labels(tuple(labels))

    def correct(self, label: LabelEntry, pages: Sequence[tuple[int, SeenLink]]) -> None:
        """Record a user's label and apply it to *pages*, given with their site ids.

        A page whose link has a hub becomes one; any other stops being one, unless it is a seed.
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
        fields = {**columns(asdict(link.hub)), "failures": 0} if link.hub else {}
        del fields["kind"]  # what a visit parsed is more reliable
        known = (Hub.page == page_id) & _NOT_SEED
        Hub.update(fields).where(known).execute(self._db)
        awake = {HubStatus.DROPPED: HubStatus.CANDIDATE, HubStatus.DORMANT: HubStatus.ACTIVE}
        for before, after in awake.items():
            Hub.update(state=after).where(known & (Hub.state == before)).execute(self._db)
        Page.update(verify_due_at=None).where(Page.id == page_id).execute(self._db)

    def _demote(self, site_id: int, link: SeenLink, now: float) -> None:
        pages = Page.select(Page.id).where(
            (Page.site == site_id) & (Page.canonical_key == link.canonical_key)
        )
        Hub.delete().where(Hub.page.in_(pages) & _NOT_SEED).execute(self._db)
        # It was waiting for a visit as a hub that now never comes, so it is verified at once.
        waiting = Page.id.in_(pages) & (Page.state == PageState.PENDING)
        Page.update(verify_due_at=now).where(waiting).execute(self._db)
        was_hub = Page.id.in_(pages) & (Page.rule == "hub")
        Page.update(rule="not_a_hub").where(was_hub).execute(self._db)
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

    def put_host(self, host: HostRow) -> None:
        """Insert or replace a host's politeness state."""
        with storage_errors(self._where):
            self._put_host(host)

    def postpone(self, page_id: int, until: float, status: str) -> None:
        """Postpone everything due for a page that must not be fetched, with the reason."""
        with writing(self._db, self._where):
            hub = Hub.update(due_at=until, last_status=status).where(Hub.page == page_id)
            hub.execute(self._db)
            planned = (Page.id == page_id) & Page.verify_due_at.is_null(is_null=False)
            Page.update(verify_due_at=until).where(planned).execute(self._db)

    def visit(
        self,
        record: VisitRecord,
        plan: VisitPlan = VisitPlan(),  # noqa: B008 - a frozen value
        opinion: TopicOpinion | None = None,
    ) -> list[int]:
        """Record one visit; return the ids of the pages it announced, in page order."""
        # Killed at any instant, either all of a visit is in the store or nothing is; the visit is then due
        # again, and nothing is announced twice.
        with writing(self._db, self._where):
            announced = self._record_links(record)
            if record.announce_page:
                rule = record.page_fields.get("rule")
                announced += self._announce(record, {record.page_id: rule}, record.first_hub_id)
            self._record_page(record, plan, judged=opinion is not None)
            if record.backfill_page:
                join_backfill(self._db, record)
            if plan.host is not None:
                self._put_host(plan.host)
            if record.site_fields or plan.site_fields:
                fields = columns({**record.site_fields, **plan.site_fields})
                _SET_SITE.run(self._db, fields, site=record.site_id)
            if record.rebaseline:
                self._rebaseline(record)
            self._verify_again(record)
            put_scores(self._db, record.site_id, record.topic_scores, record.at)
            if opinion is not None:
                put_scores(self._db, record.site_id, opinion.scores, record.at)
                put_external_candidates(self._db, opinion.external_candidates, record.at)
            return announced

    def _verify_again(self, record: VisitRecord) -> None:
        for one in record.verify_again:
            fields: dict[str, object] = {"verify_due_at": record.at}
            fields |= {"state": one.state} if one.state else {}
            fields |= {"rule": one.rule} if one.rule else {}
            page = Page.update(fields).where(Page.id == one.page_id)
            page = page.where(Page.announced_at.is_null()) if one.state else page
            page.execute(self._db)

    def _record_links(self, record: VisitRecord) -> list[int]:
        if record.more_pages:
            self._put_pages(record.site_id, record.more_pages, record.at, record.page_id)
        if record.links is None:
            return []
        ids = self._put_pages(record.site_id, record.links, record.at, record.page_id)
        self._put_sightings(record, ids)
        announced = {ids[t.canonical_key]: t.rule for t in record.links if t.announce}
        news = self._announce(record, announced, record.page_id)
        put_backfill(self._db, record, [ids[t.canonical_key] for t in record.links if t.backfill])
        moved = [link for link in record.links if link.moved_from is not None]
        self._move(record, [(link.moved_from or 0, ids[link.canonical_key]) for link in moved])
        return news

    def _put_pages(
        self, site_id: int, links: Sequence[SeenLink], now: float, hub_id: int | None
    ) -> dict[str, int]:
        """Insert unknown pages; return the ids of all by canonical key."""
        ids = self._ids(site_id, [link.canonical_key for link in links])
        # Inserting known rows too would use up an id for each conflict on PostgreSQL.
        unknown = [link for link in links if link.canonical_key not in ids]
        if unknown:
            _NEW_PAGES.run(self._db, [_page_row(site_id, link, now, hub_id) for link in unknown])
            ids |= self._ids(site_id, [link.canonical_key for link in unknown])
        for link in links:
            if link.hub is not None:
                self._put_hub(ids[link.canonical_key], site_id, link.hub)
        return ids

    def _ids(self, site_id: int, canonical_keys: Sequence[str]) -> dict[str, int]:
        keys = list(dict.fromkeys(canonical_keys))
        return dict(_IDS.rows(self._db, site=site_id, keys=keys)) if keys else {}

    def _put_hub(self, page_id: int, site_id: int, hub: NewHub) -> None:
        """Make a page a hub unless a user labelled it an article; a seed overrides that label."""
        given = hub.role in (HubRole.SEED, HubRole.USER)
        if not given and _REFUSED.rows(self._db, page=page_id):
            return
        row = {"page": page_id, "site_id": site_id, **columns(asdict(hub))}
        _NEW_HUB.run(self._db, [row])

    def _put_sightings(self, record: VisitRecord, ids: Mapping[str, int]) -> None:
        links = record.links or ()
        rows = [
            {
                "hub": record.page_id,
                "page": ids[link.canonical_key],
                "first_seen_at": record.at,
                "anchor": storable(link.anchor),
                "tag_path": storable(link.tag_path),
                "position": link.position,
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

    def _move(self, record: VisitRecord, moves: list[tuple[int, int]]) -> None:
        """Record new addresses of pages; what was announced stays announced, under the new address."""
        was = Page.alias()
        for old, new in moves:
            kept = {
                name: was.select(getattr(was, name)).where(was.id == old)
                for name in ("announced_at", "rule")
            }
            fresh = (Page.id == new) & Page.announced_at.is_null()
            Page.update(kept).where(fresh).execute(self._db)
            moved = Page.update(state=PageState.MOVED, moved_to=new, rule="led_on")
            moved = moved.where(Page.id == old)
            moved.execute(self._db)
            added = (Change.page == old) & (Change.kind == ChangeKind.ADDED)
            Change.update(page=new).where(added).execute(self._db)
            move_news(self._db, old, new, record.at)
        pages = [(old, str(new)) for old, new in moves]
        self._put_changes(record, ChangeKind.MOVED, pages, record.page_id)

    def _put_changes(
        self, record: VisitRecord, kind: str, pages: list[tuple[int, str]], hub_id: int | None
    ) -> None:
        common = {"site": record.site_id, "kind": kind, "at": record.at, "hub_id": hub_id}
        _NEW_CHANGES.run(self._db, [{**common, "page": page, "detail": d} for page, d in pages])

    def _record_page(self, record: VisitRecord, plan: VisitPlan, *, judged: bool) -> None:
        """Write the visit's log entry and what changed for the visited page and its site."""
        links = record.links or ()
        visit = {
            "page": record.page_id,
            "at": record.at,
            "status": record.status,
            "http_code": record.http_code,
            "body_bytes": record.body_bytes,
            "elapsed_seconds": record.elapsed_seconds,
            "links": len(links),
            "new_pages": sum(link.announce for link in links),
            "overflow": record.overflow,
            "detail": storable(record.detail),
        }
        _NEW_VISIT.run(self._db, [visit])
        if record.drop_hub:
            Hub.delete().where(Hub.page == record.page_id).execute(self._db)
        elif record.hub_fields or plan.hub_fields:
            fields = columns({**record.hub_fields, **plan.hub_fields})
            _SET_HUB.run(self._db, fields, page=record.page_id)
        self._record_visited(record, judged=judged)
        if record.text is not None:
            put_text(self._db, record.page_id, record.text, record.at)
        if record.next_refresh is not None:
            put_refresh(self._db, record.site_id, record.page_id, record.next_refresh)
        if record.next_watch is not None:
            put_next_watch(self._db, record.page_id, record.next_watch)
        if record.page_change is not None:
            change_id = self._insert_change(record, record.page_change, record.page_id)
            put_watched_change(self._db, record, record.page_change, change_id)
        if record.site_change is not None:
            self._insert_change(record, record.site_change, None)

    def _record_visited(self, record: VisitRecord, *, judged: bool) -> None:
        fields = columns(record.page_fields) | ({"link_context": None} if judged else {})
        if record.moved_to is not None:
            to = self._put_pages(record.site_id, [record.moved_to], record.at, record.first_hub_id)
            fields["moved_to"] = to[record.moved_to.canonical_key]
        if fields:
            if fields.get("state") == PageState.KNOWN and is_of_event(self._db, record.page_id):
                fields["state"] = "backfill"  # known under this state, so not announced again
            _SET_PAGE.run(self._db, fields, page=record.page_id)
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

    def _rebaseline(self, record: VisitRecord) -> None:
        others = (Hub.site_id == record.site_id) & (Hub.page != record.page_id)
        Hub.update(baseline_at=None).where(others & (Hub.kind == HubKind.HTML)).execute(self._db)

    def _put_host(self, host: HostRow) -> None:
        fields = columns({key: value for key, value in asdict(host).items() if value is not None})
        fields["crawl_delay_seconds"] = host.crawl_delay_seconds
        _HOST.run(self._db, [fields])


def _page_row(site_id: int, link: SeenLink, now: float, hub_id: int | None) -> dict[str, Any]:
    return {
        "site": site_id,
        "canonical_key": link.canonical_key,
        "url": link.url,
        "anchor": storable(link.anchor),
        "published_at": link.published_at,
        "first_seen_at": now,
        "first_hub_id": hub_id,
        "state": link.state,
        "verify_due_at": link.verify_due_at,
        "verify_score": link.verify_score,
        "link_context": link.link_context,
        # What is known as a hub before it is read (a seed, a probe, a feed that a page names).
        "rule": link.rule or ("hub" if link.hub is not None else None),
    }

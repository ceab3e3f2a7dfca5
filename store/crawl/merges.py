"""Making one of two pages that turned out to be one: a path alias, a redirect, a URL migration.

The page that was announced first stays, with its id, so feeds, messages and marks go on as if nothing had
happened; it takes the address that is in use. The other row stays as its former address. Whatever refers to a
page is moved or joined by one table::

    PAGE      the columns of the two rows themselves
    MERGES    every other column that holds the id of a page
    ADDRESSED columns that hold its canonical key
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import and_, itemgetter
from typing import Any

from peewee import Database

from store.crawl.quarantine import OF_PAGES, QuarantineKind
from store.database.repository import batches
from store.enums import ChangeKind, HubRole, PageState
from store.files.page_cache import PageCache
from store.models import (
    ALL,
    LIVING,
    Backfill,
    BackfillPage,
    Change,
    Hub,
    Label,
    News,
    Page,
    PageBand,
    PageText,
    PageTopic,
    PageVector,
    Quarantine,
    Refresh,
    Sighting,
    TopicExample,
    Visit,
    VisitRequest,
    WatchedChange,
)
from store.models.joins import Merge, Row, better, joined, least, most, not_yet, total
from store.search.news import index_pages, note_language, unindex
from store.topics import YOU

MERGES = (
    Merge(Visit.page),
    Merge(Change.page),
    Merge(Change.hub_id, by_site=True),
    Merge(WatchedChange.page),
    Merge(Page.first_hub_id, by_site=True),
    Merge(Page.moved_to, by_site=True),
    Merge(News.hub_id),
    Merge(Backfill.hub_id, by_site=True),
    Merge(PageText.cluster),
    Merge(News.page, (), joined(read_at=least, starred_at=least)),
    # A page announced with two events is counted by both.
    Merge(BackfillPage.page, (), lambda *_: None),
    Merge(
        PageTopic.page,
        ("topic",),
        joined(lambda row: (row["method"] == YOU, row["fetched"], row["at"])),
    ),
    Merge(
        PageText.page,
        (),
        joined(lambda row: (row["text"] is not None, row["at"]), forgotten_at=better),
    ),
    Merge(PageVector.page, (), joined(lambda row: (row["vector"] is not None, row["space"]))),
    Merge(PageBand.page, ("band",)),
    Merge(Hub.page, ()),
    Merge(VisitRequest.page, (), joined(at=least)),
    Merge(Sighting.page, ("hub",), joined(first_seen_at=least, gone_at=not_yet)),
    Merge(Sighting.hub, ("page",), joined(first_seen_at=least, gone_at=not_yet)),
    Merge(
        Refresh.page,
        (),
        joined(
            lambda row: (row["watch"] is not None, row["checked_at"] or 0),
            due_at=least,
            changed_at=most,
            gone_at=better,
            checks=most,
            counted_changes=total,
            counted_seconds=total,
        ),
    ),
    *(one for table in ALL for one in table.merges()),
)
ADDRESSED = (
    Merge(Label.canonical_key, ("origin",), joined(itemgetter("at"))),
    Merge(TopicExample.canonical_key, ("topic",), joined(itemgetter("added_at"))),
)
_QUARANTINED = Merge(Quarantine.key, ("kind", "purpose"), joined(itemgetter("at")))

# Of two states the first: decided outranks undecided, and existing outranks missing.
_STATES = (
    *(PageState.KNOWN, PageState.BACKFILL, PageState.BACKDATED, PageState.PENDING),
    *(PageState.MIGRATED, PageState.MISSING, PageState.GONE, PageState.ALIAS, PageState.MOVED),
)
_AWAITED = (PageState.PENDING, PageState.MISSING)
PAGE = joined(
    lambda row: row["verified_at"] or 0,
    **dict.fromkeys(("first_seen_at", "announced_at"), least),
    **dict.fromkeys(("verified_at", "changes_from", "verify_score"), most),
)


def merge_pages(
    database: Database,
    cache: PageCache,
    moves: Iterable[tuple[int, int]],
    now: float,
    rule: str,
) -> None:
    """Make one page of each of *moves*, within a transaction: a page, and the page at its address.

    What is left of the other page is a former address by *rule*.
    """
    pairs = list(moves)
    if not pairs:
        return
    merging = _Merging(database, cache, [page for pair in pairs for page in pair])
    for old, new in pairs:
        merging.merge(old, new, now, rule)


def _planned(one: Row, other: Row, state: str) -> float | None:
    """Return the verification time of the merged page; None if only *other* was read."""
    unread = one["body_md5"] is None and other["body_md5"] is not None
    due: float | None = one["verify_due_at"]
    return None if unread and state not in _AWAITED else due


class _Merging:
    def __init__(self, database: Database, cache: PageCache, page_ids: Sequence[int]) -> None:
        self._db = database
        self._cache = cache
        living = Page.select(LIVING).where(Page.id.in_(page_ids)).tuples().execute(database)
        ids = [*page_ids, *(page for (page,) in living)]
        self._site = self._row(page_ids[0])["site"]
        # Queried once for all, because some columns have no index.
        self._referred = {merge: self._referring(merge, ids) for merge in MERGES}

    def _within(self, merge: Merge) -> tuple[Any, ...]:
        return (merge.column.model.site == self._site,) if merge.by_site else ()

    def _referring(self, merge: Merge, page_ids: Sequence[int]) -> set[int]:
        column, found = merge.column, set[int]()
        for batch in batches(page_ids):
            here = reduce(and_, self._within(merge), column.in_(batch))
            query = column.model.select(column).where(here).distinct()
            found |= {page for (page,) in query.tuples().execute(self._db)}
        return found

    def merge(self, old: int, new: int, now: float, rule: str) -> None:
        one, at = self._living(old), self._living(new)
        if one["id"] == at["id"]:
            at = self._row(new)  # a former address that is used again
        if one["id"] == at["id"]:
            return
        stays, goes = sorted((at, one), key=self._announced_at)
        known = [row for row in (one, at) if row["canonical_key"] != at["canonical_key"]]
        bodies = [(row["url"], digest) for row in known for digest in self._bodies(row["id"])]
        # No page shows itself.
        both = (stays["id"], goes["id"])
        shown = Sighting.hub.in_(both) & Sighting.page.in_(both)
        Sighting.delete().where(shown).execute(self._db)
        unindex(self._db, both)
        self._keep_hub(at["id"], one["id"])
        for merge in MERGES:
            referred = self._referred[merge]
            if goes["id"] in referred:
                referred.add(stays["id"])
                self._apply(merge, stays["id"], goes["id"], *self._within(merge))
        # Its key is a text and also names other things.
        of_pages = (Quarantine.kind == QuarantineKind.PAGE) & Quarantine.purpose.in_(OF_PAGES)
        self._apply(_QUARANTINED, str(stays["id"]), str(goes["id"]), of_pages)
        self._put_pages(stays, goes, at, rule)
        for row in known:
            for merge in ADDRESSED:
                self._apply(merge, at["canonical_key"], row["canonical_key"])
                table = merge.column.model
                here = merge.column == at["canonical_key"]
                table.update(url=at["url"]).where(here & (table.url == row["url"])).execute(
                    self._db
                )
        self._announce_once(stays["id"])
        index_pages(self._db, [stays["id"]], now)
        for url, digest in bodies:
            body = self._cache.get(url, digest)
            if body is not None:
                self._cache.put(at["url"], body)

    def _keep_hub(self, in_use: int, former: int) -> None:
        """Of two hubs keep that of the address in use with its schedule; a user's role is preserved."""
        roles: dict[int, str] = dict(
            Hub.select(Hub.page, Hub.role)
            .where(Hub.page.in_((in_use, former)))
            .tuples()
            .execute(self._db)
        )
        if roles.keys() == {in_use, former}:
            Hub.delete().where(Hub.page == former).execute(self._db)
            given = (role for role in (HubRole.SEED, HubRole.USER) if role in roles.values())
            role = next(given, roles[in_use])
            Hub.update(role=role).where(Hub.page == in_use).execute(self._db)

    def _row(self, page_id: int) -> Row:
        rows: Any = Page.select().where(Page.id == page_id).dicts().execute(self._db)
        return dict(next(iter(rows)))

    def _living(self, page_id: int) -> Row:
        return self._row(Page.select(LIVING).where(Page.id == page_id).scalar(self._db))

    def _announced_at(self, row: Row) -> tuple[int, float]:
        """Order pages by their announcement: alone, with a backfill event, or not at all."""
        if row["moved_to"] is not None:
            return 3, 0.0  # a former address
        if row["announced_at"] is not None:
            return 0, row["announced_at"]
        of_event = BackfillPage.select(BackfillPage.id).where(BackfillPage.page == row["id"])
        return 1 if of_event.exists(self._db) else 2, 0.0

    def _bodies(self, page_id: int) -> set[str]:
        """Return the MD5 of the bodies that a page names."""
        found: set[str | None] = set()
        for table, page, names in (
            (Page, Page.id, (Page.body_md5,)),
            (Hub, Hub.page, (Hub.body_md5,)),
            (Change, Change.page, (Change.body_before, Change.body_after)),
        ):
            query: Any = table.select(*names).where(page == page_id)
            found.update(digest for row in query.tuples().execute(self._db) for digest in row)
        return {digest for digest in found if digest}

    def _apply(self, merge: Merge, stays: object, goes: object, *of: Any) -> None:  # noqa: ANN401 - peewee conditions
        table, column, key = merge.column.model, merge.column, merge.key
        mine, theirs = reduce(and_, of, column == stays), reduce(and_, of, column == goes)
        if key is None:
            table.update({column: stays}).where(theirs).execute(self._db)
            return
        there = {tuple(row[name] for name in key): row for row in self._rows(table, mine)}
        for row in self._rows(table, theirs):
            named = tuple(row[name] for name in key)
            same = [getattr(table, name) == value for name, value in zip(key, named, strict=True)]
            before = there.get(named)
            if before is None:
                table.update({column: stays}).where(theirs, *same).execute(self._db)
                continue
            joined = merge.join(before, row)
            if joined is None:
                continue
            table.delete().where(theirs, *same).execute(self._db)
            given = {"id", column.name, *key}
            fields = {name: value for name, value in joined.items() if name not in given}
            if fields:
                table.update(fields).where(mine, *same).execute(self._db)

    def _rows(self, table: Any, which: Any) -> list[Row]:  # noqa: ANN401 - a peewee model and condition
        return list(table.select().where(which).dicts().execute(self._db))

    def _put_pages(self, stays: Row, goes: Row, at: Row, rule: str) -> None:
        """Merge the rows of the two pages; the removed one keeps the former address."""
        joined: Any = PAGE(stays, goes)
        first = min(stays, goes, key=itemgetter("first_seen_at"))
        state = min(stays["state"], goes["state"], key=_STATES.index)
        if joined["announced_at"] is not None and state != PageState.GONE:
            state = PageState.KNOWN
        joined |= {
            "first_hub_id": first["first_hub_id"] or joined["first_hub_id"],
            "rule": stays["rule"] or goes["rule"],
            "state": PageState.KNOWN if state in {PageState.ALIAS, PageState.MOVED} else state,
            "moved_to": None,
            "verify_due_at": least(_planned(stays, goes, state), _planned(goes, stays, state)),
        }
        former = {
            "state": PageState.MOVED,
            "moved_to": stays["id"],
            "verify_due_at": None,
            "rule": rule,
            # The former address shows that the page was announced.
            "announced_at": joined["announced_at"],
        }
        other = goes if at is stays else stays
        # Two rows never have the same address, even briefly.
        self._set(goes["id"], former | {"canonical_key": f"merging {goes['id']}"})
        del joined["id"], joined["site"]
        self._set(stays["id"], joined | {name: at[name] for name in ("canonical_key", "url")})
        self._set(goes["id"], {name: other[name] for name in ("canonical_key", "url")})
        if joined["language"]:
            note_language(self._db, stays["id"], joined["language"])

    def _set(self, page_id: int, fields: Row) -> None:
        Page.update(fields).where(Page.id == page_id).execute(self._db)

    def _announce_once(self, page_id: int) -> None:
        """Delete later announcements: the list of new pages has the first."""
        added = (Change.page == page_id) & (Change.kind == ChangeKind.ADDED)
        listed = News.select(News.id).where(News.page == page_id).scalar(self._db)
        if listed is not None:
            Change.delete().where(added & (Change.id != listed)).execute(self._db)

"""Two pages that are one: nothing is lost, nothing is announced twice, whatever refers to them."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from peewee import (
    BigIntegerField,
    BlobField,
    BooleanField,
    DoubleField,
    ForeignKeyField,
    IntegerField,
)
from stories import DAY, HOME, START, announced_pages, new_hub, news_site, seen, visit_of

from store import Store
from store.answers import NewQuery
from store.crawl.merges import ADDRESSED, MERGES
from store.enums import ChangeKind, LabelOrigin, OutboxState, PageLabel, PageState
from store.models import (
    ALL,
    Backfill,
    BackfillPage,
    Change,
    News,
    OutboxEntry,
    Page,
    PageText,
    PageVector,
)
from store.outbox import alone
from store.rules import Fate
from store.values import LabelEntry, PageChange, ReadText, SiteChanges, TopicScore

OLD = HOME + "project/"
# Numbers that are no ids of pages.
OTHERS = {
    *("hub.site_id", "visit_request.site_id", "refresh.site_id"),
    # Ids of changes, backfills and spaces, and numbers of anything.
    *("backfill.id", "outbox.backfill_id", "outbox.change_id", "page_band.band"),
}


def name_of(column: Any) -> str:
    return f"{column.model._meta.table_name}.{column.name}"


def fields_of(model: Any) -> list[Any]:
    return list(model._meta.sorted_fields)


def test_every_column_that_refers_to_a_page_says_how_it_is_merged() -> None:
    """A new foreign key, or a new number named like an id, needs an entry in the table of merges."""
    wanted = set()
    for column in [one for model in ALL for one in fields_of(model)]:
        keyed = isinstance(column, ForeignKeyField) and column.rel_model is Page
        big = isinstance(column, BigIntegerField) and not column.primary_key
        named = isinstance(column, IntegerField) and column.name.endswith("_id")
        if keyed or ((big or named) and not isinstance(column, ForeignKeyField)):
            wanted.add(name_of(column))
    assert wanted - OTHERS == {name_of(merge.column) for merge in MERGES}


def test_every_table_named_by_address_and_read_by_page_follows_the_address() -> None:
    """What is only found by its address is a label, an example, or lies outside of every site."""
    outside = {"page.canonical_key", "discovery_page.canonical_key"}
    keys = [one for model in ALL for one in fields_of(model) if one.name == "canonical_key"]
    assert {name_of(one) for one in keys} - outside == {name_of(one.column) for one in ADDRESSED}


def test_the_key_of_a_merge_is_the_rest_of_a_unique_one() -> None:
    """Otherwise a merge would meet a row that is there already."""
    for merge in MERGES:
        meta = merge.column.model._meta
        unique = [set(names) for names, is_unique in meta.indexes if is_unique]
        unique += [{one.name for one in fields_of(merge.column.model) if one.unique}]
        keys = meta.primary_key.field_names if meta.composite_key else [meta.primary_key]
        unique += [{getattr(key, "name", key) for key in keys}] if meta.primary_key else []
        own = [names - {merge.column.name} for names in unique if merge.column.name in names]
        assert ([set(merge.key)] if merge.key is not None else []) == own, name_of(merge.column)


# --- one pair -----------------------------------------------------------------------------------


def page_id(store: Store, url: str) -> int:
    (row,) = store.read.find_page(url, seen(url).canonical_key)
    return int(row["id"])


def fold(store: Store, *paths: str, at: float = START + DAY) -> None:
    moves = [(page_id(store, OLD + path), seen(HOME + path)) for path in paths]
    store.write.change_site(1, SiteChanges(folded=tuple(moves)), at)


def read(store: Store, page: int, words: str, at: float = START + 1, **fields: Any) -> None:
    """Let a visit read a page."""
    text = ReadText(f"Title {words}", words, md5=f"{at:032.0f}", language="en")
    known = {"title": f"Title {words}", "language": "en", "published_at": START - DAY, **fields}
    known |= {"verified_at": at, "body_md5": text.md5}
    store.write.visit(visit_of(1, page, at, links=None, text=text, page_fields=known))


def test_an_announced_page_keeps_its_id_and_all_that_is_known_of_it(store: Store) -> None:
    site, home = news_site(store)
    store.outbox.since("mail", now=START - DAY)
    topic = store.topics.add("bridges", [], "fused", now=START)
    (page,) = store.write.visit(visit_of(site, home, START, seen(OLD + "a", fate=Fate.ANNOUNCE)))
    read(store, page, "suspension bridges")
    key = seen(OLD + "a").canonical_key
    score = TopicScore(key, topic, 0.9, "relevant", fetched=True, method="fused", version="1")
    store.topics.put_scores(site, [score], now=START + 2)
    store.outbox.queue("mail", alone([page]), now=START + 2)
    PageVector.update(space=1, vector=b"v").where(PageVector.page == page).execute(store.database)
    store.answers.mark([page], now=START + 3, read=True, starred=True)
    (before,) = announced_pages(store, text="suspension")
    store.write.add_pages(site, [seen(HOME + "a")], now=START + 4)
    fold(store, "a")
    (after,) = announced_pages(store, text="suspension")
    assert before.topics
    assert after.url == HOME + "a"
    for name in ("cursor", "page_id", "title", "language", "published_at", "found_at", "topics"):
        assert getattr(after, name) == getattr(before, name), name
    assert (after.read_at, after.starred_at) == (START + 3, START + 3)
    assert store.outbox.queue("mail", alone([page]), now=START + 9) == 0
    assert [entry.url for entry in store.outbox.recent("mail")] == [HOME + "a"]
    vectors = PageVector.select(PageVector.page, PageVector.vector).tuples()
    assert [(one, bytes(v)) for one, v in vectors.execute(store.database)] == [(page, b"v")]
    assert len(store.read.visits(page)) == 1


def test_a_message_that_was_sent_of_either_address_is_never_sent_again(store: Store) -> None:
    site, home = news_site(store)
    links = [seen(OLD + "a", fate=Fate.ANNOUNCE), seen(HOME + "a", fate=Fate.ANNOUNCE)]
    first, second = store.write.visit(visit_of(site, home, START, *links))
    store.outbox.queue("mail", alone([first, second]), now=START)
    entry = next(one for one in store.outbox.open("mail") if one.page_id == second)
    store.outbox.begin([entry.id], "key")
    store.outbox.sent("key", now=START + 1)
    fold(store, "a")
    assert store.outbox.open("mail") == []
    assert [one.state for one in store.outbox.recent("mail")] == [OutboxState.SENT]


def test_bodies_are_found_under_the_new_address(store: Store) -> None:
    site, home = news_site(store)
    (page,) = store.write.visit(visit_of(site, home, START, seen(OLD + "a", fate=Fate.ANNOUNCE)))
    before, after = (store.cache.put(OLD + "a", body) for body in (b"before", b"after"))
    change = PageChange(ChangeKind.CHANGED, body_before=before, body_after=after)
    store.write.visit(visit_of(site, page, START + 1, links=None, page_change=change))
    fold(store, "a")
    assert store.cache.get(HOME + "a", before) == b"before"
    assert store.cache.get(HOME + "a", after) == b"after"


def test_a_correction_follows_the_address_and_the_later_one_counts(store: Store) -> None:
    site, home = news_site(store)
    store.write.visit(visit_of(site, home, START, seen(OLD + "a"), seen(OLD + "b")))
    said = [(OLD + "a", PageLabel.ARTICLE, 2), (HOME + "a", PageLabel.HUB, 1)]
    said += [(OLD + "b", PageLabel.HUB, 1)]
    store.write.put_labels(
        LabelEntry(url, seen(url).canonical_key, label, LabelOrigin.USER, START + at)
        for url, label, at in said
    )
    fold(store, "a", "b")
    labels = {one.url: one.label for one in store.read.labels()}
    assert labels == {HOME + "a": PageLabel.ARTICLE, HOME + "b": PageLabel.HUB}


def test_a_former_address_that_is_shown_again_is_the_page(store: Store) -> None:
    """Some hub goes on linking to it; nothing is new, and the sighting is that of the page."""
    site, home = news_site(store)
    (page,) = store.write.visit(visit_of(site, home, START, seen(OLD + "a", fate=Fate.ANNOUNCE)))
    fold(store, "a")
    again = visit_of(site, home, START + 2 * DAY, seen(OLD + "a", fate=Fate.ANNOUNCE))
    assert store.write.visit(again) == []
    assert store.read.visible(home) == {page}
    assert len(announced_pages(store)) == 1


def test_a_visit_under_way_while_its_page_became_another_is_recorded_of_that_one(
    store: Store,
) -> None:
    site, home = news_site(store)
    store.write.visit(visit_of(site, home, START, seen(HOME + "a", fate=Fate.ANNOUNCE)))
    store.write.add_pages(site, [seen(OLD + "a", hub=new_hub())], now=START)
    going = page_id(store, OLD + "a")
    fold(store, "a")
    read(store, going, "bridges", START + DAY)
    (page,) = announced_pages(store)
    assert (page.url, page.title) == (HOME + "a", "Title bridges")
    assert page_id(store, OLD + "a") == going


@pytest.mark.parametrize("announced_first", [True, False])
def test_a_page_that_redirects_to_a_known_one_is_that_page(
    store: Store, announced_first: bool
) -> None:
    site, home = news_site(store)
    links = [
        seen(HOME + "copy", fate=Fate.ANNOUNCE if announced_first else Fate.KNOWN),
        seen(HOME + "a"),
    ]
    store.write.visit(visit_of(site, home, START, *links))
    copy, page = page_id(store, HOME + "copy"), page_id(store, HOME + "a")
    moved = {"state": PageState.MOVED, "moved_to": page, "verify_due_at": None}
    store.write.visit(visit_of(site, copy, START + 1, links=None, page_fields=moved))
    listed = [(row.page_id, row.url) for row in announced_pages(store)]
    assert listed == ([(copy, HOME + "a")] if announced_first else [])


def test_pages_of_two_backfills_stay_pages_of_both(store: Store) -> None:
    site, home = news_site(store)
    for hours, url in enumerate((OLD + "a", HOME + "a")):
        record = visit_of(site, home, START + hours * DAY, seen(url, fate=Fate.BACKFILL))
        store.write.visit(record)
    events = store.backfills.events(NewQuery(order="oldest"))
    pairs = [(event.id, event.page_id) for event in events]
    assert store.outbox.queue("mail", [(page, event, 0) for event, page in pairs], now=START) == 2
    fold(store, "a")
    after = store.backfills.events(NewQuery(order="oldest"))
    assert [(one.id, one.pages) for one in after] == [(one.id, one.pages) for one in events]
    pairs = [(event.id, event.page_id) for event in after]
    assert store.outbox.queue("mail", [(page, event, 0) for event, page in pairs], now=START) == 0


# --- any pages ----------------------------------------------------------------------------------


WORDS = ("bridge", "river", "station", "market", "harbour")
NAMES = [f"{n}" for n in range(6)]
# Written by visits and by the outbox.
BY_VISITS = (Page, News, Backfill, BackfillPage, Change, OutboxEntry)


def anything(chance: random.Random, column: Any) -> Any:
    if column.null and chance.random() < 0.4:
        return None
    if isinstance(column, BooleanField):
        return chance.random() < 0.5
    if isinstance(column, BlobField):
        return chance.randbytes(8)
    if isinstance(column, DoubleField):
        return START + chance.randrange(1000)
    if isinstance(column, IntegerField | BigIntegerField):
        return chance.randrange(5)
    return column.default or chance.choice(WORDS)


def some_row(store: Store, chance: random.Random, table: Any, pages: list[int]) -> dict[str, Any]:
    """Any row of a table, which refers to any pages and topics, and to what it needs else."""
    row: dict[str, Any] = {}
    for column in fields_of(table):
        if isinstance(column, ForeignKeyField):
            row[column.name] = chance.choice(pages) if column.rel_model is Page else None
        elif column.name != "id":
            row[column.name] = anything(chance, column)
    needed: dict[str, Callable[[], Any]] = {
        "site": lambda: 1,
        "site_id": lambda: 1,
        "topic": lambda: store.topics.add(chance.choice(WORDS), [], "fused", now=START),
        "watch": lambda: store.page_watches.put(1, row["page"], f"{HOME}tea", now=START),
        "cluster": lambda: chance.choice(pages),
        "text": lambda: None,
        "words": lambda: None,
        "change": lambda: Change.insert(
            site=1, page=row["page"], kind=ChangeKind.CHANGED, at=START
        ).execute(store.database),
    }
    return row | {name: make() for name, make in needed.items() if name in row}


def twice_seen(store: Store, chance: random.Random) -> list[int]:
    """Six pages under two addresses each, with all that may be known of an address; return their ids."""
    site, home = news_site(store)
    urls = [prefix + name for name in NAMES for prefix in (OLD, HOME)]
    chance.shuffle(urls)
    fates = [*[Fate.ANNOUNCE] * 6, *[Fate.BACKFILL] * 3, *[Fate.VERIFY] * 3]
    chance.shuffle(fates)
    for at, url in enumerate(urls):
        link = seen(url, anchor=url, fate=fates[at])
        store.write.visit(visit_of(site, home, START + at, link, keep_missing=True))
    pages = [page_id(store, url) for url in urls]
    for page in chance.sample(pages, 8):
        read(store, page, f"{chance.choice(WORDS)} {page}", START + chance.randrange(100))
    queue_all(store, START)
    for entry in store.outbox.open("mail")[::2]:
        store.outbox.begin([entry.id], f"key {entry.id}")
        store.outbox.sent(f"key {entry.id}", now=START + 5)
    tables = {merge.column.model for merge in MERGES} - {*BY_VISITS}
    for table in sorted(tables, key=lambda table: str(table.__name__)):
        for _ in range(12):
            row = some_row(store, chance, table, pages)
            table.insert(row).on_conflict_ignore().execute(store.database)
    PageText.update(cluster=chance.choice(pages)).execute(store.database)
    return pages


def queue_all(store: Store, now: float) -> int:
    """Queue for a channel whatever is announced; return how much was."""
    events = [(one.id, one.page_id) for one in store.backfills.events(NewQuery())]
    pages = [row.page_id for row in announced_pages(store)]
    queued = store.outbox.queue("mail", alone(pages), now=now)
    return queued + store.outbox.queue(
        "mail", [(page, event, 0) for event, page in events], now=now
    )


def references(store: Store, living: dict[int, int]) -> dict[str, set[tuple[Any, ...]]]:
    """By column, which pages its rows refer to, with the rest of the rows' keys."""
    found: dict[str, set[tuple[Any, ...]]] = {}
    for merge in MERGES:
        names = (merge.column.name, *(merge.key or ()))
        pages = [merge.column.name, "page", "hub", "other"]
        rows = merge.column.model.select().dicts().execute(store.database)
        found[name_of(merge.column)] = {
            tuple(living.get(row[one], row[one]) if one in pages else row[one] for one in names)
            for row in rows
            if row[merge.column.name] is not None
        }
    return found


def fold_all(store: Store, chance: random.Random) -> None:
    """Let the addresses become one, some at a time, as aliases or in URL migrations."""
    moves = [(page_id(store, OLD + name), seen(HOME + name)) for name in NAMES]
    chance.shuffle(moves)
    (home,) = (row["id"] for row in store.read.find_page(HOME, ""))
    while moves:
        some = [moves.pop() for _ in range(chance.randint(1, len(moves)))]
        if chance.random() < 0.5:
            store.write.change_site(1, SiteChanges(folded=tuple(some)), START + DAY)
        else:
            links = [seen(link.url, moved_from=old) for old, link in some]
            store.write.visit(visit_of(1, home, START + DAY, *links, keep_missing=True))


def page_rows(store: Store) -> dict[int, dict[str, Any]]:
    return {row["id"]: row for row in Page.select().dicts().execute(store.database)}


@pytest.mark.parametrize("seed", range(8))
def test_whatever_refers_to_pages_follows_them(store: Store, seed: int) -> None:
    """Of two announced pages the first stays; all that was known, said, marked and sent is that page's."""
    chance = random.Random(seed)
    pages = twice_seen(store, chance)
    listed = announced_pages(store, order="oldest")
    marked = [row.page_id for row in listed[::2]]
    store.answers.mark(marked, now=START + 6, read=True, starred=True)
    alone = [row for row in store.outbox.recent("mail", limit=99) if row.backfill_id is None]
    sent = {row.page_id for row in alone if row.sent_at}
    known, referred = page_rows(store), references(store, {})
    assert [name for name, rows in referred.items() if not rows] == ["page.moved_to"]
    fold_all(store, chance)

    living = {page: row["moved_to"] or page for page, row in page_rows(store).items()}
    former = {page for page in pages if living[page] != page}
    assert len(former) == len(NAMES)
    first: dict[int, int] = {}
    for row in listed:
        first.setdefault(living[row.page_id], row.cursor)
    after = announced_pages(store)
    assert {row.page_id: row.cursor for row in after} == first
    assert {row.url for row in after} <= {HOME + name for name in NAMES}
    assert {row.page_id for row in after if row.starred_at} == {living[page] for page in marked}
    assert queue_all(store, START + 2 * DAY) == 0
    waiting = {row.page_id for row in store.outbox.open("mail") if row.backfill_id is None}
    assert not waiting & {living[page] for page in sent}

    now, all_now = references(store, {}), references(store, living)
    mixed = {"backfill_page.page", "outbox.page", "page.moved_to"}
    for name, rows in referred.items():
        pairs = name.startswith("sighting")
        moved = {
            tuple(living.get(one, one) if n == 0 or pairs else one for n, one in enumerate(row))
            for row in rows
        }
        # No page shows itself.
        assert {row for row in moved if not pairs or row[0] != row[1]} <= all_now[name], name
        assert name in mixed or not {row[0] for row in now[name]} & former, name
    rows_now = page_rows(store)
    for page in pages:
        for name in ("title", "language", "published_at", "body_md5", "verified_at", "anchor"):
            assert known[page][name] in {None, ""} or rows_now[living[page]][name], name

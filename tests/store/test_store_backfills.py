"""Events of older pages in the store: each page in one, none told by itself, on both databases."""

from dataclasses import replace
from pathlib import Path

from stories import DAY, HOME, HOUR, START, announced_pages, new_hub, news_site, seen, visit_of

from store import Store, open_store
from store.answers import NewQuery
from store.enums import LabelOrigin, PageLabel
from store.rules import Fate
from store.values import LabelEntry, SeenLink, SiteChanges


def older(*names: str) -> list[SeenLink]:
    return [seen(HOME + name, anchor=name, fate="backfill") for name in names]


def gain(store: Store, *names: str, at: float = START + HOUR) -> tuple[int, int]:
    site, home = news_site(store)
    record = visit_of(site, home, at, *older(*names), keep_missing=True, backfill_folder="/b/")
    assert store.write.visit(record) == []
    return site, home


def names(store: Store, event: int | None = None) -> list[str]:
    rows = store.backfills.pages(NewQuery(order="oldest"), event=event)
    return [row.url.removeprefix(HOME) for row in rows]


def test_a_page_is_of_one_event_and_never_announced_by_itself(store: Store) -> None:
    site, home = gain(store, "a", "b")
    gain(store, "b", "c", at=START + 2 * HOUR)
    gain(store, "a", "b", "c", at=START + 3 * HOUR)
    events = store.backfills.events(NewQuery(order="oldest"))
    assert [event.pages for event in events] == [2, 1]
    assert names(store) == ["a", "b", "c"]
    assert [row["kind"] for row in store.read.site_changes(site)] == ["backfill", "backfill"]
    assert announced_pages(store) == []
    assert store.read.announced_since(site, 0.0) == 0
    assert store.read.site_totals()[site]["new_pages"] == 0
    assert store.read.hub(home) is not None


def test_announced_pages_join_no_event(store: Store) -> None:
    site, home = news_site(store)
    store.write.visit(visit_of(site, home, START, seen(HOME + "a", fate="announce")))
    gain(store, "a", "b")
    assert names(store) == ["b"]


def test_what_was_known_as_old_becomes_a_page_of_the_event(store: Store) -> None:
    site, home = news_site(store)
    store.write.visit(visit_of(site, home, START, seen(HOME + "a", fate="backdated")))
    gain(store, "a")
    (page,) = store.read.find_page(HOME + "a", "")
    assert (page["state"], page["announced_at"]) == ("backfill", None)


def turns_out(store: Store, name: str, *, at: float, folder: str = "/b/") -> None:
    """Let a page that its list gained, and that was taken for a hub, turn out an article."""
    site, home = news_site(store)
    link = seen(HOME + name, fate="hub_and_backfill")
    ids = store.write.add_pages(site, [link], now=at, hub_id=home)
    for _ in range(2):
        record = visit_of(site, ids[link.canonical_key], at)
        record = replace(record, links=None, fate=Fate.BACKFILL, backfill_folder=folder)
        assert store.write.visit(replace(record, first_hub_id=home)) == []


def test_an_article_that_was_taken_for_a_hub_joins_its_lists_event_for_minutes(
    store: Store,
) -> None:
    _, home = gain(store, "a")
    turns_out(store, "x", at=START + HOUR + 60)
    turns_out(store, "y", at=START + 2 * HOUR)
    events = store.backfills.events(NewQuery(order="oldest"))
    assert [(event.pages, event.hub_id) for event in events] == [(2, home), (1, home)]
    assert names(store, events[0].id) == ["a", "x"]


def test_an_event_that_a_page_joined_says_so_everywhere(store: Store) -> None:
    site, _ = gain(store, "a")
    turns_out(store, "c/x", at=START + HOUR + 60, folder="/c/")
    (event,) = store.backfills.events(NewQuery())
    assert (event.pages, event.folder) == (2, "/")
    (change,) = store.read.site_changes(site)
    assert change["detail"] == 'backfill.added {"n": 2, "folder": "/"}'


def test_no_page_joins_an_event_of_which_people_have_heard(store: Store) -> None:
    gain(store, "a")
    (first,) = store.backfills.events(NewQuery())
    store.backfills.mark([first.id], now=START + HOUR, read=True)
    turns_out(store, "x", at=START + HOUR + 60)
    (second,) = store.backfills.events(NewQuery(), above=first.id)
    store.outbox.queue("mail", [(second.page_id, second.id, 0)], now=START)
    turns_out(store, "y", at=START + HOUR + 90)
    events = store.backfills.events(NewQuery(order="oldest"))
    assert [event.pages for event in events] == [1, 1, 1]
    assert events[2].read_at is None


def test_a_page_of_an_event_is_announced_no_second_time(store: Store) -> None:
    site, home = gain(store, "a", "b")
    (page,) = store.read.find_page(HOME + "a", "")
    record = visit_of(site, page["id"], START + 2 * HOUR)
    assert store.write.visit(replace(record, fate=Fate.ANNOUNCE, first_hub_id=home)) == []
    links = [seen(HOME + name, fate="announce") for name in ("a", "b", "c")]
    news = store.write.visit(visit_of(site, home, START + 3 * HOUR, *links))
    assert store.read.urls(news) == [HOME + "c"]
    (page,) = store.read.find_page(HOME + "a", "")
    assert (page["state"], page["announced_at"]) == ("backfill", None)


def test_a_page_that_waits_to_be_read_as_a_hub_is_of_an_event_when_a_user_says_it_is_none(
    store: Store,
) -> None:
    site, home = news_site(store)
    link = seen(HOME + "2007/x/", fate="hub_and_backfill", hub=new_hub())
    store.write.visit(visit_of(site, home, START, link))
    label = LabelEntry(
        link.url, link.canonical_key, PageLabel.ARTICLE, LabelOrigin.USER, START + 9, "", site
    )
    for _ in range(2):
        store.write.correct(label, [(site, seen(HOME + "2007/x/"))])
    (event,) = store.backfills.events(NewQuery())
    assert (event.pages, event.folder, event.hub_id) == (1, "/2007/x/", home)
    assert (event.found_at, event.url) == (START + 9, HOME + "2007/x/")
    assert [hub.url for hub in store.read.hubs(site)] == [HOME]


def test_a_page_under_a_new_address_stays_of_its_event_once(store: Store) -> None:
    site, home = gain(store, "m/a", "m/b", "b")
    ids = {
        page["url"]: page["id"]
        for n in ("m/a", "m/b")
        for page in store.read.find_page(HOME + n, "")
    }
    moves = [(ids[HOME + "m/a"], seen(HOME + "a")), (ids[HOME + "m/b"], seen(HOME + "b"))]
    store.write.change_site(site, SiteChanges(folded=tuple(moves)), START + DAY)
    assert home
    assert set(names(store)) >= {"a", "b"}
    gain(store, "a", at=START + 2 * DAY)
    assert len(store.backfills.events(NewQuery())) == 1


def test_removing_a_site_removes_its_events(store: Store) -> None:
    site, home = gain(store, "a")
    event = store.backfills.events(NewQuery())[0]
    store.outbox.queue("mail", [(event.page_id, event.id, 0)], now=START)
    store.write.remove_site(site)
    assert home
    assert store.backfills.events(NewQuery()) == []
    assert store.outbox.open("mail") == []


def test_an_event_is_queued_once_for_each_channel(store: Store) -> None:
    gain(store, "a", "b")
    event = store.backfills.events(NewQuery())[0]
    wanted = [(event.page_id, event.id, 0)]
    queued = [store.outbox.queue(name, wanted, now=START) for name in ("x", "x", "y")]
    assert queued == [1, 0, 1]
    assert [one.backfill_id for one in store.outbox.open("x")] == [event.id]
    other = store.backfills.pages(NewQuery(limit=1))[0].page_id
    assert store.outbox.queue("x", [(other, event.id, 0)], now=START) == 0


def test_marks_of_events(store: Store) -> None:
    gain(store, "a")
    (event,) = store.backfills.events(NewQuery(read=False))
    assert store.backfills.mark([event.id, 999], now=START, read=True) == [event.id]
    assert store.backfills.events(NewQuery(read=False)) == []
    store.backfills.mark([event.id], now=START, read=False)
    assert len(store.backfills.events(NewQuery(read=False))) == 1


def test_a_store_that_was_opened_again_knows_them(where: str, tmp_path: Path) -> None:
    with open_store(where, cache_folder=tmp_path) as store:
        gain(store, "a", "b")
    with open_store(where, cache_folder=tmp_path) as store:
        assert names(store) == ["a", "b"]
        gain(store, "a", "b", at=START + DAY)
        assert names(store) == ["a", "b"]

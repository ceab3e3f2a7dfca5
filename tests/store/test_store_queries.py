"""The questions that people and the crawler ask, on every database alike."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stories import DAY, HOME, HOUR, START, announced_pages, new_hub, news_site, seen, visit_of

from store import Store, open_store
from store.enums import HubClass, HubKind, HubRole, HubStatus, SiteStatus
from store.values import NEVER_DUE, NewHub, SeenLink


def publish(store: Store, site: int, hub: int, *numbers: int) -> None:
    for number in numbers:
        link = seen(f"{HOME}{number}", fate="announce")
        store.write.visit(visit_of(site, hub, START + number, link, keep_missing=True))


def test_new_pages_are_bounded_by_time_half_open(store: Store) -> None:
    site, home = news_site(store)
    publish(store, site, home, 1, 2, 3)
    found = announced_pages(store, since=START + 1, until=START + 3)
    assert [page.found_at for page in found] == [START + 2, START + 1]
    assert announced_pages(store, sites=(site + 1,)) == []
    assert len(announced_pages(store, sites=(site,), limit=2)) == 2


@pytest.mark.parametrize("batch", [1, 2, 7])
def test_following_the_cursor_neither_skips_nor_repeats(store: Store, batch: int) -> None:
    """Pages arrive between two reads; every one is read once, in the order of recording."""
    site, home = news_site(store)
    cursor, read = 0, []
    for number in range(1, 12):
        publish(store, site, home, number)
        page = announced_pages(store, after=cursor, order="oldest", limit=batch)
        cursor = page[-1].cursor if page else cursor
        read += [row.url for row in page]
    while rest := announced_pages(store, after=cursor, order="oldest", limit=batch):
        cursor = rest[-1].cursor
        read += [row.url for row in rest]
    assert read == [f"{HOME}{number}" for number in range(1, 12)]


@settings(max_examples=20)
@given(steps=st.lists(st.sampled_from(["publish", "read", "move", "remove"]), max_size=25))
def test_a_follower_reads_each_announced_page_once(
    steps: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever happens in between, the cursor passes each announcement once."""
    folder = tmp_path_factory.mktemp("follow")
    with open_store(str(folder / "s.sqlite"), cache_folder=folder) as store:
        site, home = news_site(store)
        cursor, read, removed = 0, [], 0
        for number, step in enumerate([*steps, "read"], 1):
            if step == "publish":
                publish(store, site, home, number)
            elif step == "read":
                rows = announced_pages(store, after=cursor, order="oldest", limit=99)
                read += [row.url for row in rows]
                cursor = max([cursor, *(row.cursor for row in rows)])
            elif step == "remove":
                store.write.remove_site(site)
                site, home = news_site(store)
                removed = number
            else:
                rows = announced_pages(store, limit=1)
                moved = [seen(f"{HOME}moved/{number}", moved_from=row.page_id) for row in rows]
                store.write.visit(visit_of(site, home, START + number, *moved))
        assert len(read) == len(set(read))
        surviving = [n for n, step in enumerate(steps, 1) if step == "publish" and n > removed]
        assert len(announced_pages(store, limit=99)) == len(surviving)


def test_due_hubs_come_longest_overdue_first_and_read_ones_apart(store: Store) -> None:
    site, _ = news_site(store)
    links = [seen(f"{HOME}{n}/", hub=new_hub(START + n)) for n in (3, 1, 2)]
    ids = store.write.add_pages(site, links, now=START)
    read = ids[links[0].canonical_key]
    store.write.update_hub(read, baseline_at=START)
    fresh = store.read.due_hubs(site, START + 9, HubClass.EXPLORE, limit=9)
    assert [hub.url for hub in fresh] == [HOME, f"{HOME}1/", f"{HOME}2/"]
    assert [hub.page_id for hub in store.read.due_hubs(site, START + 9, HubClass.REVISIT)] == [read]
    assert store.read.due_hubs(site, START - 1, HubClass.EXPLORE) == []


def test_a_page_is_found_by_url_or_canonical_key_with_its_site(store: Store) -> None:
    news_site(store)
    (by_url,) = store.read.find_page(HOME, "nothing")
    (by_canonical_key,) = store.read.find_page("nothing", seen(HOME).canonical_key)
    assert by_url == by_canonical_key
    assert by_url["site_name"] == "news.example"
    assert store.read.find_page("nothing", "nothing") == []


def test_known_headlines_are_found_cut_or_not(store: Store) -> None:
    site, _ = news_site(store)
    long, short = "long headline " * 100, "short headline"
    links = [seen(HOME + "a", anchor=long), seen(HOME + "b", anchor=short)]
    ids = store.write.add_pages(site, links, now=START)
    found = store.read.known_anchors(site, [long, short, "unknown"])
    assert found == {long: ids[links[0].canonical_key], short: ids[links[1].canonical_key]}


def test_visits_are_counted_by_site_and_status(store: Store) -> None:
    site, home = news_site(store)
    for hours, status in ((0, "fetched"), (1, "fetched"), (2, "timed_out")):
        store.write.visit(visit_of(site, home, START + hours * HOUR, status=status, links=None))
    assert store.read.visit_counts(START + HOUR) == {site: {"fetched": 1, "timed_out": 1}}


def test_totals_count_pages_hubs_that_were_read_and_what_was_announced(store: Store) -> None:
    site, home = news_site(store)
    publish(store, site, home, 1, 2)
    assert store.read.site_totals()[site]["hubs"] == 0
    store.write.visit(visit_of(site, home, START + 9 * HOUR, hub_fields={"visits": 1}, links=None))
    assert store.read.site_totals() == {
        site: {"pages": 3, "new_pages": 2, "hubs": 1, "candidates": 0}
    }
    # A later page of a list is read once, and stays a hub; one that was given up does not.
    store.write.update_hub(home, due_at=NEVER_DUE)
    assert store.read.site_totals()[site]["hubs"] == 1
    store.write.update_hub(home, state=HubStatus.DROPPED)
    assert store.read.site_totals()[site]["hubs"] == 0


def test_a_change_by_another_connection_is_noticed(store: Store) -> None:
    before = store.read.generation()
    assert store.read.generation() == before
    with open_store(store.where, cache_folder=store.cache_folder) as other:
        news_site(other)
    assert store.read.generation() != before


def test_pausing_one_site_and_resuming_another_is_noticed(store: Store) -> None:
    first, second = (store.write.add_site(f"https://{x}.example/", x, now=START) for x in "ab")
    store.write.update_site(first, state=SiteStatus.PAUSED)
    before = store.read.generation()
    with open_store(store.where, cache_folder=store.cache_folder) as other:
        other.write.update_site(first, state=SiteStatus.ACTIVE)
        other.write.update_site(second, state=SiteStatus.PAUSED)
    assert store.read.generation() != before


def test_adding_a_site_again_with_other_terms_is_noticed(store: Store) -> None:
    site, _ = news_site(store)
    row = store.read.site(site)
    assert row is not None
    before = store.read.generation()
    with open_store(store.where, cache_folder=store.cache_folder) as other:
        other.write.add_site(row.seed_url, "again", now=START + DAY, requests_per_day=3.0)
    assert store.read.generation() != before


def test_what_the_crawler_itself_finds_is_no_change(store: Store) -> None:
    """On PostgreSQL each new hub made it read all sites again."""
    site, home = news_site(store)
    before = store.read.generation()
    hub = NewHub(HubKind.HTML, HubRole.LIST, 0.9, "looks like a list", START)
    link = SeenLink("//news.example/list", "https://news.example/list", hub=hub)
    store.write.visit(visit_of(site, home, START, link))
    assert store.read.generation() == before

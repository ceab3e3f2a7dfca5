"""The contract of recording visits, on every database alike."""

from typing import Any

import pytest
from stories import DAY, HOME, HOUR, START, announced_pages, new_hub, news_site, seen, visit_of

from store import Store
from store.enums import (
    ChangeKind,
    HubClass,
    HubRole,
    HubStatus,
    LabelOrigin,
    PageLabel,
    SiteEventKind,
)
from store.maintenance.retention import Kind
from store.models import Change, Page
from store.values import HostRow, LabelEntry, PageChange, SiteChange, VisitPlan


def announced_urls(store: Store, **where: Any) -> list[str]:
    """The URLs that were announced as new, oldest first."""
    return [page.url for page in announced_pages(store, order="oldest", **where)]


def test_a_visit_makes_pages_sightings_and_announcements_at_once(store: Store) -> None:
    site, home = news_site(store)
    a, b = seen(HOME + "a", anchor="A", fate="announce"), seen(HOME + "b", anchor="B")
    (announced,) = store.write.visit(visit_of(site, home, START + HOUR, a, b))
    assert store.read.urls([announced]) == [HOME + "a"]
    assert announced_urls(store) == [HOME + "a"]
    assert store.read.shown_by(home) == {a.canonical_key, b.canonical_key}
    assert store.read.visits(home)[0]["links"] == 2


def test_what_fails_in_the_middle_leaves_nothing(store: Store) -> None:
    site, home = news_site(store)
    link = seen(HOME + "a", fate="announce")
    broken = visit_of(site, home, START, link, hub_fields={"due_at": object()})
    with pytest.raises(Exception, match=r"object|adapt|bind|supported"):
        store.write.visit(broken)
    assert announced_urls(store) == []
    assert store.read.known(site, [link.canonical_key]) == {}
    assert store.read.visits(home) == []


def test_a_page_is_announced_once_whatever_the_crawler_says(store: Store) -> None:
    site, home = news_site(store)
    link = seen(HOME + "a", fate="announce")
    first = store.write.visit(visit_of(site, home, START + 1, link, link))
    again = store.write.visit(visit_of(site, home, START + 2, link))
    assert (len(first), again) == (1, [])
    assert announced_urls(store) == [HOME + "a"]
    assert announced_pages(store)[0].found_at == START + 1


def test_a_page_known_from_a_baseline_can_still_be_announced(store: Store) -> None:
    site, home = news_site(store)
    store.write.visit(visit_of(site, home, START, seen(HOME + "a")))
    assert announced_urls(store) == []
    store.write.visit(visit_of(site, home, START + HOUR, seen(HOME + "a", fate="announce")))
    assert announced_urls(store) == [HOME + "a"]


def test_a_known_page_that_is_announced_is_verified_if_it_was_never_read(store: Store) -> None:
    """What was read, waits already, or is a list read as a hub keeps what was planned for it."""
    site, home = news_site(store)
    names = ("new", "known", "read", "waits", "list", "monitored")
    planned: dict[str, Any] = {
        "waits": {"fate": "verify", "verify_score": 0.1},
        "list": {"hub": new_hub()},
        "monitored": {"hub": new_hub(role=HubRole.ARTICLE)},
    }
    before = [seen(HOME + name, **planned.get(name, {})) for name in names[1:]]
    store.write.visit(visit_of(site, home, START, *before))
    (read,) = store.read.find_page(HOME + "read", "")
    store.write.update_page(read["id"], verified_at=START)
    fresh = {"verify_score": 0.7, "link_context": "{}"}
    news = [seen(HOME + name, fate="announce", **fresh) for name in names]
    silent = seen(HOME + "silent")
    store.write.visit(visit_of(site, home, START + 60, silent, keep_missing=True))
    again = seen(HOME + "silent", **fresh)
    store.write.visit(visit_of(site, home, START + HOUR, *news, again))

    def plan(name: str) -> tuple[Any, ...]:
        (row,) = store.read.find_page(HOME + name, "")
        return tuple(row[column] for column in ("verify_due_at", *fresh))

    expected = (START + HOUR, 0.7, "{}")
    assert {plan(name) for name in ("new", "known", "monitored")} == {expected}
    assert plan("waits") == (START, 0.1, None)
    assert {plan(name) for name in ("read", "list", "silent")} == {(None, None, None)}


def test_a_verification_announces_the_page_once(store: Store) -> None:
    site, home = news_site(store)
    (page,) = store.write.add_pages(site, [seen(HOME + "a")], now=START).values()
    verification = visit_of(site, page, START + 1, links=None, fate="announce", first_hub_id=home)
    assert store.write.visit(verification) == [page]
    assert store.write.visit(verification) == []
    assert announced_pages(store)[0].hub_url == HOME


def test_a_sighting_goes_and_comes_back(store: Store) -> None:
    site, home = news_site(store)
    a, b = seen(HOME + "a"), seen(HOME + "b")
    store.write.visit(visit_of(site, home, START, a, b))
    store.write.visit(visit_of(site, home, START + 1, b))
    page = store.read.known(site, [a.canonical_key])[a.canonical_key].id
    assert store.read.sightings(page)[0]["gone_at"] == START + 1
    assert page not in store.read.visible(home)
    store.write.visit(visit_of(site, home, START + 2, a, b))
    assert store.read.sightings(page)[0]["gone_at"] is None
    assert store.read.sightings(page)[0]["first_seen_at"] == START


def test_a_list_cut_short_loses_nothing(store: Store) -> None:
    site, home = news_site(store)
    store.write.visit(visit_of(site, home, START, seen(HOME + "a"), seen(HOME + "b")))
    store.write.visit(visit_of(site, home, START + 1, seen(HOME + "c"), keep_missing=True))
    assert len(store.read.visible(home)) == 3


def test_an_unchanged_page_keeps_its_sightings_and_an_empty_one_loses_them(store: Store) -> None:
    site, home = news_site(store)
    store.write.visit(visit_of(site, home, START, seen(HOME + "a")))
    store.write.visit(visit_of(site, home, START + 1, links=None, status="not_modified"))
    assert len(store.read.visible(home)) == 1
    store.write.visit(visit_of(site, home, START + 2))
    assert store.read.visible(home) == set()


def test_a_link_becomes_a_hub_and_stays_the_hub_it_is(store: Store) -> None:
    site, home = news_site(store)
    list_page = seen(HOME + "list/", hub=new_hub(START + 5, why="looks like a list"))
    store.write.visit(visit_of(site, home, START, list_page))
    (hub,) = store.read.due_hubs(site, START + 5, HubClass.EXPLORE, limit=5)[1:]
    store.write.update_hub(hub.page_id, state=HubStatus.ACTIVE, visits=3)
    store.write.visit(visit_of(site, home, START + 9, seen(HOME + "list/", hub=new_hub(0.0))))
    after = store.read.hub(hub.page_id)
    assert after is not None
    assert (after.state, after.visits, after.due_at) == ("active", 3, START + 5)


def test_named_pages_become_known_without_a_sighting(store: Store) -> None:
    site, home = news_site(store)
    feed = seen(HOME + "feed.xml", hub=new_hub(kind="feed"))
    store.write.visit(visit_of(site, home, START, more_pages=(feed,)))
    assert store.read.known(site, [feed.canonical_key])[feed.canonical_key].is_hub
    assert store.read.visible(home) == set()


def test_more_links_than_one_statement_takes(store: Store) -> None:
    site, home = news_site(store)
    links = [seen(f"{HOME}{number}", fate="announce") for number in range(1_234)]
    assert len(store.write.visit(visit_of(site, home, START, *links))) == 1_234
    store.write.visit(visit_of(site, home, START + 1))
    store.write.visit(visit_of(site, home, START + 2, *links))
    assert len(store.read.visible(home)) == 1_234
    assert len(announced_urls(store, limit=9_999)) == 1_234


def test_a_move_keeps_what_was_announced_under_the_new_address(store: Store) -> None:
    """A URL migration is one event: nothing is announced again, and nothing that was announced is lost."""
    site, home = news_site(store)
    (old,) = store.write.visit(visit_of(site, home, START, seen(HOME + "old", fate="announce")))
    moved = seen(HOME + "new", moved_from=old)
    change = SiteChange(SiteEventKind.URL_MIGRATION, "links changed their form")
    store.write.visit(visit_of(site, home, START + DAY, moved, site_change=change))
    (page,) = announced_pages(store)
    assert (page.url, page.found_at) == (HOME + "new", START)
    assert store.answers.history(old)[0].kind == "moved"
    assert store.read.known(site, [moved.canonical_key])[moved.canonical_key].announced_at == START
    assert [row["kind"] for row in store.read.site_changes(site)] == ["url_migration"]


def test_a_url_migration_gives_the_other_html_hubs_a_new_baseline(store: Store) -> None:
    site, home = news_site(store)
    more = seen(HOME + "list/", hub=new_hub())
    feed = seen(HOME + "feed.xml", hub=new_hub(kind="feed"))
    ids = store.write.add_pages(site, [more, feed], now=START)
    for page in (home, *ids.values()):
        store.write.update_hub(page, baseline_at=START)
    store.write.visit(visit_of(site, home, START + 1, rebaseline=True))
    baselines = {h.page_id: h.baseline_at for h in store.read.hubs(site)}
    assert baselines == {home: START, ids[more.canonical_key]: None, ids[feed.canonical_key]: START}


def test_the_host_is_recorded_with_the_visit_and_its_robots_txt_stays(store: Store) -> None:
    site, home = news_site(store)
    store.write.put_host(HostRow("news.example", START, 0, 10.0, '{"a": 1}'))
    owed = HostRow("news.example", START + 60, 2, None, None)
    store.write.visit(visit_of(site, home, START), VisitPlan(host=owed))
    expected = HostRow("news.example", START + 60, 2, None, '{"a": 1}')
    assert store.read.host("news.example") == expected
    assert store.read.host("other.example") is None


def test_what_is_put_off_says_why_and_plans_no_verification_of_its_own(store: Store) -> None:
    site, home = news_site(store)
    store.write.postpone(home, START, START + DAY, "robots_denied")
    hub = store.read.hub(home)
    assert hub is not None
    assert (hub.due_at, hub.last_status) == (START + DAY, "robots_denied")
    assert store.read.due_verifications(site, START + 2 * DAY) == []
    verification = seen(HOME + "a", fate="verify")
    page = store.write.add_pages(site, [verification], now=START)[verification.canonical_key]
    store.write.postpone(page, START, START + DAY, "robots_denied")
    assert store.read.due_verifications(site, START) == []
    assert [row.page_id for row in store.read.due_verifications(site, START + DAY)] == [page]


def test_the_next_due_time_is_that_of_hub_or_verification(store: Store) -> None:
    site, home = news_site(store)
    assert store.read.due_times(site).first == START
    store.write.update_hub(home, due_at=START + DAY)
    store.write.add_pages(site, [seen(HOME + "a", fate="verify")], now=START + 5)
    assert store.read.due_times(site).first == START + 5
    assert store.read.due_times(site + 1).first is None


def test_a_removed_site_leaves_nothing_and_its_neighbour_everything(store: Store) -> None:
    for home in (HOME, "https://other.example/"):
        site, page = news_site(store, home=home)
        link = seen(home + "a", fate="announce", hub=new_hub())
        store.write.visit(
            visit_of(site, page, START, link, page_change=PageChange(ChangeKind.CHANGED))
        )
    store.write.remove_site(1)
    assert [row.seed_url for row in store.read.sites()] == ["https://other.example/"]
    assert announced_urls(store) == ["https://other.example/a"]
    assert {hub.site_id for hub in store.read.hubs()} == {2}
    for table, left in (("page", 2), ("hub", 2), ("sighting", 1), ("visit", 1), ("change", 2)):
        database: Any = store.database
        (count,) = database.execute_sql(f"SELECT COUNT(*) FROM {table}").fetchone()
        assert (table, count) == (table, left)


def test_adding_a_seed_again_sets_its_terms_and_keeps_its_pages(store: Store) -> None:
    site, _ = news_site(store)
    again = store.write.add_site(HOME, "news.example", now=START + DAY, requests_per_day=9.0)
    (row,) = store.read.sites()
    assert (again, row.requests_per_day, row.added_at) == (site, 9.0, START)


def test_old_visits_are_forgotten_and_history_is_not(store: Store) -> None:
    site, home = news_site(store)
    store.write.visit(visit_of(site, home, START, seen(HOME + "a", fate="announce")))
    store.write.visit(visit_of(site, home, START + DAY))
    assert store.retention.forget(Kind.VISITS, before=START + 1, now=START + 2).rows == 1
    assert [row["at"] for row in store.read.visits(home)] == [START + DAY]
    assert announced_urls(store) == [HOME + "a"]


def test_pages_and_changes_of_a_removed_site_lend_their_ids_to_nobody(store: Store) -> None:
    """A follower holds a cursor, a visit under way a page id: both outlive the rows."""
    site, home = news_site(store)
    store.write.visit(visit_of(site, home, START, seen(HOME + "a", fate="announce")))
    (cursor,) = [page.cursor for page in announced_pages(store)]
    store.write.remove_site(site)
    site_after, home_after = news_site(store)
    store.write.visit(visit_of(site_after, home_after, START, seen(HOME + "b", fate="announce")))
    assert site_after > site
    assert home_after > home
    assert announced_urls(store, after=cursor) == [HOME + "b"]


def test_every_change_belongs_to_a_page_of_its_site(store: Store) -> None:
    site, home = news_site(store)
    store.write.visit(visit_of(site, home, START, seen(HOME + "a", fate="announce")))
    query = Change.select(Change.site, Page.site).join(Page, on=Page.id == Change.page)
    assert list(query.tuples().execute(store.database)) == [(site, site)]


def test_a_supposed_hub_that_is_an_article_is_dropped_and_announced_once(store: Store) -> None:
    site, home = news_site(store)
    link = seen(HOME + "a/", hub=new_hub(START + 1), fate="hub_and_verify")
    store.write.visit(visit_of(site, home, START, link))
    page = store.read.known(site, [link.canonical_key])[link.canonical_key].id
    more = {"drop_hub": True, "fate": "announce", "first_hub_id": home, "links": None}
    article = visit_of(site, page, START + 1, **more)
    assert (store.write.visit(article), store.write.visit(article)) == ([page], [])
    assert [hub.page_id for hub in store.read.hubs()] == [home]
    known = store.read.known(site, [link.canonical_key])[link.canonical_key]
    assert (known.state, known.is_hub) == ("known", False)
    assert [row["status"] for row in store.read.visits(page)] == ["fetched", "fetched"]


def test_only_a_site_without_a_history_can_be_withdrawn(store: Store) -> None:
    quiet, _ = news_site(store, home="https://quiet.example/")
    judged, _ = news_site(store, home="https://judged.example/")
    said = LabelEntry(
        "https://judged.example/a", "a", PageLabel.ARTICLE, LabelOrigin.USER, START, site_id=judged
    )
    store.write.put_labels([said])
    busy, home = news_site(store)
    store.write.visit(visit_of(busy, home, START, seen(HOME + "a", fate="announce")))
    gained, front = news_site(store, home="https://gained.example/")
    older = seen("https://gained.example/a", fate="backfill")
    store.write.visit(visit_of(gained, front, START, older))
    assert [store.write.withdraw_site(one) for one in (quiet, judged, busy, gained)] == [
        *(True, False, False, False)
    ]
    assert {row.id for row in store.read.sites()} == {judged, busy, gained}

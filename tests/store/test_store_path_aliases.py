"""Folding a path alias: two addresses of one page become one, with all that either was."""

from stories import DAY, HOME, HOUR, START, announced_pages, new_hub, news_site, seen, visit_of

from store import Store
from store.enums import PageState
from store.values import KnownPage, SiteChanges

OLD = HOME + "project/"


def page_of(store: Store, url: str) -> KnownPage:
    canonical_key = seen(url).canonical_key
    return store.read.known(1, [canonical_key])[canonical_key]


def fold(store: Store, *paths: str) -> None:
    moves = [(page_of(store, OLD + path).id, seen(HOME + path)) for path in paths]
    store.write.change_site(1, SiteChanges(folded=tuple(moves)), START + DAY)


def test_what_was_announced_below_the_prefix_is_recorded_of_the_page_itself(store: Store) -> None:
    site, home = news_site(store)
    store.write.visit(visit_of(site, home, START, seen(OLD + "a", anchor="A", fate="announce")))
    fold(store, "a")
    (page,) = announced_pages(store)
    assert (page.url, page.found_at, page.anchor) == (HOME + "a", START, "A")
    true = page_of(store, HOME + "a")
    assert (true.announced_at, true.first_seen_at, true.state) == (START, START, "known")
    assert page_of(store, OLD + "a").state == "moved"


def test_a_page_announced_under_both_addresses_was_announced_at_the_earlier_time(
    store: Store,
) -> None:
    site, home = news_site(store)
    store.write.visit(visit_of(site, home, START + 1, seen(OLD + "a", fate="announce")))
    store.write.visit(visit_of(site, home, START + 2, seen(HOME + "a", fate="announce")))
    fold(store, "a")
    assert [(page.url, page.found_at) for page in announced_pages(store)] == [
        (HOME + "a", START + 1)
    ]
    assert page_of(store, HOME + "a").announced_at == START + 1


def test_sightings_of_both_addresses_are_those_of_one_page(store: Store) -> None:
    site, _ = news_site(store)
    lists = [seen(HOME + name, hub=new_hub()) for name in ("x/", "y/")]
    one, two = store.write.add_pages(site, lists, now=START).values()
    store.write.visit(visit_of(site, one, START, seen(OLD + "a"), seen(HOME + "a")))
    store.write.visit(visit_of(site, two, START, seen(OLD + "a")))
    fold(store, "a")
    true = page_of(store, HOME + "a").id
    assert store.read.visible(one) == store.read.visible(two) == {true}
    assert len(store.read.sightings(true)) == 2
    assert store.read.sightings(page_of(store, OLD + "a").id) == []


def test_a_hub_below_the_prefix_goes_on_as_the_hub_itself(store: Store) -> None:
    site, home = news_site(store)
    old = seen(OLD + "list/", hub=new_hub(why="by its looks"))
    page = store.write.add_pages(site, [old], now=START)[old.canonical_key]
    store.write.visit(visit_of(site, page, START, seen(HOME + "a")))
    fold(store, "list/")
    (hub,) = [hub for hub in store.read.hubs(site) if hub.page_id != home]
    assert (hub.url, hub.why) == (HOME + "list/", "by its looks")
    assert store.read.shown_by(hub.page_id) == {seen(HOME + "a").canonical_key}
    assert len(store.read.visits(hub.page_id)) == 1


def test_of_two_hubs_the_true_one_stays(store: Store) -> None:
    site, _ = news_site(store)
    both = [seen(OLD + "list/", hub=new_hub(score=0.6)), seen(HOME + "list/", hub=new_hub())]
    store.write.add_pages(site, both, now=START)
    fold(store, "list/")
    assert sorted(hub.score for hub in store.read.hubs(site)) == [0.9, 0.9]


def test_a_planned_verification_is_not_lost(store: Store) -> None:
    site, _ = news_site(store)
    store.write.add_pages(site, [seen(OLD + "a", fate="verify")], now=START)
    fold(store, "a")
    (verification,) = store.read.due_verifications(site, START + HOUR, limit=5)
    assert verification.url == HOME + "a"


def test_two_addresses_never_stand_for_each_other_in_a_circle(store: Store) -> None:
    site, home = news_site(store)
    store.write.visit(visit_of(site, home, START, seen(OLD + "a"), seen(HOME + "a")))
    old, true = page_of(store, OLD + "a").id, page_of(store, HOME + "a").id
    store.write.update_page(true, state=PageState.MOVED, moved_to=old)
    fold(store, "a")
    assert (page_of(store, HOME + "a").state, page_of(store, OLD + "a").state) == ("known", "moved")


def test_folding_twice_changes_nothing_more(store: Store) -> None:
    site, home = news_site(store)
    store.write.visit(visit_of(site, home, START, seen(OLD + "a", fate="announce")))
    fold(store, "a")
    before = (announced_pages(store), store.read.visible(home))
    fold(store, "a")
    assert (announced_pages(store), store.read.visible(home)) == before


def test_pages_below_a_prefix_are_found_until_they_moved(store: Store) -> None:
    site, _ = news_site(store)
    urls = [OLD + "a", OLD + "list/", HOME + "pro_ect/x", HOME + "about"]
    links = [seen(url, hub=new_hub() if url.endswith("/") else None) for url in urls]
    ids = store.write.add_pages(site, links, now=START)
    below = "//news.example/project/"
    assert {url for _, url, _ in store.read.pages_below(site, below)} == {OLD + "a", OLD + "list/"}
    hubs = [url for _, url, hub in store.read.pages_below(site, below) if hub is not None]
    assert hubs == [OLD + "list/"]
    store.write.update_page(ids[links[0].canonical_key], state=PageState.MOVED)
    assert [url for _, url, _ in store.read.pages_below(site, below)] == [OLD + "list/"]
    wildcard = store.read.pages_below(site, "//news.example/pro_")
    assert [url for _, url, _ in wildcard] == [HOME + "pro_ect/x"]

"""Labels in the store: one word of each origin on a page, and a user's word acts on hubs."""

from stories import DAY, HOME, HOUR, START, new_hub, news_site, seen, visit_of

from incremental.base.urls import canonical_key
from store import Store
from store.enums import HubStatus, LabelOrigin, PageLabel
from store.values import HubNews, LabelEntry, SeenLink


def said(label: str, path: str = "tag/", origin: str = "user", at: float = START) -> LabelEntry:
    url = HOME + path
    return LabelEntry(url, canonical_key(url), PageLabel(label), LabelOrigin(origin), at, site_id=1)


def page_id(store: Store, url: str) -> int:
    return int(store.read.find_page(url, canonical_key(url))[0]["id"])


def test_each_origin_has_one_word_on_a_page(store: Store) -> None:
    news_site(store)
    words = [said("hub"), said("article", origin="behaviour"), said("article", at=START + 1)]
    assert [store.write.put_labels([word]) for word in words] == [1, 1, 1]
    kept = {one.origin: one.label for one in store.read.labels_of(words[0].canonical_key)}
    assert kept == {"user": "article", "behaviour": "article"}


def test_saying_the_same_again_changes_nothing(store: Store) -> None:
    news_site(store)
    assert store.write.put_labels([said("hub")]) == 1
    assert store.write.put_labels([said("hub", at=START + DAY)]) == 0
    assert [one.at for one in store.read.labels(LabelOrigin.USER)] == [START]


def test_labels_come_in_the_order_in_which_they_were_said(store: Store) -> None:
    news_site(store)
    store.write.put_labels([said("hub", "b", at=START + 2), said("article", "a", at=START + 1)])
    assert [one.url for one in store.read.labels()] == [HOME + "a", HOME + "b"]
    assert store.read.labels(LabelOrigin.BEHAVIOUR) == []


def test_a_label_needs_no_site(store: Store) -> None:
    url = "https://elsewhere.example/x"
    store.write.put_labels(
        [LabelEntry(url, canonical_key(url), PageLabel.HUB, LabelOrigin.USER, START)]
    )
    assert [one.site_id for one in store.read.labels()] == [None]


def test_a_removed_site_takes_what_behaviour_said_and_leaves_what_people_said(store: Store) -> None:
    site, _ = news_site(store)
    store.write.put_labels([said("hub", "a"), said("article", "b", "behaviour")])
    store.write.remove_site(site)
    assert [(one.origin, one.site_id) for one in store.read.labels()] == [("user", None)]


def test_what_behaviour_said_can_be_taken_back(store: Store) -> None:
    news_site(store)
    store.write.put_labels([said("article", origin="behaviour"), said("article")])
    store.write.forget_labels([said("article").canonical_key], LabelOrigin.BEHAVIOUR)
    assert [one.origin for one in store.read.labels()] == ["user"]
    assert [one.origin for one in store.read.site_labels(1, LabelOrigin.USER)] == ["user"]


def test_a_page_that_a_user_calls_hub_is_one_at_once(store: Store) -> None:
    site, _ = news_site(store)
    store.write.correct(said("hub"), [(site, _link("tag/", role="user", score=1.0))])
    hub = store.read.hub(page_id(store, HOME + "tag/"))
    assert hub is not None
    assert (hub.role, hub.state, hub.due_at) == ("user", "candidate", START)


def test_a_hub_that_was_given_up_is_tried_again(store: Store) -> None:
    site, _ = news_site(store)
    store.write.add_pages(site, [_link("tag/")], now=START)
    store.write.update_hub(page_id(store, HOME + "tag/"), state=HubStatus.DROPPED, failures=3)
    store.write.correct(said("hub"), [(site, _link("tag/", role="user"))])
    hub = store.read.hub(page_id(store, HOME + "tag/"))
    assert hub is not None
    assert (hub.role, hub.state, hub.failures) == ("user", "candidate", 0)


def test_a_page_that_a_user_calls_an_article_is_no_hub_and_becomes_none_again(store: Store) -> None:
    site, home = news_site(store)
    store.write.add_pages(site, [_link("tag/")], now=START)
    store.write.correct(said("article"), [(site, seen(HOME + "tag/"))])
    store.write.visit(visit_of(site, home, START, _link("tag/"), _link("other/")))
    assert [hub.url for hub in store.read.hubs(site)] == [HOME, HOME + "other/"]
    assert store.read.corrections([said("article").canonical_key, "//x"]) == {
        said("article").canonical_key: "article"
    }


def test_a_page_that_waited_to_be_announced_is_verified_when_it_is_no_hub(store: Store) -> None:
    site, home = news_site(store)
    store.write.visit(
        visit_of(site, home, START, seen(HOME + "tag/", fate="hub_and_verify", hub=new_hub()))
    )
    store.write.correct(said("article", at=START + 9), [(site, seen(HOME + "tag/"))])
    verification = store.read.page(page_id(store, HOME + "tag/"))
    assert verification is not None
    assert verification.verify_due_at == START + 9


def test_a_seed_stays_a_seed(store: Store) -> None:
    site, home = news_site(store)
    for label, link in (("article", seen(HOME)), ("hub", _link("", role="user"))):
        store.write.correct(said(label, ""), [(site, link)])
        hub = store.read.hub(home)
        assert hub is not None
        assert hub.role == "seed"


def _link(path: str, **fields: object) -> SeenLink:
    return seen(HOME + path, hub=new_hub(START, **fields))


# --- what a hub brought -----------------------------------------------------------------------


def tag_page(store: Store) -> tuple[int, int, int]:
    """A home page and a tag page, both read; return the ids of site, home and tag."""
    site, home = news_site(store)
    store.write.visit(visit_of(site, home, START, _link("tag/"), seen(HOME + "old")))
    tag = page_id(store, HOME + "tag/")
    baseline(store, home, START)
    store.write.visit(visit_of(site, tag, START + 1, seen(HOME + "tagged")))
    baseline(store, tag, START + 1)
    return site, home, tag


def baseline(store: Store, hub: int, at: float) -> None:
    store.write.update_hub(hub, baseline_at=at, visited_at=at, state=HubStatus.ACTIVE)


def test_a_hub_that_always_comes_second_is_credited_with_what_it_shows(store: Store) -> None:
    site, home, tag = tag_page(store)
    for n in (1, 2):
        fresh = seen(HOME + f"new-{n}", fate="announce")
        store.write.visit(visit_of(site, home, START + n * HOUR, fresh))
        store.write.visit(visit_of(site, tag, START + n * HOUR + 60, fresh))
    assert store.read.hub_news(site) == {home: HubNews(2, 2), tag: HubNews(2, 2)}


def test_old_pages_hubs_and_the_baseline_are_no_news(store: Store) -> None:
    site, _, tag = tag_page(store)
    links = seen(HOME + "old"), seen(HOME + "tagged"), _link("other/")
    backdated = seen(HOME + "1999", fate="backdated")
    store.write.visit(visit_of(site, tag, START + HOUR, *links, backdated))
    assert store.read.hub_news(site) == {}


def test_one_visit_that_brings_many_is_one_visit(store: Store) -> None:
    site, _, tag = tag_page(store)
    links = [seen(f"{HOME}new-{n}") for n in range(5)]
    store.write.visit(visit_of(site, tag, START + HOUR, *links))
    assert store.read.hub_news(site) == {tag: HubNews(5, 1)}

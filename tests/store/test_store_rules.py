"""The rule that decided stays with its page, or follows it."""

from stories import HOME, START, new_hub, news_site, seen, visit_of

from incremental.base.urls import canonical_key
from store import Store
from store.enums import LabelOrigin, PageLabel
from store.values import LabelEntry, SiteChanges


def rule_of(store: Store, path: str) -> str | None:
    (row,) = store.read.find_page(HOME + path, canonical_key(HOME + path))
    rule: str | None = row["rule"]
    return rule


def test_what_is_known_as_a_hub_before_it_is_read_says_so(store: Store) -> None:
    site, home = news_site(store)
    probe = seen(HOME + "feed.xml", hub=new_hub(START))
    store.write.visit(visit_of(site, home, START, more_pages=(probe,)))
    assert rule_of(store, "feed.xml") == "hub"


def test_a_page_under_a_new_address_keeps_the_rule_that_announced_it(store: Store) -> None:
    site, home = news_site(store)
    old = seen(HOME + "a", fate="announce", rule="new_link")
    (page,) = store.write.visit(visit_of(site, home, START, old))
    new = seen(HOME + "stories/a", moved_from=page, rule="migrated")
    store.write.visit(visit_of(site, home, START + 60, new))
    assert (rule_of(store, "stories/a"), rule_of(store, "a")) == ("new_link", "led_on")


def test_a_hub_that_a_user_calls_an_article_is_none_by_rule(store: Store) -> None:
    site, home = news_site(store)
    page = seen(HOME + "list", hub=new_hub(START))
    store.write.visit(visit_of(site, home, START, page))
    key = canonical_key(HOME + "list")
    said = LabelEntry(HOME + "list", key, PageLabel.ARTICLE, LabelOrigin.USER, START)
    store.write.correct(said, [(site, seen(HOME + "list"))])
    assert rule_of(store, "list") == "not_a_hub"


def test_folded_into_its_twin_a_page_takes_its_rule_along(store: Store) -> None:
    site, home = news_site(store)
    twice = seen(HOME + "project/a", fate="announce", rule="new_link")
    (page,) = store.write.visit(visit_of(site, home, START, twice))
    store.write.change_site(site, SiteChanges(folded=((page, seen(HOME + "a")),)), START + 60)
    assert (rule_of(store, "a"), rule_of(store, "project/a")) == ("new_link", "alias")

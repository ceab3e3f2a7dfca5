"""Of what a user says of a hub the last word counts, and it changes the hub's state at once."""

import pytest
from stories import HOME, START, new_hub, news_site, seen

from incremental.base.urls import canonical_key
from store import Store
from store.enums import HubStatus, LabelOrigin, PageLabel
from store.values import LabelEntry

TAG = HOME + "tag/"
RATES = '{"failures": 2}'


def said(label: str) -> LabelEntry:
    return LabelEntry(TAG, canonical_key(TAG), PageLabel(label), LabelOrigin.USER, START, site_id=1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("dropped", "candidate"),
        ("dormant", "active"),
        ("active", "active"),
        ("candidate", "candidate"),
    ],
)
def test_a_hub_that_a_user_confirms_needs_a_new_start_only_if_it_was_given_up(
    store: Store, before: str, after: str
) -> None:
    """One that was only covered by others keeps its baseline: what it showed then is no news."""
    site, _ = news_site(store)
    store.write.add_pages(site, [seen(TAG, hub=new_hub(START))], now=START)
    page = int(store.read.find_page(TAG, canonical_key(TAG))[0]["id"])
    store.write.update_hub(
        page, state=HubStatus(before), baseline_at=START, failures=2, revisit=RATES
    )
    store.write.correct(said("hub"), [(site, seen(TAG, hub=new_hub(START, role="user")))])
    hub = store.read.hub(page)
    assert hub is not None
    assert (hub.role, hub.state, hub.failures, hub.baseline_at) == ("user", after, 0, START)
    assert hub.revisit == RATES


@pytest.mark.parametrize(("role", "hubs"), [("list", [HOME]), ("user", [HOME, TAG])])
def test_what_a_user_gives_after_calling_it_an_article_is_a_hub(
    store: Store, role: str, hubs: list[str]
) -> None:
    """What the crawler finds by itself does not make it one."""
    site, _ = news_site(store)
    store.write.correct(said("article"), [(site, seen(TAG))])
    store.write.add_pages(site, [seen(TAG, hub=new_hub(START, role=role))], now=START + 1)
    assert [hub.url for hub in store.read.hubs(site)] == hubs

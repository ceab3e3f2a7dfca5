"""Icons of sites: due, kept, paid for; on SQLite and PostgreSQL."""

from stories import START, news_site, visit_of

from store import Store
from store.enums import SiteStatus

PNG, ICO = b"\x89PNG\r\n\x1a\n", b"\0\0\1\0"


def test_a_site_is_due_once_a_list_was_read_and_not_while_it_is_paused(store: Store) -> None:
    site, hub = news_site(store)
    assert store.icons.due(START) == {}
    store.write.visit(visit_of(site, hub, START, hub_fields={"baseline_at": START}))
    assert store.icons.due(START) == {site: 0}
    store.icons.put(site, due_at=START + 10, failures=2)
    assert store.icons.due(START + 9) == {}
    assert store.icons.due(START + 10) == {site: 2}
    store.editing.edit_site(site, now=START, state=SiteStatus.PAUSED)
    assert store.icons.due(START + 10) == {}


def test_the_last_icon_stays_until_another_one_comes(store: Store) -> None:
    site, _ = news_site(store)
    store.icons.put(site, due_at=START)
    assert store.icons.digests() == {}
    store.icons.put(site, PNG, due_at=START)
    before = store.icons.digests()[site]
    store.icons.put(site, due_at=START, failures=1)
    assert store.icons.content(before) == PNG
    store.icons.put(site, ICO, due_at=START)
    assert (store.icons.content(before), store.icons.digests()[site] == before) == (b"", False)
    assert store.icons.content(store.icons.digests()[site]) == ICO


def test_requests_add_up_until_they_are_paid_for(store: Store) -> None:
    site, _ = news_site(store)
    assert store.icons.unpaid(site) == 0
    store.icons.put(site, due_at=START, made=2)
    store.icons.put(site, due_at=START, made=1)
    store.icons.put(site, due_at=START)
    assert (store.icons.unpaid(site), store.icons.unpaid(site)) == (3, 0)


def test_an_icon_goes_with_its_site(store: Store) -> None:
    site, _ = news_site(store)
    store.icons.put(site, PNG, due_at=START)
    digest = store.icons.digests()[site]
    store.write.remove_site(site)
    assert (store.icons.digests(), store.icons.content(digest)) == ({}, b"")

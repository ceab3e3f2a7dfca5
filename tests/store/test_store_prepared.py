"""Queries that are turned into SQL once: the same rows, on every database, for every value."""

import pytest
from stories import HOME, START, new_hub, news_site, seen

from store import Store
from store.database.statements import Inserted, Prepared, Updated, any_of
from store.enums import PageState
from store.models import Host, Hub, Page, Sighting


def test_a_prepared_query_answers_for_each_value_as_the_query_itself_would(store: Store) -> None:
    site, _ = news_site(store)
    links = [seen(f"{HOME}{n}/", hub=new_hub(START + n)) for n in range(4)]
    store.write.add_pages(site, links, now=START)
    query = Prepared(
        lambda site, due, limit: (
            Hub.select(Page.url)
            .join(Page)
            .where((Hub.site_id == site) & (Hub.due_at <= due) & (Hub.state != "dropped"))
            .order_by(Hub.due_at.desc())
            .limit(limit)
        )
    )
    database = store.read._db
    latest = query.rows(database, site=site, due=START + 2, limit=1)
    assert latest == [(f"{HOME}2/",)]
    assert len(query.rows(database, site=site, due=START + 9, limit=9)) == 5
    assert query.rows(database, site=site + 1, due=START + 9, limit=9) == []


def test_a_text_may_be_a_parameter(store: Store) -> None:
    news_site(store)
    query = Prepared(lambda url: Page.select(Page.id).where(Page.url == url))
    assert len(query.rows(store.read._db, url=HOME)) == 1
    assert query.rows(store.read._db, url="' OR 1=1 --") == []


@pytest.mark.parametrize("count", [0, 1, 2, 3_000])
def test_a_list_of_any_length_is_one_parameter(store: Store, count: int) -> None:
    site, _ = news_site(store)
    links = [seen(f"{HOME}{n}/") for n in range(3)]
    ids = store.write.add_pages(site, links, now=START)
    by_key = Prepared(lambda keys: Page.select(Page.id).where(any_of(Page.canonical_key, keys)))
    by_id = Prepared(lambda pages: Page.select(Page.id).where(any_of(Page.id, pages)))
    keys = [*ids, *(f"//none/{n}" for n in range(3_000))][:count]
    found = {page for (page,) in by_key.rows(store.database, keys=keys)}
    assert found == {ids[key] for key in keys if key in ids}
    numbers = [*ids.values(), *range(10**6, 10**6 + 3_000)][:count]
    assert {page for (page,) in by_id.rows(store.database, pages=numbers)} == found


def test_a_condition_on_a_list_stands_beside_others(store: Store) -> None:
    site, _ = news_site(store)
    ids = store.write.add_pages(site, [seen(f"{HOME}{n}/") for n in range(3)], now=START)
    update = Updated(
        Page,
        lambda site, pages, least: (Page.site == site) & any_of(Page.id, pages) & (Page.id > least),
    )
    first, *others = sorted(ids.values())
    fields = {"state": PageState.GONE, "title": 'it\'s "gone"'}
    changed = update.run(store.database, fields, site=site, pages=[*ids.values()], least=first)
    assert changed == len(others)
    assert update.run(store.database, {"rule": None}, site=site, pages=[first], least=0) == 1
    rows = [store.read.page(page) for page in (first, *others)]
    assert [row.state for row in rows if row] == [PageState.KNOWN, PageState.GONE, PageState.GONE]


def test_rows_are_inserted_once_and_updated_by_their_key(store: Store) -> None:
    _, home = news_site(store)
    columns = ("hub", "page", "first_seen_at", "anchor", "tag_path")
    row = dict(zip(columns, (home, home, START, "新", "a"), strict=True))
    sightings = Inserted(Sighting, ignore=True)
    sightings.run(store.database, [row, row])
    sightings.run(store.database, [])
    assert [one.first_seen_at for one in store.read.sights(home)] == [START]
    hosts = Inserted(Host, ["name"])
    for failures in (1, 2):
        hosts.run(store.database, [{"name": n, "failures": failures} for n in ("a", "b")])
    hosts.run(store.database, [{"name": "b", "failures": 9, "next_allowed_at": 5.0}], ["failures"])
    found = [store.read.host(name) for name in ("a", "b")]
    assert [(one.failures, one.next_allowed_at) for one in found if one] == [(2, 0.0), (9, 0.0)]

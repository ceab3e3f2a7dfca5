"""Queries that are turned into SQL once: the same rows, on every database, for every value."""

from __future__ import annotations

from stories import HOME, START, new_hub, news_site, seen

from store import Store
from store.models import Hub, Page
from store.repository import Prepared


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

"""A program beside a running daemon: the same methods, over the HTTP API."""

import inspect
from collections.abc import Iterator

import pytest
from web_served import HOME, OTHER, Served

from hubwatch import Hubwatch, Page, PageChange, SiteVisit, to_pandas
from hubwatch.client import Client, ServerError
from incremental.base.errors import NotFoundError
from incremental.interfaces.results.schema import page_result
from incremental.interfaces.web import server
from incremental.interfaces.web.access import new_token
from store.answers import NewQuery


@pytest.fixture
def connected(served: Served) -> Iterator[Client]:
    token = new_token(served.store, "program", "write", now=0.0)
    with (
        server.served(served.with_settings(port=0).web) as url,
        Hubwatch.connect(url, token) as client,
    ):
        yield client


def test_pages_are_those_of_the_store_whatever_narrows_them(
    connected: Client, served: Served
) -> None:
    rows = served.store.answers.new(NewQuery(order="oldest")).rows
    pages = list(connected.new_pages())
    assert pages == [page_result(row) for row in rows]
    (chinese,) = connected.new_pages(site="other.example")
    assert chinese.title == "桥梁招标公告"
    assert [one.url for one in connected.new_pages(q="招标")] == [chinese.url]
    assert list(connected.new_pages(since=pages[-1].found_at, after=pages[-1].cursor)) == []
    connected.mark(chinese.url, starred=True)
    assert [one.url for one in connected.new_pages(show="starred")] == [chinese.url]


def test_sites_topics_and_corrections(connected: Client, served: Served) -> None:
    assert connected.pause("other.example").state == "paused"
    assert connected.resume(OTHER).state == "active"
    (added,) = connected.add("https://third.example/", tags=["later"])
    assert connected.sites()[-1].tags == ["later"]
    connected.remove(str(added.site_id))
    assert [one.name for one in connected.sites()] == ["news.example", "other.example"]
    assert connected.hub_urls() == [HOME, OTHER]
    topic = connected.add_topic("bridges", describe="Bridges and tenders")
    assert connected.edit_topic("bridges", keywords=["bridge"]).keywords == ["bridge"]
    tried = connected.preview_topic("bridges", keywords=["tender"])
    assert tried.read == 4
    assert tried.sentence.startswith("Of the latest 4 pages it would show")
    assert connected.pause_topic("bridges").state == "paused"
    page = next(connected.new_pages())
    assert connected.judge("bridges", page.url, relevant=True).id == topic.id
    connected.remove_topic("bridges")
    assert connected.topics() == []
    with pytest.raises(ServerError, match="stays a hub"):
        connected.label(HOME, "article")
    assert served.store.read.sites()


def test_history_and_visits(connected: Client) -> None:
    changed = next(one for one in connected.new_pages() if one.url.endswith("new-0.html"))
    history = connected.history(changed.url)
    assert {type(one) for one in history} == {PageChange}
    assert history[0].at > history[-1].at
    visits = list(connected.visits(site="news.example"))
    assert {type(one) for one in visits} == {SiteVisit}
    assert list(connected.visits(site="news.example", after=visits[-2].id)) == visits[-1:]
    assert "hub_score" in connected.explain(HOME)


def test_what_is_announced_is_yielded_while_it_watches(connected: Client) -> None:
    first, *rest = connected.new_pages()
    watching = connected.watch(after=first.cursor, poll_seconds=0.01)
    assert [next(watching) for _ in rest] == rest


def test_what_goes_wrong_is_said(connected: Client, served: Served) -> None:
    with pytest.raises(NotFoundError, match="nowhere"):
        list(connected.new_pages(site="nowhere"))
    with pytest.raises(ServerError, match="since"):
        list(connected.new_pages(since="someday"))
    with (
        server.served(served.with_settings(port=0).web) as url,
        pytest.raises(ServerError) as refused,
    ):
        Client(url, "wrong").sites()
    assert refused.value.status == 401
    with pytest.raises(ServerError, match="no Hubwatch answers"):
        Client(url).sites()


def test_it_has_the_methods_of_the_local_class_except_those_that_crawl() -> None:
    def methods(kind: type) -> set[str]:
        found = inspect.getmembers(kind, inspect.isfunction)
        return {name for name, _ in found if not name.startswith("_")}

    assert methods(Hubwatch) - methods(Client) == {"connect", "connect_async", "run", "step"}
    assert methods(Client) <= methods(Hubwatch)


def test_results_become_a_frame(served: Served) -> None:
    pytest.importorskip("pandas", reason="the extra `pandas` is not installed")
    pages = [page_result(row) for row in served.store.answers.new(NewQuery()).rows]
    assert isinstance(pages[0], Page)
    frame = to_pandas(pages)
    assert list(frame["url"]) == [one.url for one in pages]
    assert str(frame["found_at"].dt.tz) == "UTC"
    assert (frame["found_at"] - frame["published_at"]).isna().all()

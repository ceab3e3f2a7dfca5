"""SearXNG's format over a real socket: the provider finds what the local server indexed."""

from collections.abc import Iterator
from functools import partial

import pytest
from lab.discovery_world import Document, SearchIndex, SearchServer

from incremental.base.clock import SystemClock
from incremental.features.discovery.search_provider import Search, searxng
from incremental.fetch.options import FetchSettings
from incremental.fetch.session import Fetcher
from incremental.fetch.status import Request

PAGES = [
    Document(
        "http://a.example/1",
        "Land auction in the harbour",
        "A plot of land is sold.",
        links=("http://a.example/2",),
    ),
    Document("http://a.example/2", "Weather", "Rain over land and sea, and rain again."),
    Document("http://b.example/1", "土地拍卖公告", "沈阳市国有土地使用权拍卖出让公告"),
    *(Document(f"http://c.example/{n}", f"Bridge {n}", "A bridge opens.") for n in range(25)),
]


@pytest.fixture(scope="module")
def server() -> Iterator[SearchServer]:
    with SearchServer(SearchIndex(PAGES)) as running:
        yield running


@pytest.fixture
def search(server: SearchServer) -> Search:
    local = FetchSettings(allowed_networks=("127.0.0.0/8",))
    return partial(searxng, Fetcher(local, clock=SystemClock()).fetch, server.url)


def test_the_page_with_more_of_the_words_comes_first(search: Search) -> None:
    answer = search("land auction", 10, 1)
    assert [url[-1] for url in answer.urls] == ["1", "2"]


def test_chinese_words_are_found(search: Search) -> None:
    assert search("土地拍卖", 5, 1).urls[0] == "http://b.example/1"


def test_who_links_there_is_found_by_an_operator(search: Search) -> None:
    answer = search("link:http://a.example/2", 5, 1)
    assert [*answer.urls] == ["http://a.example/1"]


def test_further_pages_of_results(search: Search) -> None:
    pages = [search("bridge", 10, number).urls for number in (1, 2, 3)]
    assert [len(results) for results in pages] == [10, 10, 5]


@pytest.mark.parametrize("query", ['"', "AND OR NOT", "a* NEAR(b", "", "()"])
def test_words_of_the_query_language_are_words(search: Search, query: str) -> None:
    assert search(query, 5, 1).problem == ""


def test_it_refuses_what_searxng_refuses(server: SearchServer) -> None:
    local = FetchSettings(allowed_networks=("127.0.0.0/8",))
    fetch = Fetcher(local, clock=SystemClock()).fetch
    assert fetch(Request(f"{server.url}/search?q=land")).http_code == 403

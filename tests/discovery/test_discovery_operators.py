"""Each operator finds pages in its own way, and asks nothing twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from incremental.discovery.operators import (
    Asked,
    Backward,
    Forward,
    Keyword,
    KnownPage,
    OutLink,
    Related,
    Sources,
    operators,
)
from incremental.discovery.search import NoProvider, SearchAnswer, SearchResult, SearchStatus


class Provider:
    """Knows pages by word; has no operators of its own unless told."""

    name = "fake"

    def __init__(self, pages: Mapping[str, Sequence[str]], like: Sequence[str] = ()) -> None:
        self.asked: list[str] = []
        self.status = SearchStatus.ANSWERED
        self._pages, self._like = pages, like

    def search(self, query: str, count: int) -> SearchAnswer:
        self.asked.append(query)
        found = [url for word in query.split() for url in self._pages.get(word, ())]
        return self._answer(found, count)

    def related(self, _url: str, count: int) -> SearchAnswer:
        if not self._like:
            return SearchAnswer(SearchStatus.OFF)
        return self._answer(self._like, count)

    def linkers(self, url: str, count: int) -> SearchAnswer:  # noqa: ARG002 - the protocol's
        return SearchAnswer(SearchStatus.OFF)

    def _answer(self, urls: Sequence[str], count: int) -> SearchAnswer:
        if self.status is not SearchStatus.ANSWERED:
            return SearchAnswer(self.status)
        return SearchAnswer(self.status, tuple(SearchResult(url, url) for url in urls[:count]))


def page(
    url: str, *links: str, keywords: Sequence[str] = (), terms: Sequence[str] = ()
) -> KnownPage:
    out = tuple(OutLink(link, anchor=link) for link in links)
    return KnownPage(url, keywords=tuple(keywords), terms=tuple(terms), links=out)


def sources(
    provider: Provider | None = None,
    linkers: Mapping[str, Sequence[str]] | None = None,
    pages: Sequence[KnownPage] = (),
) -> Sources:
    there = {one.url: one for one in pages}
    return Sources(
        linkers=lambda url, count: list((linkers or {}).get(url, ()))[:count],
        read=lambda urls: [there[url] for url in urls if url in there],
        provider=provider or NoProvider(),
    )


def test_forward_prefers_what_many_link_to_and_what_speaks_the_words() -> None:
    seeds = [page("a", "x/about", "y/land-tender"), page("b", "x/about", "z/imprint")]
    found = Forward(["tender"]).pages(seeds, 10)
    assert [one.url for one in found] == ["x/about", "y/land-tender", "z/imprint"]
    assert Forward(["tender", "land"]).pages(seeds, 1)[0].url == "y/land-tender"
    assert found[1].via == "a"


def test_forward_never_returns_a_seed() -> None:
    assert Forward([]).pages([page("a", "b"), page("b", "a")], 5) == []


def test_backward_finds_the_hub_and_what_else_it_links_to() -> None:
    hub = page("hub", "a", "b", "new")
    found = Backward(sources(linkers={"a": ["hub"], "b": ["hub"]}, pages=[hub]), []).pages(
        [page("a"), page("b")], 10
    )
    assert {one.url for one in found} == {"hub", "new"}
    assert all(one.operator == "backward" for one in found)


def test_keyword_asks_short_questions_and_none_twice() -> None:
    provider = Provider({"land": ["p/1"], "auction": ["p/2"]})
    keyword = Keyword(sources(provider), "land", Asked())
    seeds = [page("a", keywords=["auction", "land", "plot"]), page("b", keywords=["auction"])]
    assert [one.url for one in keyword.pages(seeds, 10)] == ["p/1", "p/2"]
    assert provider.asked == ["land", "land auction", "land plot"]
    assert keyword.pages(seeds, 10) == []
    assert len(provider.asked) == 3


def test_a_question_without_an_answer_may_be_asked_again() -> None:
    provider = Provider({"land": ["p/1"]})
    keyword = Keyword(sources(provider), "land", Asked())
    provider.status = SearchStatus.UNAVAILABLE
    assert keyword.pages([page("a")], 10) == []
    provider.status = SearchStatus.ANSWERED
    assert [one.url for one in keyword.pages([page("a")], 10)] == ["p/1"]


def test_related_asks_by_words_where_there_is_no_operator() -> None:
    provider = Provider({"plot": ["p/1"]})
    related = Related(sources(provider), Asked())
    found = related.pages([page("a", terms=["plot", "sale", "city", "bid", "fifth"])], 5)
    assert ([one.url for one in found], provider.asked) == (["p/1"], ["plot sale city bid"])
    with_operator = Related(sources(Provider({}, like=["q/1"])), Asked())
    assert with_operator.pages([page("a", terms=["plot"])], 5)[0].url == "q/1"


def test_related_asks_about_each_seed_once() -> None:
    provider = Provider({"plot": ["p/1"]})
    related = Related(sources(provider), Asked())
    related.pages([page("a", terms=["plot"])], 5)
    assert related.pages([page("a", terms=["plot"])], 5) == []


def test_without_a_provider_only_crawling_is_left() -> None:
    assert list(operators(sources(), [], "land", Asked())) == ["forward", "backward"]
    assert set(operators(sources(Provider({})), [], "land", Asked())) == {
        *("forward", "backward", "keyword", "related")
    }


def test_queries_remembered_are_bounded_and_know_no_order_of_words() -> None:
    asked = Asked()
    assert asked.first_time("land auction")
    assert not asked.first_time("Auction land")
    for number in range(6_000):
        asked.first_time(f"q{number}")
    assert len(asked.queries) == 5_000

"""Each operator finds pages in its own way, and asks nothing twice."""

from collections.abc import Mapping, Sequence

from incremental.features.discovery.operators import (
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
from incremental.features.discovery.search_provider import SearchAnswer
from incremental.topics.wording import Wording


class Provider:
    """Knows pages by word, and who links to a page as ``link:URL``."""

    def __init__(self, pages: Mapping[str, Sequence[str]]) -> None:
        self.asked: list[str] = []
        self.problem = ""
        self._pages = pages

    def __call__(self, query: str, count: int, page: int, /) -> SearchAnswer:
        self.asked.append(query if page == 1 else f"{query} #{page}")
        found = [url for word in query.split() for url in self._pages.get(word, ())]
        results = found[count * (page - 1) : count * page]
        return SearchAnswer(() if self.problem else tuple(results), self.problem)


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
        search=provider,
        linkers_query="link:{url}",
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
    found = Backward(sources(linkers={"a": ["hub"], "b": ["hub"]}, pages=[hub]), [], Asked()).pages(
        [page("a"), page("b")], 10
    )
    assert {one.url for one in found} == {"hub", "new"}


def test_backward_follows_each_hub_once_and_then_asks_for_others() -> None:
    """Its own graph knows five linkers that it followed: without others the search would be over."""
    own, far = [f"hub/{number}" for number in range(5)], page("far", "b", "new")
    provider = Provider({"link:b": ["far"]})
    backward = Backward(
        sources(provider, linkers={"a": own, "b": own}, pages=[page(url) for url in own] + [far]),
        [],
        Asked(),
    )
    assert {one.url for one in backward.pages([page("a")], 10)} == set(own)
    assert {one.url for one in backward.pages([page("b")], 10, seen=own)} == {"far", "new"}


def test_keyword_asks_pairs_that_most_good_pages_have_and_none_twice() -> None:
    provider = Provider({"land": ["p/1"], "auction": ["p/2"]})
    keyword = Keyword(provider, "land sale", Asked(), Wording())
    seeds = [
        page("a", keywords=["harbour", "auction", "plot"]),
        page("b", keywords=["plot", "auction"]),
        page("c", terms=["auction", "bid"]),
    ]
    assert {one.url for one in keyword.pages(seeds, 10)} == {"p/1", "p/2"}
    assert provider.asked == ["land sale", "auction plot", "auction bid"]
    assert keyword.pages(seeds, 10) == []
    assert len(provider.asked) == 3


def test_questions_are_of_words_as_the_pages_write_them() -> None:
    """Terms are stems; no search engine knows "religi"."""
    provider = Provider({"religious": ["p/1"]})
    found = operators(sources(provider), [], "religi scienc")
    terms = ("religi", "histori", "bibl", "priest")
    text = "Religious history: priests, the Bible, religious sciences of priests"
    seeds = [KnownPage("a", terms=terms, text=text)]
    assert [one.via for one in found["keyword"].pages(seeds, 10)] == ["religious sciences"]
    found["related"].pages(seeds, 10)
    assert provider.asked == [
        "religious sciences",
        "religious history",
        "religious history bible priests",
    ]


def test_keyword_asks_for_titles_when_it_has_no_other_words() -> None:
    provider = Provider({"Bridge": ["p/1"]})
    keyword = Keyword(provider, "span", Asked(), Wording())
    keyword.pages([KnownPage("a", title="Bridge opens", terms=("span",))], 10)
    assert provider.asked == ["span", "Bridge opens"]


def test_keyword_asks_for_more_of_what_paid() -> None:
    """Two of the best pages were found by one question, so its next ten results are wanted."""
    provider = Provider({"land": [f"p/{number}" for number in range(40)]})
    keyword = Keyword(provider, "land", Asked(), Wording())
    found = [one.url for one in keyword.pages([page("a")], 10)]
    best = [KnownPage(url, via="land") for url in found[:2]]
    assert keyword.pages(best, 10)[0].url == "p/10"
    assert keyword.pages(best[:1], 10) == []
    for _ in range(9):
        keyword.pages(best, 10)
    assert provider.asked == ["land", "land #2", "land #3", "land #4", "land #5"]


def test_a_link_counts_as_much_as_the_page_that_shows_it() -> None:
    seeds = [
        KnownPage("low", links=(OutLink("from/low"),), worth=0.1),
        KnownPage("high", links=(OutLink("from/high"),), worth=0.9),
    ]
    assert [one.url for one in Forward([]).pages(seeds, 5)] == ["from/high", "from/low"]


def test_a_question_without_an_answer_may_be_asked_again() -> None:
    provider = Provider({"land": ["p/1"]})
    keyword = Keyword(provider, "land", Asked(), Wording())
    provider.problem = "down"
    assert keyword.pages([page("a")], 10) == []
    provider.problem = ""
    assert [one.url for one in keyword.pages([page("a")], 10)] == ["p/1"]


def test_related_asks_by_the_top_terms_of_a_page() -> None:
    provider = Provider({"plot": ["p/1"]})
    related = Related(provider, Asked(), Wording())
    found = related.pages([page("a", terms=["plot", "sale", "city", "bid", "fifth"])], 5)
    assert ([one.url for one in found], provider.asked) == (["p/1"], ["plot sale city bid"])


def test_related_asks_about_each_seed_once() -> None:
    provider = Provider({"plot": ["p/1"]})
    related = Related(provider, Asked(), Wording())
    related.pages([page("a", terms=["plot"])], 5)
    assert related.pages([page("a", terms=["plot"])], 5) == []


def test_without_a_provider_only_crawling_is_left() -> None:
    assert list(operators(sources(), [], "land")) == ["forward", "backward"]
    assert set(operators(sources(Provider({})), [], "land")) == {
        *("forward", "backward", "keyword", "related")
    }


def test_queries_remembered_know_no_order_of_words() -> None:
    asked = Asked()
    assert asked.first_time("land auction")
    assert not asked.first_time("Auction land")
    assert asked.first_time("land auction", 2)
    assert asked.knows("auction land", 2)

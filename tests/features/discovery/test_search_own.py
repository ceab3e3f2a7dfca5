"""What was announced and read is found again, page of results by page of results."""

from __future__ import annotations

from stories import HOME, START, news_site, seen, visit_of

from incremental.features.discovery.providers.own_index import OwnIndexProvider
from incremental.features.discovery.search_provider import SearchStatus
from store import Store
from store.values import ReadText


def test_further_pages_of_results_go_on_where_the_first_ended(sqlite_store: Store) -> None:
    site, home = news_site(sqlite_store)
    links = [seen(f"{HOME}{number}", anchor="link", fate="announce") for number in range(5)]
    sqlite_store.write.visit(visit_of(site, home, START, *links))
    for number in range(5):
        (page,) = sqlite_store.read.find_page(f"{HOME}{number}", "")
        text = ReadText(f"Bridge {number}", "A bridge opens.", "0" * 32)
        at = START + number
        sqlite_store.write.visit(visit_of(site, page["id"], at, links=None, text=text))
    provider = OwnIndexProvider(sqlite_store)
    pages = [provider.search("bridge", 2, page) for page in (1, 2, 3, 4)]
    assert [len(answer.results) for answer in pages] == [2, 2, 1, 0]
    assert len({result.url for answer in pages for result in answer.results}) == 5
    assert pages[-1].status is SearchStatus.ANSWERED

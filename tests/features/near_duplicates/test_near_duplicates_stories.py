"""Copies of a page, from the crawl to whoever asks."""

from pathlib import Path

import pytest
from fake_web import DAY, HOUR, SPARING, START, page, watch
from web_served import Served

from incremental.features.near_duplicates import FEATURE
from incremental.sandbox import read_body, with_features
from store.answers import NewQuery
from store.search.news import put_text
from store.values import ReadText

HOME = "https://news.example/"
PAGE = HOME + "2024/06/04/a.html"
OTHER = "https://other.example/"
TEXT = " ".join(f"word{n} of a long report" for n in range(60))


def article(body: str, title: str) -> str:
    head = f"<head><title>{title}</title></head>"
    return f"<html>{head}<body><article><h1>{title}</h1><p>{body}</p></article></body></html>"


@pytest.mark.parametrize(("signature", "copies"), [(FEATURE.signature, [PAGE]), ("", [])])
def test_copies_on_two_sites_are_found_while_crawling_if_the_feature_is_on(
    tmp_path: Path, signature: str, copies: list[str]
) -> None:
    pages = {
        HOME: [(0, page("/z.html")), (START + 2 * HOUR, page("/2024/06/04/a.html", "/z.html"))],
        PAGE: article(TEXT, "A story"),
        OTHER: [(0, page("/z.html")), (START + 9 * HOUR, page("/copy.html", "/z.html"))],
        OTHER + "copy.html": article(TEXT + " Source: News.", "Another title"),
    }
    read = with_features({}, signature, read_body)
    with watch(tmp_path, pages, HOME, OTHER, settings=SPARING, read=read) as crawl:
        crawl.run(2 * DAY)
        (found,) = crawl.store.read.find_page(OTHER + "copy.html", "")
        assert [one.url for one in crawl.store.near_duplicates.of(found["id"])] == copies


def test_copies_are_shown_and_one_page_leads_to_them(served: Served) -> None:
    store, client = served.store, served.client()
    (one, other) = store.answers.new(NewQuery(limit=2)).rows
    for page_id in (one.page_id, other.page_id):
        put_text(
            store.database, page_id, ReadText("A", "text", "0" * 32, signature=bytes(120)), START
        )
    assert f"/pages/{one.page_id}/copies" in client.get(f"/pages/{one.page_id}").text
    assert f"/pages/{other.page_id}" in client.get(f"/pages/{one.page_id}/copies").text
    found = client.get(f"/api/v1/pages/{one.page_id}/copies").json()
    assert [copy["url"] for copy in found] == [other.url]
    assert client.get("/pages/999999/copies").status_code == 404

"""Copies of a page, from the crawl to whoever asks."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_web import DAY, HOUR, SPARING, START, page, watch

from incremental.features.near_duplicates import FEATURE
from incremental.sandbox import read_body, with_features

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

"""Real pages, where they are at hand: nothing raises, and no link is lost."""

from __future__ import annotations

import lzma
import sqlite3
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from bs4 import BeautifulSoup

from incremental.parse import Page, PageKind
from incremental.parse.dispatch import parse
from incremental.parse.references import Resolver

if TYPE_CHECKING:
    from collections.abc import Iterator

SHARED = Path(__file__).parents[2].parent / "shared"
PAGES = SHARED / "hub" / "pages.tar.xz"
REPLAYS = SHARED / "replay"

needs_pages = pytest.mark.skipif(not PAGES.is_file(), reason=f"no captured pages at {PAGES}")
needs_replays = pytest.mark.skipif(not REPLAYS.is_dir(), reason=f"no replay files in {REPLAYS}")


def captured(first: int, step: int, last: int) -> Iterator[bytes]:
    """Yield every *step*-th page; unpacking more than a third of the archive takes long."""
    with tarfile.open(PAGES) as archive:
        for number, member in enumerate(archive):
            if number >= last:
                return
            source = archive.extractfile(member)
            if source is not None and number >= first and (number - first) % step == 0:
                yield source.read()


def body_of(site: str, url: str) -> bytes:
    """Return the newest body of a page in a replay file."""
    with sqlite3.connect(f"file:{REPLAYS / site}.sqlite?mode=ro", uri=True) as database:
        page_id, bodies = database.execute(
            "select id, bodies from page where url = ?", (url,)
        ).fetchone()
        start, length = database.execute(
            "select start, length from version where page_id = ? order by valid_from desc",
            (page_id,),
        ).fetchone()
    database.close()
    return lzma.decompress(bodies)[start : start + length]


def replayed(site: str, url: str) -> Page:
    return parse(body_of(site, url), url)


@needs_pages
def test_no_captured_page_raises_and_all_are_html() -> None:
    pages = [parse(body, "https://example.org/", want_text=True) for body in captured(0, 1, 200)]
    assert {page.kind for page in pages} == {PageKind.HTML}
    assert not any(page.truncated for page in pages)
    assert sum(bool(page.links) for page in pages) > 0.97 * len(pages)
    assert sum(bool(page.title) for page in pages) > 0.97 * len(pages)


@needs_pages
def test_the_links_of_captured_pages_are_those_of_a_tolerant_parser() -> None:
    """html.parser reads ``&reg=`` in a query as a sign, unlike browsers: a few may differ."""
    resolver, missing, total = Resolver("https://example.org/"), 0, 0
    for body in captured(1, 5, 200):
        text = body.decode("utf-8", "replace")
        ours = {
            link.url
            for link in parse(text.encode("utf-8", "replace"), "https://example.org/").links
        }
        soup = BeautifulSoup(text, "html.parser")
        base = soup.find("base", href=True)
        if base is not None:
            continue
        theirs = {resolver.resolve(str(tag["href"])) for tag in soup.find_all("a", href=True)}
        missing += len(theirs - ours - {None})
        total += len(theirs)
    assert total > 2_000
    assert missing < 0.005 * total


@needs_replays
@pytest.mark.parametrize(
    "site", ["blkstone", "flink", "genai-news", "kubaik", "osc-rotterdam", "sjp38", "weichiachang"]
)
def test_no_page_of_a_replay_raises(site: str) -> None:
    with sqlite3.connect(f"file:{REPLAYS / site}.sqlite?mode=ro", uri=True) as database:
        rows = database.execute(
            "select url, bodies from page where id % 11 = 0 or url like '%.xml'",
        ).fetchmany(40)
    database.close()
    for url, bodies in rows:
        page = parse(lzma.decompress(bodies, format=lzma.FORMAT_XZ)[:200_000], url)
        assert page.kind is not PageKind.OTHER or not url.endswith(".xml")


@needs_replays
def test_unquoted_links_of_a_minified_page_are_read() -> None:
    page = replayed("genai-news", "https://genai-news.com/")
    posts = [link for link in page.links if "/posts/" in link.url and link.anchor != "News"]
    assert len(posts) >= 5
    assert all('"' not in link.url and ">" not in link.url for link in posts)


@needs_replays
def test_a_home_page_that_only_refreshes_says_where_to() -> None:
    page = replayed("osc-rotterdam", "https://www.openscience-rotterdam.com/")
    assert page.refresh_url == "https://www.openscience-rotterdam.com/home"


@needs_replays
def test_relative_links_of_feeds_are_made_absolute() -> None:
    body = body_of("sjp38", "https://sjp38.github.io/index.xml")
    page = parse(body, "https://sjp38.github.io/index.xml")
    assert len(page.links) > 100
    assert all(link.url.startswith("https://sjp38.github.io/") for link in page.links[:50])
    assert all(link.published_at for link in page.links)


@needs_replays
def test_a_feed_that_names_a_wrong_host_is_read_as_it_is() -> None:
    page = replayed("weichiachang", "https://weichiachang.github.io/blog/atom.xml")
    assert page.kind is PageKind.FEED
    assert page.links[0].url.startswith("https://github.com/WeiChiaChang/blog/2018/")
    assert "<" not in page.links[0].context


@needs_replays
@pytest.mark.parametrize(
    ("site", "url", "following"),
    [
        ("blkstone", "https://blkstone.github.io/", "https://blkstone.github.io/page/2/"),
        ("flink", "https://flink.apache.org/blog/page3/", "https://flink.apache.org/blog/page4"),
        (
            "weichiachang",
            "https://weichiachang.github.io/blog/page/39/",
            "https://weichiachang.github.io/blog/page/40/",
        ),
    ],
)
def test_paged_lists_lead_on(site: str, url: str, following: str) -> None:
    assert replayed(site, url).next_url == following

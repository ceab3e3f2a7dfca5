"""Bodies that are made to cost much: each ends within its bounds, whatever it is made of."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from fake_web import START, Watch, page, watch
from stories import HOME

from incremental.base.times import DAY, HOUR
from incremental.fetch.status import HARMLESS, HAS_PAGE, HOPELESS, HOST_TROUBLE, FetchStatus
from incremental.sandbox import Body, Unread, read_body
from incremental.sandbox.process import ReaderLimits, ReaderPool

HERE = Path(__file__).parent
URL = "https://example.org/"
SMALL = Body(URL, b"<title>Small</title><a href=/a>A</a>")
# Each took at least 10 s and up to a gigabyte before there were bounds.
ATTACKS = {
    "nested divs": Body(URL, b"<div>" * 2_000_000, "text/html", want_text=True),
    "nested lists": Body(URL, b"<ul><li>" * 1_250_000, "text/html", want_text=True),
    "angle brackets": Body(URL, b"<" * 10_000_000, "text/html", want_text=True),
    "utf-16": Body(URL, ("<p>一x" * 1_250_000).encode("utf-16"), "text/html", want_text=True),
    "one URL, many times": Body(
        URL,
        gzip.compress(b"<urlset>" + b"<url><loc>https://a.org/</loc></url>" * 1_400_000, 1),
    ),
}


@pytest.fixture(scope="module")
def hasty() -> Iterator[ReaderPool]:
    """A pool with far less time than any of them needs."""
    with ReaderPool(1, ReaderLimits(seconds=0.15, megabytes=256)) as pool:
        yield pool


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_an_attack_ends_at_the_deadline(hasty: ReaderPool, attack: Body) -> None:
    answer = hasty.read(attack)
    assert isinstance(answer, Unread)
    assert answer == Unread(FetchStatus.PARSE_TIMED_OUT, "reading it took more than 0.15 s")


def test_a_page_that_needs_too_much_memory_is_not_read() -> None:
    with ReaderPool(1, ReaderLimits(seconds=60, megabytes=64)) as pool:
        answer = pool.read(ATTACKS["nested divs"])
        assert answer == Unread(
            FetchStatus.PARSE_FAILED, "reading it took more than 64 MB of memory"
        )
        assert pool.read(SMALL) == read_body(SMALL)


@pytest.mark.parametrize("status", [FetchStatus.PARSE_TIMED_OUT, FetchStatus.PARSE_FAILED])
def test_an_unread_page_is_a_failure_of_that_page_alone(status: FetchStatus) -> None:
    assert status not in HAS_PAGE | HARMLESS | HOPELESS | HOST_TROUBLE


@pytest.fixture
def taken_over(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReaderPool]:
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    with ReaderPool(1, ReaderLimits(seconds=1, megabytes=128), program="hostile") as pool:
        yield pool


def still_shown(crawl: Watch) -> set[str]:
    hub = crawl.hub(HOME)
    assert hub is not None
    shown = crawl.store.read.urls(list(crawl.store.read.visible(hub.page_id)))
    return {urlsplit(url).path for url in shown}


@pytest.mark.parametrize(
    ("command", "status"),
    [(b"sleep", "parse_timed_out"), (b"crash", "parse_failed")],
)
def test_a_list_that_cannot_be_read_keeps_its_links_and_is_read_again(
    tmp_path: Path, taken_over: ReaderPool, command: bytes, status: str
) -> None:
    """Not like a list that is empty: nothing is gone, and nothing is new when it is back."""
    web = {
        HOME: [
            (0, page("/a.html", "/b.html")),
            (START + DAY, command),
            (START + DAY + 6 * HOUR, page("/c.html", "/a.html", "/b.html")),
        ],
        **{HOME + name: page() for name in ("a.html", "b.html", "c.html")},
    }
    with watch(tmp_path, web, read=taken_over.read) as crawl:
        crawl.run(DAY + 6 * HOUR)
        assert status in crawl.statuses(HOME)
        assert still_shown(crawl) == {"/a.html", "/b.html"}
        crawl.run(2 * DAY)
        assert crawl.new() == ["/c.html"]
        assert still_shown(crawl) == {"/a.html", "/b.html", "/c.html"}

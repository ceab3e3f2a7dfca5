"""A site's icon: asked for once, kept if it is a picture, and shown beside the site's name."""

from __future__ import annotations

import logging
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from browser_tab import Tab
from fake_web import DAY, HOUR, MINUTE, SPARING, START, Reply, Watch, page, redirect, watch
from web_served import Served, served_with

from incremental.base.threads import InlineExecutor
from incremental.crawl.sites import watch as site_of
from incremental.daemon.assembly import make_fetcher
from incremental.daemon.at_work import AtWork
from incremental.features.icons.asking import MOST_BYTES, IconAsker
from incremental.features.icons.deciding import media_type, wait_seconds
from incremental.interfaces.web.server import served as serving
from incremental.sandbox import read_body
from incremental.settings import Settings
from store.answers import NewQuery

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

HOME, FAVICON, NAMED = (f"https://news.example/{name}" for name in ("", "favicon.ico", "i/16.png"))
NAMES_ICON = '<link rel="shortcut icon" href="i/16.png">'


def png(side: int = 16, red: int = 200) -> bytes:
    """Draw a square."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    rows = (b"\0" + bytes((red, 0, 0)) * side) * side
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    data = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + data


ICO = b"\0\0\1\0\1\0\x10\x10\0\0\1\0\x20\0" + struct.pack("<II", len(png()), 22) + png()
HTML = page(title="Not found")
SVG = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def job_of(watched: Watch, settings: Settings) -> IconAsker:
    """Return the job, on the web of a watched site."""
    work = AtWork(
        store=watched.store,
        settings=settings,
        folder=Path(),
        fetch=make_fetcher(settings, watched.clock, adapter=watched.web).fetch,
        read=read_body,
        trouble=lambda *_: None,
        gate=watched.crawler.frontier.gate,
    )
    return IconAsker(work, InlineExecutor())


def revised(**revisit: Any) -> Settings:
    """Return the settings of the stories with others for visits."""
    return msgspec.structs.replace(
        SPARING, revisit=msgspec.structs.replace(SPARING.revisit, **revisit)
    )


class Asked:
    """A watched site, and the job that asks for its icon."""

    def __init__(self, watched: Watch, settings: Settings = SPARING) -> None:
        self.watched, self.store, self.clock = watched, watched.store, watched.clock
        self.job = job_of(watched, settings)

    def pass_time(self, seconds: float, every: float = HOUR / 2) -> list[str]:
        """Let time pass, and the job be called *every* so often; return what the job alone asked for."""
        asked = list[str]()
        for _ in range(int(seconds / every)):
            self.watched.run(every)
            before = len(self.watched.web.asked)
            self.job.step(self.clock.now())
            asked += [one.url for one in self.watched.web.asked[before:]]
        return [url for url in asked if not url.endswith("/robots.txt")]

    def shown(self) -> tuple[str, bytes] | None:
        """Return type and content of the site's icon."""
        found = [self.store.icons.content(one) for one in self.store.icons.digests().values()]
        return next(((media_type(content), content) for content in found), None)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Callable[..., Asked]]:
    """Watch a site with these pages beside its home page."""
    opened = list[Watch]()

    def begin(pages: dict[str, Any], head: str = "", settings: Settings = SPARING) -> Asked:
        home = {HOME: page("/a.html", "/b.html", head=head)}
        opened.append(watch(tmp_path, home | pages, HOME, settings=settings))
        return Asked(opened[-1], settings)

    yield begin
    for one in opened:
        one.store.close()


def test_the_icon_that_the_home_page_names_is_asked_for_once_a_month(site: Any) -> None:
    """No page is asked for again: what the seed names is read from the page cache."""
    told = site({NAMED: png(), FAVICON: ICO}, NAMES_ICON)
    assert told.job.step(START) == START + MINUTE
    assert told.store.icons.digests() == {}
    assert told.pass_time(HOUR) == [NAMED]
    assert told.shown() == ("image/png", png())
    assert told.pass_time(29 * DAY, every=DAY) == []
    assert told.pass_time(2 * DAY, every=DAY) == [NAMED]


def test_a_site_that_names_none_has_its_favicon(site: Any) -> None:
    """An icon that only differs in its content has an address of its own."""
    told = site({FAVICON: [(0, ICO), (START + 20 * DAY, Reply(png(red=9)))]})
    assert told.pass_time(HOUR) == [FAVICON]
    assert told.shown() == ("image/x-icon", ICO)
    before = told.store.icons.digests()
    told.pass_time(31 * DAY, every=DAY)
    assert told.shown() == ("image/png", png(red=9))
    assert told.store.icons.digests() != before


@pytest.mark.parametrize(
    "content",
    [
        HTML,
        SVG,
        Reply(SVG.encode(), headers={"Content-Type": "image/png"}),
        Reply(png() + bytes(MOST_BYTES)),
        Reply(png() + bytes(10_000_000), headers={"Content-Length": str(10_000_058)}),
        Reply(b""),
        Reply(png(), 404),
    ],
    ids=["html", "svg", "svg called png", "64 kB", "10 MB", "empty", "404"],
)
def test_what_is_no_small_picture_is_never_kept(site: Any, content: Any) -> None:
    """The pauses grow: it is asked for again after an hour, then four hours later."""
    told = site({FAVICON: content})
    assert told.pass_time(7 * HOUR) == [FAVICON] * 3
    assert told.shown() is None


def test_the_pauses_after_failures_grow_to_a_month() -> None:
    waits = [wait_seconds(failures) for failures in range(1, 8)]
    assert waits == [HOUR, 4 * HOUR, 16 * HOUR, 64 * HOUR, 256 * HOUR, 30 * DAY, 30 * DAY]
    assert wait_seconds(0) == wait_seconds(10_000) == 30 * DAY


def test_the_next_address_is_tried_after_a_failure(site: Any) -> None:
    """An SVG is not even asked for, and a missing picture leaves the favicon of the site."""
    head = '<link rel="icon" href="/logo.SVG?v=1"><link rel="icon" href="/gone.png">'
    told = site({FAVICON: ICO}, head)
    assert told.pass_time(3 * HOUR) == [HOME + "gone.png", FAVICON]
    assert told.shown() == ("image/x-icon", ICO)


def test_an_icon_that_is_lost_stays_until_another_one_comes(site: Any) -> None:
    told = site({FAVICON: [(0, ICO), (START + DAY, Reply(b"", 500))]})
    told.pass_time(HOUR)
    assert told.pass_time(40 * DAY, every=DAY)[0] == FAVICON
    assert told.shown() == ("image/x-icon", ICO)


def test_a_picture_on_another_host_is_asked_for_under_its_own_rules(site: Any) -> None:
    """One redirect to another host is followed; its robots.txt comes first."""
    there = "https://cdn.example/news.png"
    told = site({FAVICON: redirect(there), there: png()})
    assert told.pass_time(HOUR) == [FAVICON, there]
    assert told.shown() == ("image/png", png())
    assert "https://cdn.example/robots.txt" in [one.url for one in told.watched.web.asked]


def test_robots_txt_is_obeyed(site: Any) -> None:
    rules = Reply(b"User-agent: *\nDisallow: /favicon.ico\n")
    told = site({FAVICON: ICO, HOME + "robots.txt": rules})
    assert told.pass_time(7 * HOUR) == []
    assert told.shown() is None


def test_an_icon_at_a_private_address_is_not_asked_for(site: Any) -> None:
    told = site({}, '<link rel="icon" href="http://192.168.1.1/router.png">')
    assert told.pass_time(HOUR) == []
    assert not told.watched.web.times("192.168.1.1")


def test_the_site_is_not_asked_outside_its_hours(site: Any) -> None:
    told = site({FAVICON: ICO})
    told.watched.run(HOUR)
    then = datetime.fromtimestamp(told.clock.now() + 3 * HOUR).astimezone()
    hours = (f"{then:%H:%M}-{then + timedelta(hours=2):%H:%M}",)
    told.job = job_of(told.watched, revised(hours=hours))
    assert told.pass_time(2.5 * HOUR) == []
    assert told.pass_time(HOUR) == [FAVICON]


def test_a_site_without_budget_is_not_asked(site: Any) -> None:
    told = site({FAVICON: ICO})
    told.watched.run(HOUR)
    told.job = job_of(told.watched, revised(requests_per_day=0))
    assert told.pass_time(2 * HOUR) == []


def test_a_host_that_may_not_be_asked_now_does_not_hold_up_other_sites(site: Any) -> None:
    told = site({FAVICON: ICO})
    told.watched.run(HOUR)
    now = told.clock.now()
    assert told.store.icons.due(now)
    told.watched.crawler.frontier.gate.occupy(HOME, now)
    told.job.step(now)
    assert not told.store.icons.due(now)
    told.watched.crawler.frontier.gate.busy.clear()
    assert told.pass_time(HOUR) == [FAVICON]


def test_a_site_that_is_removed_meanwhile_keeps_no_icon(site: Any) -> None:
    def removing(_: float) -> bytes:
        told.store.write.remove_site(1)
        return ICO

    told = site({FAVICON: removing})
    told.watched.run(HOUR)
    told.job.step(told.clock.now())
    assert told.job.step(told.clock.now() + MINUTE) > told.clock.now()
    assert told.store.icons.digests() == {}


def test_its_requests_count_on_the_budget_of_the_site(site: Any) -> None:
    """The two requests of a redirected icon are paid for by the next visit, once."""
    told = site({FAVICON: redirect(NAMED), NAMED: png()})
    told.watched.run(HOUR)
    asked = len(told.watched.web.asked)
    told.job.step(told.clock.now())
    assert len(told.watched.web.asked) == asked + 2
    told.watched.run(6 * HOUR)
    row = told.store.read.site(1)
    assert row is not None
    assert site_of(row, SPARING).budget.made_lately == len(told.watched.web.asked)
    assert told.store.icons.unpaid(1) == 0


@pytest.fixture
def with_icon(served: Served) -> Served:
    """The store of two watched sites, of which the first has an icon."""
    keep(served, png())
    return served


def keep(served: Served, content: bytes) -> None:
    served.store.icons.put(1, content, due_at=START)


def images(client: TestClient, path: str) -> list[str]:
    """Return the pictures on a page, as they are written there."""
    return re.findall(r'<img class="favicon"[^>]*>', client.get(path).text)


def test_lists_show_the_icon_of_the_site_that_has_one(with_icon: Served) -> None:
    """The reading list, the pane and the list of sites; size and empty alternative text stand there."""
    (digest,) = with_icon.store.icons.digests().values()
    image = f'<img class="favicon" src="/icons/{digest}" width="16" height="16" alt="">'
    client = with_icon.client()
    rows = with_icon.store.answers.new(NewQuery()).rows
    first = [row.page_id for row in rows if row.site_id == 1]
    other = next(row.page_id for row in rows if row.site_id == 2)
    assert len(rows) > len(first)
    assert images(client, "/") == [image] * len(first)
    assert images(client, "/sites") == [image]
    assert images(client, f"/pages/{first[0]}") == [image]
    assert images(with_icon.client(hx_request="true"), f"/pages/{first[0]}") == [image]
    assert images(client, f"/pages/{other}") == []


def test_the_icon_comes_from_our_own_server_and_may_be_kept(with_icon: Served) -> None:
    client = with_icon.client()
    (digest,) = with_icon.store.icons.digests().values()
    answer = client.get(f"/icons/{digest}")
    assert (answer.content, answer.headers["content-type"]) == (png(), "image/png")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert "img-src 'self'" in answer.headers["content-security-policy"]
    keep(with_icon, ICO)
    assert client.get(f"/icons/{digest}").status_code == 404
    assert client.get("/icons/..%2f1").status_code == 404


def test_the_icon_is_behind_the_login(with_icon: Served) -> None:
    (digest,) = with_icon.store.icons.digests().values()
    closed = with_icon.with_settings(password="correct horse battery")
    answer = closed.client().get(f"/icons/{digest}", follow_redirects=False)
    assert (answer.status_code, answer.content) == (303, b"")


def test_a_feature_that_is_off_shows_and_asks_nothing(
    with_icon: Served, caplog: pytest.LogCaptureFixture
) -> None:
    """No statement names its table."""
    off = msgspec.convert({"features": {"off": ["icons"]}}, Settings)
    client = served_with(with_icon, off).client()
    with caplog.at_level(logging.DEBUG, "peewee"):
        assert images(client, "/") == []
    assert '"news"' in caplog.text
    assert "site_icon" not in caplog.text
    (digest,) = with_icon.store.icons.digests().values()
    assert client.get(f"/icons/{digest}").status_code == 404


@pytest.mark.parametrize("content", [png(32), ICO], ids=["png", "ico"])
def test_the_browser_draws_it(served: Served, tab: Tab, content: bytes) -> None:
    """In its place of 16 pixels, whatever its size; pages of the other site show nothing there."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    keep(served, content)
    with serving(served.with_settings(port=0).web) as url:
        tab.page.goto(url)
        drawn = tab.page.locator(".item .site img")
        drawn.first.wait_for()
        sizes = drawn.evaluate_all(
            "all => all.map(one => [one.complete, one.naturalWidth, one.width, one.height])"
        )
        assert sizes == [[True, 32 if content == png(32) else 16, 16, 16]] * 3
        assert tab.page.locator(".item .site").count() > 3
        for path in ("", "sites"):
            tab.page.goto(url + path)
            assert tab.page.locator("img.favicon").count() > 0
            assert axe.run(tab.page).response["violations"] == []

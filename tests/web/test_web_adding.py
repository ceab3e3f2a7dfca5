"""What the page says of a site when it is added: what is there, or why it cannot be read."""

from html import unescape
from pathlib import Path
from socket import AF_INET

import msgspec
import pytest
from browser_tab import PATIENCE_MS, Tab
from fake_web import page as html_page
from local_site import LocalSite
from web_served import Served, post

from incremental.base.clock import SystemClock
from incremental.base.scope import read_scope
from incremental.base.texts import Words
from incremental.fetch.guard import Endpoint
from incremental.fetch.options import FetchSettings
from incremental.fetch.session import Fetcher
from incremental.fetch.status import Request
from incremental.interfaces.web.background import Background
from incremental.interfaces.web.server import served as serving
from incremental.visit.once import problem_of

FEED = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'


@pytest.fixture
def at_once(empty: Served) -> Served:
    """Sites on this machine may be read, and are before the answer."""
    fetch = FetchSettings(allowed_networks=("127.0.0.0/8",))
    settings = msgspec.structs.replace(empty.web.settings, fetch=fetch)
    served = empty.with_settings()
    object.__setattr__(served.web, "settings", settings)
    served.web.__dict__["background"] = Background(served.web.now, start=lambda work: work())
    return served


def added(served: Served, url: str, language: str = "en") -> str:
    """Add a site; return the part of the page about it."""
    client = served.client(Accept_Language=language)
    answer = post(client, "/add", urls=url)
    assert answer.status_code == 200
    site = served.store.read.sites()[-1].id
    return client.get(f"/sites/{site}/found").text


def test_a_site_that_is_added_shows_what_is_there(at_once: Served) -> None:
    home = html_page(
        "/news/", "/news/2026/11/a-bridge-opens.html", title="The Bridge Post", head=FEED
    )
    with LocalSite({"/": home}) as site:
        html = added(at_once, site.url + "/")
    assert "The Bridge Post" in html
    assert "/feed.xml" in html
    assert "/news/" in html
    assert "at most 48" in html


def test_a_site_that_cannot_be_read_says_why_in_the_language_of_the_page(at_once: Served) -> None:
    html = added(at_once, "https://nowhere.invalid/", "en")
    assert "Unreadable; will be retried:" in html
    assert "unknown host" in html
    assert "Waiting for the first visit" not in html
    chinese = added(at_once, "https://elsewhere.invalid/", "zh")
    assert "暂时无法读取，稍后会再试： 无法获取 robots.txt（域名解析失败）" in chinese


def test_a_page_of_a_watched_site_is_said_to_be_its_hub(empty: Served) -> None:
    client = empty.client(Accept_Language="zh")
    post(client, "/add", urls="https://news.invalid/")
    html = unescape(post(client, "/add", urls="https://news.invalid/notices/").text)
    assert "news.invalid 已在监测" in html
    assert len(empty.store.read.sites()) == 1


@pytest.mark.parametrize(
    ("language", "says"),
    [("en", "is not a public address"), ("zh", "不是公网地址，因此不会被抓取")],
)
def test_a_seed_that_is_refused_says_so_in_the_language_of_the_page(
    empty: Served, language: str, says: str
) -> None:
    client = empty.client(Accept_Language=language)
    html = unescape(post(client, "/add", urls="http://10.0.0.7/news/").text)
    assert says in html
    assert '[fetch] allowed_hosts = ["10.0.0.7"]' in html
    assert ("public address" in html) == (language == "en")
    assert not empty.store.read.sites()


@pytest.mark.parametrize("url", ["http://10.0.0.7/", "http://intern.example/"])
def test_why_an_address_was_not_fetched_is_said_in_chinese(url: str) -> None:
    def intern(_host: str, port: int) -> list[Endpoint]:
        return [Endpoint(AF_INET, ("10.0.0.7", port))]

    fetcher = Fetcher(FetchSettings(), clock=SystemClock(), resolver=intern)
    answer = fetcher.fetch(Request(url))
    fetcher.close()
    said = Words("zh").said(problem_of(answer))
    assert said == "该地址不是公网地址，设置也未允许访问"


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("urls", "x" * 200_001, "以下各项的值无效：网址"),
        ("requests_per_day", "-4", "每日请求数 '-4'"),
        ("requests_per_day", "many", "每日请求数 'many'"),
    ],
)
def test_a_field_that_is_refused_is_named_as_in_the_form(
    empty: Served, field: str, value: str, said: str
) -> None:
    client = empty.client(Accept_Language="zh")
    fields = {"urls": "https://a.example/", field: value}
    assert said in unescape(post(client, "/add", **fields).text)


def test_a_seed_below_the_home_page_asks_how_far_to_go(at_once: Served) -> None:
    with LocalSite({"/press/list.html": html_page("/press/1.html")}) as site:
        html = added(at_once, site.url + "/press/list.html")
        assert "Only this folder" in html
        row = at_once.store.read.sites()[0]
        post(at_once.client(), f"/sites/{row.id}/below")
    scope = read_scope(at_once.store.read.sites()[0])
    assert [pattern.endswith("/press/*") for pattern in scope.include] == [True]
    again = at_once.client().get(f"/sites/{row.id}/found").text
    assert "Only this folder" not in again


OPML = """<opml version="2.0"><body>
<outline text="Press"><outline type="rss" text="Bridge Post" xmlUrl="https://feeds.example/bridge.xml"
 htmlUrl="https://bridge.example/"/></outline></body></opml>"""


def test_a_list_is_tried_and_then_imported_in_the_page(empty: Served) -> None:
    client = empty.client()
    tried = post(client, "/import", content=OPML, dry_run="1").text
    assert "This would be imported" in tried
    assert "bridge.xml" in tried
    assert not empty.store.read.sites()
    taken = post(client, "/import", content=OPML, dry_run="").text
    assert "Imported" in taken
    assert [site.seed_url for site in empty.store.read.sites()] == ["https://bridge.example/"]
    again = post(empty.client(Accept_Language="zh"), "/import", content=OPML, dry_run="").text
    assert "已有" in again


def test_a_damaged_list_is_refused_and_stays_in_the_field(empty: Served) -> None:
    answer = post(empty.client(), "/import", content="<opml><body><outline", dry_run="")
    assert answer.status_code == 200
    assert 'class="problem"' in answer.text
    assert not empty.store.read.sites()


def test_a_file_is_read_by_the_page(empty: Served, tab: Tab, tmp_path: Path) -> None:
    pytest.importorskip("playwright", reason="playwright is not installed")
    from playwright.sync_api import expect

    file = tmp_path / "feeds.opml"
    file.write_text(OPML, encoding="utf-8")
    with serving(empty.with_settings(port=0).web) as url:
        tab.page.goto(url + "add")
        tab.page.get_by_text("Import a list of sites").click()
        tab.page.get_by_label("File").set_input_files(file)
        expect(tab.page.locator("#import-content")).to_have_value(OPML, timeout=PATIENCE_MS)
        tab.page.get_by_role("button", name="Import", exact=True).click()
        tab.page.get_by_role("heading", name="Imported").wait_for()
    assert len(empty.store.read.sites()) == 1

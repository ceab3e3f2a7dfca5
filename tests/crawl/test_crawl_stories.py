"""Stories of one site: seeds in, new pages out."""

from collections.abc import Callable
from email.utils import formatdate
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fake_web import DAY, HOUR, MINUTE, SPARING, START, Reply, feed, page, redirect, sitemap, watch
from requests.structures import CaseInsensitiveDict
from stories import announced_pages

from incremental.settings import SiteSettings
from store.answers import NewQuery

HOME = "https://news.example/"
OLD = [f"/old-{n}.html" for n in range(10)]


def article(number: int) -> str:
    return f"/article-{number}.html"


def at(hours: float) -> str:
    """Write a time after START as feeds do."""
    return formatdate(START + hours * HOUR, usegmt=True)


# --- news -------------------------------------------------------------------------------------


def test_a_page_is_kept_with_the_type_that_its_server_gave(tmp_path: Path) -> None:
    story = Reply(
        "<title>一</title>".encode("gbk"), headers={"Content-Type": "text/html; charset=gbk"}
    )
    pages = {HOME: [(0, page("/a.html")), (START + DAY, page("/b.html"))], HOME + "b.html": story}
    with watch(tmp_path, pages) as crawl:
        crawl.run(3 * DAY)
        (row,) = crawl.store.read.find_page(HOME + "b.html", "")
        assert crawl.store.cache.find(row["url"], row["body_md5"]) == (
            story.body,
            "text/html; charset=gbk",
        )


def test_what_was_there_is_known_and_what_comes_is_announced(tmp_path: Path) -> None:
    pages = {
        HOME: [(0, page("/a1.html")), (START + 2 * HOUR, page("/a2.html", "/a1.html"))],
        HOME + "a1.html": page(title="One"),
        HOME + "a2.html": page(title="Two"),
    }
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(HOUR).new() == []
        assert crawl.run(DAY).new() == ["/a2.html"]
        (news,) = announced_pages(crawl.store)
        assert (news.title, news.hub_url) == ("Two", HOME)


def test_a_page_that_does_not_say_its_language_is_found_by_it(tmp_path: Path) -> None:
    """Small sites seldom declare one; templates declare the language of their author."""
    chinese = "国务院办公厅今日发布通知，要求各地区各部门认真贯彻落实会议精神，切实加强组织领导。"
    english = (
        "The council has opened the old bridge again, and the mayor was the first to cross it."
    )
    pages = {
        HOME: [(0, page("/z.html")), (START + 2 * HOUR, page("/a.html", "/b.html", "/c.html"))],
        HOME + "a.html": f"<title>通知</title><p>{chinese}</p>",
        HOME + "b.html": f"<title>Bridge</title><p>{english}</p>",
        HOME + "c.html": f"<html lang=en><title>会议</title><p>{chinese}</p>",
    }
    with watch(tmp_path, pages) as crawl:
        crawl.run(DAY)
        for language, expected in (("zh", ["会议", "通知"]), ("en", ["Bridge"]), ("fr", [])):
            news = crawl.store.answers.new(NewQuery(language=language))
            assert sorted(row.title or "" for row in news.rows) == expected


def test_a_page_that_goes_and_comes_back_is_announced_once(tmp_path: Path) -> None:
    here, gone = page("/a1.html", "/b.html"), page("/b.html")
    versions = [(0, gone), (START + 5 * HOUR, here), (START + DAY, gone), (START + 2 * DAY, here)]
    with watch(tmp_path, {HOME: versions, HOME + "a1.html": page()}) as crawl:
        assert crawl.run(4 * DAY).new() == ["/a1.html"]


def test_one_page_under_many_addresses_is_announced_once(tmp_path: Path) -> None:
    same = (
        "/a.html",
        "/a.html?utm_source=feed",
        "HTTP://News.Example:80/a.html#top",
        "/b/../a.html",
    )
    versions: list[tuple[float, str]] = [(0, page("/z.html"))]
    versions += [(START + (n + 1) * DAY, page("/z.html", link)) for n, link in enumerate(same)]
    with watch(tmp_path, {HOME: versions}) as crawl:
        assert crawl.run(7 * DAY).new() == ["/a.html"]


@pytest.mark.parametrize(
    "other", [page(head='<link rel="canonical" href="/a.html">'), redirect("/a.html")]
)
def test_another_address_of_a_page_that_was_announced_is_no_second_one(
    tmp_path: Path, other: Any
) -> None:
    """It names the page as its canonical one, or redirects to it."""
    pages: dict[str, Any] = {
        HOME: [
            (0, page("/z.html")),
            (START + DAY, page("/a.html", "/z.html")),
            (START + 3 * DAY, page("/copies/1.html", "/a.html", "/z.html")),
        ],
        HOME + "a.html": page(title="A"),
        HOME + "copies/1.html": other,
    }
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(6 * DAY).new() == ["/a.html"]
        (row,) = crawl.store.read.find_page(HOME + "copies/1.html", "")
        assert (row["state"], row["rule"]) == ("moved", "same_page")


def test_a_new_section_is_a_hub_and_no_news_but_what_stands_in_it_is(tmp_path: Path) -> None:
    pages = {
        HOME: [(0, page("/a.html")), (START + HOUR, page("/a.html", "/sport/"))],
        HOME + "sport/": [
            (0, page("/s1.html", "/s2.html")),
            (START + 2 * DAY, page("/s3.html", "/s1.html", "/s2.html")),
        ],
        HOME + "s3.html": page(),
    }
    with watch(tmp_path, pages) as crawl:
        assert set(crawl.run(DAY).new()) == {"/s1.html", "/s2.html"}
        assert crawl.hubs() == {HOME, HOME + "sport/"}
        assert crawl.run(4 * DAY).new()[2:] == ["/s3.html"]


def test_two_hubs_that_show_one_page_announce_it_once(tmp_path: Path) -> None:
    lists = [(0, page("/a.html")), (START + DAY, page("/b.html", "/a.html"))]
    pages = {
        HOME: [(0, page("/list/", "/a.html")), (START + DAY, page("/list/", "/b.html", "/a.html"))],
        HOME + "list/": lists,
        HOME + "b.html": page(),
    }
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(4 * DAY).new() == ["/b.html"]


# --- what leads on ----------------------------------------------------------------------------


def test_a_feed_named_by_a_link_element_is_found_and_watched(tmp_path: Path) -> None:
    head = '<link rel="alternate" type="application/rss+xml" href="/news.rss">'
    new = feed(("https://news.example/b.html", at(30)), ("https://news.example/a.html", at(-5)))
    pages = {
        HOME: page("/a.html", head=head),
        HOME + "news.rss": [(0, feed((HOME + "a.html", at(-5)))), (START + 30 * HOUR, new)],
        HOME + "b.html": page(),
    }
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(3 * DAY).new() == ["/b.html"]
        hub = crawl.hub(HOME + "news.rss")
        assert hub is not None
        assert (hub.kind, hub.state, hub.new_pages) == ("feed", "active", 1)
        # A feed that the page names makes guessing at the usual places needless.
        assert HOME + "feed" not in crawl.web.urls()


def test_what_a_feed_dates_after_the_start_is_announced_on_its_first_visit(tmp_path: Path) -> None:
    head = '<link rel="alternate" type="application/rss+xml" href="/news.rss">'
    items = feed((HOME + "b.html", at(1)), (HOME + "a.html", at(-5)))
    pages = {HOME: [(0, page("/a.html")), (START + DAY, page("/a.html", head=head))]}
    with watch(tmp_path, {**pages, HOME + "news.rss": items, HOME + "b.html": page()}) as crawl:
        assert crawl.run(3 * DAY).new() == ["/b.html"]


@pytest.mark.parametrize("named", ["https://news.example/map.xml", "/map.xml", "map.xml"])
def test_a_sitemap_named_in_robots_txt_is_found(tmp_path: Path, named: str) -> None:
    urls = [HOME + f"{n}.html" for n in range(3)]
    pages = {
        HOME: page("/a.html"),
        HOME + "robots.txt": f"User-agent: *\nAllow: /\nSitemap: {named}\n",
        HOME + "map.xml": [(0, sitemap(*urls[:2])), (START + DAY, sitemap(*urls))],
        urls[2]: page(),
    }
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(10 * DAY).new() == ["/2.html"]
        hub = crawl.hub(HOME + "map.xml")
        assert hub is not None
        assert hub.kind == "sitemap"


@pytest.mark.parametrize("write", [sitemap, lambda *urls: feed(*((url, "") for url in urls))])
def test_addresses_with_ampersands_that_nobody_escaped_are_announced_as_they_are(
    tmp_path: Path, write: Callable[..., Reply]
) -> None:
    urls = [f"{HOME}read.php?lang=de&copy={n}&id={n}" for n in range(5)]
    pages = {
        HOME + "news.xml": [(0, write(*urls[:2])), (START + DAY, write(*urls))],
        **dict.fromkeys(urls, page(title="A story", text="It is told at length. " * 40)),
    }
    with watch(tmp_path, pages, HOME + "news.xml") as crawl:
        crawl.run(10 * DAY)
        told = {one.url for one in announced_pages(crawl.store)}
        assert told == set(urls[2:])
        assert {url for url in crawl.web.urls() if "?" in url} <= set(urls)


def test_a_sitemap_index_leads_to_its_parts(tmp_path: Path) -> None:
    index = (
        '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        f"<sitemap><loc>{HOME}part.xml</loc></sitemap></sitemapindex>"
    )
    pages = {
        HOME: page("/a.html"),
        HOME + "sitemap.xml": Reply(index.encode(), headers={"Content-Type": "text/xml"}),
        HOME + "part.xml": [
            (0, sitemap(HOME + "a.html")),
            (START + DAY, sitemap(HOME + "a.html", HOME + "b.html")),
        ],
        HOME + "b.html": page(),
    }
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(10 * DAY).new() == ["/b.html"]


@pytest.mark.parametrize("place", ["feed", "rss.xml", "atom.xml", "index.xml", "sitemap.xml"])
def test_feeds_and_sitemaps_are_looked_for_at_their_usual_places(
    tmp_path: Path, place: str
) -> None:
    make = sitemap if "sitemap" in place else lambda *urls: feed(*((url, "") for url in urls))
    old, new = HOME + "a.html", HOME + "b.html"
    pages = {HOME: page("/a.html"), HOME + place: [(0, make(old)), (START + DAY, make(old, new))]}
    with watch(tmp_path, {**pages, new: page()}) as crawl:
        # A sitemap that brought nothing yet is read once a week.
        assert crawl.run((9 if make is sitemap else 3) * DAY).new() == ["/b.html"]
        assert crawl.hubs() | crawl.hubs("dormant") == {HOME, HOME + place}


def test_a_site_that_answers_everything_with_its_home_page_has_no_feeds(tmp_path: Path) -> None:
    home = page(*OLD)
    places = ("feed", "rss.xml", "atom.xml", "feed.xml", "index.xml", "rss", "sitemap.xml")
    everywhere = dict.fromkeys((HOME, *(HOME + place for place in places)), home)
    with watch(tmp_path, everywhere) as crawl:
        crawl.run(2 * DAY)
        assert crawl.hubs() | crawl.hubs("dormant") == {HOME}
        assert crawl.new() == []


def test_a_meta_refresh_is_followed_and_what_it_leads_to_is_watched(tmp_path: Path) -> None:
    refresh = '<html><head><meta http-equiv="refresh" content="0; url=/home"></head></html>'
    pages = {
        HOME: refresh,
        HOME + "home": [(0, page("/a.html")), (START + DAY, page("/b.html", "/a.html"))],
        HOME + "b.html": page(),
    }
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(3 * DAY).new() == ["/b.html"]


def test_a_seed_that_moved_to_another_host_is_followed_there(tmp_path: Path) -> None:
    there = "https://www.renamed.example/start"
    pages = {
        HOME: redirect(there),
        there: [(0, page("/a.html")), (START + DAY, page("/b.html", "/a.html"))],
        "https://www.renamed.example/b.html": page(),
    }
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(3 * DAY).new() == ["/b.html"]
        assert crawl.hubs() == {there}
        assert HOME not in crawl.web.urls(since=START + DAY)


def test_a_seed_without_www_that_redirects_to_www_is_one_site(tmp_path: Path) -> None:
    www = "https://www.news.example/"
    pages = {
        HOME: redirect(www),
        www: [(0, page("/a.html")), (START + DAY, page("/b.html", "/a.html"))],
        www + "b.html": page(),
    }
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(3 * DAY).new() == ["/b.html"]


def test_a_site_gets_what_the_settings_have_for_it_and_no_other_does(tmp_path: Path) -> None:
    """Cookies, headers and the password, in each request but that for robots.txt."""
    other = "https://other.example/"
    own = SiteSettings(
        HOME, cookies={"id": "7"}, headers={"X-Key": "k"}, username="u", password="p"
    )
    settings = msgspec.structs.replace(SPARING, site=(own,))
    pages = {url: page(url + "a.html") for url in (HOME, other)}
    with watch(tmp_path, pages, HOME, other, settings=settings) as crawl:
        crawl.run(DAY)
    seen = {
        asked.url: (headers.get("Cookie"), headers.get("X-Key"), headers.get("Authorization"))
        for asked in crawl.web.asked
        for headers in (CaseInsensitiveDict(asked.headers),)
    }
    assert seen[HOME] == ("id=7", "k", "Basic dTpw")
    assert {seen[url] for url in seen if not url.startswith(HOME)} == {(None, None, None)}
    assert seen[HOME + "robots.txt"] == (None, None, None)


# --- overflows, URL migrations, path aliases ----------------------------------------------------------------


def test_after_a_gap_the_next_pages_are_read_at_once_until_a_known_link(tmp_path: Path) -> None:
    """Thirty pages came at once; the list shows ten, and the rest on its older pages."""
    numbers = [article(n) for n in range(60)]

    def listing(now: float, first: int) -> str:
        newest = 60 if now >= START + DAY else 20
        shown = numbers[:newest][::-1][first : first + 10]
        older = f'<a rel="next" href="/page/{first // 10 + 2}/">Older</a>'
        return page(*shown, text=older)

    pages: dict[str, Any] = {HOME: partial(listing, first=0)}
    pages |= {f"{HOME}page/{n}/": partial(listing, first=10 * n - 10) for n in range(2, 7)}
    pages |= {HOME[:-1] + path: page() for path in numbers}
    with watch(tmp_path, pages) as crawl:
        announced = set(crawl.run(2.5 * DAY).new())
        assert announced == set(numbers[20:])
        found = {p.found_at for p in announced_pages(crawl.store, limit=100)}
        assert max(found) - min(found) < 10 * MINUTE


def test_a_url_migration_is_one_event_and_no_news(tmp_path: Path) -> None:
    """Every link changed its form, the headlines stayed."""
    titles = [f"The long headline of story number {n}" for n in range(20)]
    before = page(*(f"/story-{n}.html|{t}" for n, t in enumerate(titles)))
    after = page(*(f"/stories/2024/{n}/read|{t}" for n, t in enumerate(titles)))
    with watch(tmp_path, {HOME: [(0, before), (START + DAY, after)]}) as crawl:
        assert crawl.run(3 * DAY).new() == []
        assert crawl.events() == ["url_migration"]
        (old,) = crawl.store.read.find_page(HOME + "story-3.html", "")
        assert old["state"] == "moved"


def test_what_comes_after_a_url_migration_is_announced(tmp_path: Path) -> None:
    before = page(*(f"/story-{n}.html|{'x' * n}" for n in range(20)))
    after = [f"/stories/2024/{n}/read|{'y' * n}" for n in range(20)]
    late = page("/stories/2024/20/read|Fresh", *after)
    with watch(
        tmp_path, {HOME: [(0, before), (START + DAY, page(*after)), (START + 2 * DAY, late)]}
    ) as crawl:
        assert crawl.run(4 * DAY).new() == ["/stories/2024/20/read"]


def test_a_prefix_that_only_repeats_the_site_is_learned(tmp_path: Path) -> None:
    """Over night all links begin with /project: the same pages under another address."""
    sections = ["/", "/city/", "/sport/", "/science/"]
    filler = "words " * 200
    pages = {}
    for section in sections:
        own = [f"{section}{n}.html" for n in range(12)]
        old = page(*sections, *own, text=filler)
        new = page(*(f"/project{link}" for link in (*sections, *own)), text=filler)
        for prefix in ("", "/project"):
            pages[HOME[:-1] + prefix + section] = [(0, old), (START + 2 * DAY, new)]
    with watch(tmp_path, pages) as crawl:
        crawl.run(6 * DAY)
        (site,) = crawl.store.read.sites()
        assert "/project" in site.path_aliases
        assert len(crawl.new()) <= 2


# --- what is not there ------------------------------------------------------------------------


def test_a_new_page_that_says_it_is_not_there_is_no_news(tmp_path: Path) -> None:
    pages = {
        HOME: [(0, page("/a.html")), (START + HOUR, page("/b.html", "/a.html"))],
        HOME + "b.html": page(title="404 - Page not found", text="Sorry."),
    }
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(DAY).new() == []
        (row,) = crawl.store.read.find_page(HOME + "b.html", "")
        assert (row["state"], row["rule"]) == ("missing", "not_there_yet")
        assert crawl.run(90 * DAY).new() == []
        (row,) = crawl.store.read.find_page(HOME + "b.html", "")
        assert (row["state"], row["rule"]) == ("gone", "says_not_there")
        assert crawl.web.urls().count(HOME + "b.html") < 60


def test_a_hub_that_is_gone_is_dormant_and_comes_back(tmp_path: Path) -> None:
    sport = [
        (0, page("/s1.html")),
        (START + DAY, Reply(code=404)),
        (START + 9 * DAY, page("/s2.html")),
    ]
    pages = {HOME: page("/sport/", "/a.html"), HOME + "sport/": sport, HOME + "s2.html": page()}
    with watch(tmp_path, pages) as crawl:
        crawl.run(8 * DAY)
        assert crawl.hubs("dormant") == {HOME + "sport/"}
        late = [url for url in crawl.web.urls(since=START + 5 * DAY) if url == HOME + "sport/"]
        assert len(late) <= 4
        assert crawl.run(4 * DAY).new() == ["/s2.html"]
        assert crawl.hubs() == {HOME, HOME + "sport/"}


def test_a_seed_that_does_not_answer_at_first_is_tried_again(tmp_path: Path) -> None:
    pages = {HOME: [(0, Reply(code=500)), (START + 6 * HOUR, page("/a.html"))]}
    with watch(tmp_path, pages) as crawl:
        crawl.run(2 * DAY)
        assert crawl.hubs() == {HOME}


def test_a_feed_that_names_a_wrong_host_ends_with_no_yield_and_is_seldom_read(
    tmp_path: Path,
) -> None:
    head = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'

    def home(now: float) -> str:
        return page(
            *(article(n) for n in range(int((now - START) / (6 * HOUR)) + 3, 0, -1)), head=head
        )

    def wrong(now: float) -> Reply:
        return feed(
            *(
                (f"https://staging.example/{int((now - START) / HOUR) - n}.html", "")
                for n in range(9)
            )
        )

    with watch(tmp_path, {HOME: home, HOME + "feed.xml": wrong}) as crawl:
        crawl.run(10 * DAY)
        hub = crawl.hub(HOME + "feed.xml")
        assert hub is not None
        assert hub.new_pages == 0
        asked = crawl.web.urls(since=START + 5 * DAY)
        assert asked.count(HOME + "feed.xml") <= 10 < asked.count(HOME)
        assert len(crawl.new()) > 30


def test_noise_in_the_page_is_no_news_and_conditional_requests_are_sent(tmp_path: Path) -> None:
    def noisy(now: float) -> Reply:
        text = page("/a.html", text=f"It is {now}.")
        return Reply(text.encode(), headers={"ETag": f'"{now}"', "Last-Modified": at(-1)})

    with watch(tmp_path, {HOME: noisy}) as crawl:
        assert crawl.run(DAY).new() == []
    later = [a for a in crawl.web.asked if a.url == HOME][1:]
    assert later
    assert all(a.headers["If-None-Match"] and a.headers["If-Modified-Since"] for a in later)


def test_not_modified_is_no_visit_without_evidence(tmp_path: Path) -> None:
    first = Reply(page("/a.html").encode(), headers={"ETag": '"1"'})
    unchanged = Reply(code=304, headers={"ETag": '"1"'})
    with watch(tmp_path, {HOME: [(0, first), (START + MINUTE, unchanged)]}) as crawl:
        crawl.run(DAY)
        assert crawl.statuses(HOME)[:2] == ["fetched", "not_modified"]


def test_old_lists_that_are_read_late_are_no_new_sections(tmp_path: Path) -> None:
    """An article, monitored after two weeks, named a register's lists: 780 old pages were news."""
    packages = [f"/packages/p{n}.html" for n in range(60)]
    pages = {
        HOME: page("/about.html", "/news/"),
        HOME + "news/": page(*(f"/news/n{n}.html" for n in range(9))),
        HOME + "about.html": page("/packages/", text="All that there is to say about us. " * 40),
        HOME + "packages/": [
            (0, page(*packages)),
            (START + 40 * DAY, page("/packages/new.html", *packages)),
        ],
    }
    pages |= {HOME + one[1:]: page(title=one) for one in packages}
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(40 * DAY).new() == []
        assert HOME + "packages/" in crawl.hubs()
        assert crawl.run(8 * DAY).new() == ["/packages/new.html"]


def test_a_page_that_came_late_into_the_menu_is_news(tmp_path: Path) -> None:
    """It links to the menu alone, which its address, a folder's, was taken to outweigh."""
    menu = ("/about/", "/news/", "/team.html")

    def with_menu(*links: str, text: str = "") -> list[tuple[float, str]]:
        return [
            (0, page(*menu, *links, text=text)),
            (START + 20 * DAY, page(*menu, "/mailing-list/", *links, text=text)),
        ]

    pages = {
        HOME: with_menu("/news/n1.html"),
        HOME + "news/": with_menu("/news/n1.html", "/news/n0.html"),
        HOME + "about/": with_menu("/history.html"),
        HOME + "team.html": with_menu(),
        HOME + "mailing-list/": page(*menu, "/mailing-list/", title="Mailing list"),
    }
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(20 * DAY).new() == []
        assert crawl.run(DAY).new() == ["/mailing-list/"]

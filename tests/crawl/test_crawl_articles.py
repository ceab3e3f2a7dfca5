"""Pages that no list shows: they hang on older articles, or are linked long before they are there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from fake_web import DAY, HOUR, SPARING, START, Reply, feed, page, watch

HOME = "https://news.example/"
MENU = ("/guide.html", "/faq.html")
LEAD = "Long enough to be read as an article of its own. " * 30


def article(*links: str, text: str = LEAD) -> str:
    return page(*MENU, *links, title="Guide", text=text)


def site(**more: Any) -> dict[str, Any]:
    pages: dict[str, Any] = {
        HOME: page(*MENU, "/news/"),
        HOME + "news/": page(*MENU, *(f"/news/n{n}.html" for n in range(9))),
        HOME + "guide.html": article(),
        HOME + "faq.html": article(),
    }
    return pages | {HOME + path: versions for path, versions in more.items()}


def test_a_page_that_only_an_article_of_the_menu_links_to_is_found(tmp_path: Path) -> None:
    """On flink's site a guide to reviewing hung on the guide to contributing, and on nothing else."""
    gained = START + 40 * DAY
    guide = [(0, article()), (gained, article("/reviewing.html"))]
    with watch(tmp_path, site(**{"guide.html": guide})) as crawl:
        assert crawl.run(40 * DAY).new() == []
        assert crawl.run(2 * DAY).new() == ["/reviewing.html"]
        hub = crawl.hub(HOME + "guide.html")
        assert hub is not None
        assert (hub.role, hub.new_pages) == ("article", 1)


def test_an_article_that_gains_links_again_and_again_is_a_hub(tmp_path: Path) -> None:
    guide = [(0, article())] + [
        (START + (30 + 5 * n) * DAY, article(*(f"/part-{one}.html" for one in range(n + 1))))
        for n in range(6)
    ]
    with watch(tmp_path, site(**{"guide.html": guide})) as crawl:
        assert len(crawl.run(60 * DAY).new()) == 6
        hub = crawl.hub(HOME + "guide.html")
        assert hub is not None
        assert hub.role == "list"


def test_an_announced_article_that_is_refreshed_tells_of_the_links_it_gained(
    tmp_path: Path,
) -> None:
    story = "/news/story.html"
    pages = site(
        **{
            "news/": [
                (0, page(*(f"/news/n{n}.html" for n in range(9)))),
                (START + DAY, page(story, *(f"/news/n{n}.html" for n in range(9)))),
            ],
            "news/story.html": [
                (0, article()),
                (START + 2.5 * DAY, article("/news/part-two.html", text=LEAD + "Continued. " * 9)),
            ],
        }
    )
    settings = msgspec.structs.replace(
        SPARING, history=msgspec.structs.replace(SPARING.history, share=0.2)
    )
    with watch(tmp_path, pages, settings=settings) as crawl:
        assert crawl.run(6 * DAY).new() == [story, "/news/part-two.html"]
        hub = crawl.hub(HOME + "news/story.html")
        assert hub is not None
        assert hub.role == "article"


def test_a_page_linked_weeks_before_it_is_there_is_announced_when_it_is(tmp_path: Path) -> None:
    there = START + 20 * DAY
    pages = site(
        **{
            "": [(0, page(*MENU)), (START + DAY, page(*MENU, "/soon.html"))],
            "soon.html": [(0, Reply(code=404)), (there, page(title="Here"))],
        }
    )
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(20 * DAY).new() == []
        assert crawl.run(5 * DAY).new() == ["/soon.html"]
        assert crawl.web.urls().count(HOME + "soon.html") < 30


def test_a_page_that_looks_like_a_list_and_is_not_there_yet_is_looked_for_again(
    tmp_path: Path,
) -> None:
    there = START + 20 * DAY
    pages = site(
        **{
            "": [(0, page(*MENU)), (START + DAY, page(*MENU, "/material/"))],
            "material/": [(0, Reply(code=404)), (there, page(title="Material", text=LEAD))],
        }
    )
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(20 * DAY).new() == []
        assert crawl.run(3 * DAY).new() == ["/material/"]


def test_a_server_that_fails_does_not_make_a_missing_page_be_there(tmp_path: Path) -> None:
    soon = [
        (0, Reply(code=404)),
        (START + 3 * DAY, Reply(code=500)),
        (START + 6 * DAY, Reply(code=404)),
    ]
    pages = site(
        **{"": [(0, page(*MENU)), (START + DAY, page(*MENU, "/soon.html"))], "soon.html": soon}
    )
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(12 * DAY).new() == []


def test_a_missing_page_is_read_at_once_when_a_feed_begins_to_show_it(tmp_path: Path) -> None:
    there = START + 80.3 * DAY
    pages = site(
        **{
            "": [(0, page(*MENU)), (START + DAY, page(*MENU, "/soon.html"))],
            "feed.xml": [
                (0, feed((HOME + "news/n1.html", ""))),
                (there, feed((HOME + "soon.html", ""), (HOME + "news/n1.html", ""))),
            ],
            "soon.html": [(0, Reply(code=404)), (there, page(title="Here"))],
        }
    )
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(80.3 * DAY).new() == []
        (row,) = crawl.store.read.find_page(HOME + "soon.html", "")
        assert row["state"] == "gone"
        assert crawl.run(DAY).new() == ["/soon.html"]


def test_what_was_kept_back_stays_so_when_another_list_shows_it(tmp_path: Path) -> None:
    old = [f"/news/n{n}.html" for n in range(9)]
    pages = site(
        **{
            "": [
                (0, page(*MENU, "/news/")),
                (START + DAY, page(*MENU, "/news/", "/thanks.html", "/donate/")),
            ],
            "news/": [
                (0, page(*MENU, *old)),
                (START + 1.01 * DAY, page(*MENU, "/thanks.html", *old)),
            ],
            "donate/": page(title="Donate", text=LEAD),
        }
    )
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(5 * DAY).new() == []


def test_numbers_of_articles_are_no_error_codes(tmp_path: Path) -> None:
    old = [f"/news/{n}.html" for n in range(390, 399)]
    new = [f"/news/{n}.html" for n in range(399, 412)]
    pages = site(**{"news/": [(0, page(*old)), (START + DAY, page(*new, *old))]})
    with watch(tmp_path, pages) as crawl:
        assert set(crawl.run(3 * DAY).new()) == set(new)


def test_error_pages_and_pages_of_thanks_are_kept_back_with_their_rule(tmp_path: Path) -> None:
    pages = site(
        **{
            "": [
                (0, page(*MENU)),
                (START + DAY, page(*MENU, "/404.html", "/thanks.html", "/report.html")),
            ],
            "404.html": page(title="Page not found", text=LEAD),
        }
    )
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(3 * DAY).new() == ["/report.html"]
        rules = {
            path: crawl.store.read.find_page(HOME + path, "")[0]["kept_back"]
            for path in ("404.html", "thanks.html", "report.html")
        }
    assert rules == {
        "404.html": "error page",
        "thanks.html": "page of thanks or donations",
        "report.html": None,
    }


def test_a_weblog_of_many_tags_that_was_silent_is_read_again_the_same_day(tmp_path: Path) -> None:
    """It was left alone for 18 days: its tags shared a tenth of the visits, the home page with them."""
    tags = [f"/tags/t{n}/" for n in range(40)]
    old = [f"/post-{n}.html" for n in range(20)]
    pages: dict[str, Any] = {
        HOME: [(0, page(*old, *tags)), (START + 25 * DAY, page("/new.html", *old, *tags))]
    }
    pages |= {f"{HOME}tags/t{n}/": page(f"/older-{n}.html", "/") for n in range(40)}
    settings = msgspec.structs.replace(
        SPARING, revisit=msgspec.structs.replace(SPARING.revisit, requests_per_day=48)
    )
    with watch(tmp_path, pages, settings=settings) as crawl:
        assert crawl.run(25 * DAY).new() == []
        assert crawl.run(12 * HOUR).new() == ["/new.html"]


def test_a_sitemap_that_others_cover_is_read_daily_beside_a_busy_list(tmp_path: Path) -> None:
    """With the whole budget going to two lists, a page that only the sitemap named waited for four days."""
    listed = [f"/news/n{n}.html" for n in range(200)]

    def news(now: float) -> str:
        day = int((now - START) / DAY)
        return page(*reversed(listed[: 10 + max(day, 0)]))

    def everything(now: float) -> Reply:
        day = int((now - START) / DAY)
        shown = [
            *listed[: 10 + max(day, 0)],
            *(["/hidden.html"] if now >= START + 40.2 * DAY else []),
        ]
        rows = "".join(f"<url><loc>{HOME}{one[1:]}</loc></url>" for one in shown)
        text = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'
        return Reply(text.encode(), headers={"Content-Type": "application/xml"})

    pages: dict[str, Any] = {HOME: news, HOME + "news/": news, HOME + "sitemap.xml": everything}
    settings = msgspec.structs.replace(
        SPARING, revisit=msgspec.structs.replace(SPARING.revisit, requests_per_day=48)
    )
    with watch(tmp_path, pages, settings=settings) as crawl:
        assert "/hidden.html" not in crawl.run(40.2 * DAY).new()
        assert "/hidden.html" in crawl.run(1.5 * DAY).new()

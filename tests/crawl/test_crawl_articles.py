"""Pages that no list shows: they hang on older articles, or are linked long before they are there."""

from dataclasses import fields
from datetime import UTC, datetime
from email.utils import formatdate
from math import inf
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fake_web import (
    DAY,
    HOUR,
    MINUTE,
    SPARING,
    START,
    FakeWeb,
    Reply,
    Watch,
    feed,
    gaps,
    page,
    sitemap,
    watch,
)
from lab.clocks import SimulatedClock
from stories import announced_pages

from incremental.base.urls import canonical_key
from incremental.crawl.rescheduling import take_hints
from incremental.crawl.sites import WatchedSite
from incremental.decide.links import at_home
from incremental.parse import Link
from incremental.parse.dispatch import parse
from incremental.schedule.state import HubState
from store.enums import LabelOrigin, PageLabel
from store.values import LabelEntry

HOME = "https://news.example/"
MENU = ("/guide.html", "/faq.html")
LEAD_TEXT = "Long enough to be read as an article of its own. " * 30


def article(*links: str, text: str = LEAD_TEXT) -> str:
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


def test_an_article_whose_section_came_with_it_is_read_for_what_it_gains(tmp_path: Path) -> None:
    """On flink's site it was made a hub for its section, found to be none, and begun again, every day."""
    came, gained = START + 20 * DAY, START + 50 * DAY
    guide, parts = "/manual/how-to.html", [f"/manual/part-{n}.html" for n in range(5)]
    pages = site(
        **{
            "": [(0, page(*MENU, "/news/")), (came, page(*MENU, guide, "/news/"))],
            guide[1:]: [(came, article(*parts)), (gained, article(*parts, "/manual/style.html"))],
            **{path[1:]: [(came, article())] for path in parts},
            "manual/style.html": [(gained, article())],
        }
    )
    with watch(tmp_path, pages) as crawl:
        assert set(crawl.run(50 * DAY).new()) == {guide, *parts}
        hub = crawl.hub(HOME + guide[1:])
        assert hub is not None
        assert (hub.role, hub.baseline_at is None) == ("article", False)
        assert "/manual/style.html" in crawl.run(3 * DAY).new()


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
                (
                    START + 2.5 * DAY,
                    article("/news/part-two.html", text=LEAD_TEXT + "Continued. " * 9),
                ),
            ],
        }
    )
    settings = msgspec.structs.replace(
        SPARING, refresh=msgspec.structs.replace(SPARING.refresh, share=0.2)
    )
    with watch(tmp_path, pages, settings=settings) as crawl:
        assert crawl.run(6 * DAY).new() == [story, "/news/part-two.html"]
        hub = crawl.hub(HOME + "news/story.html")
        assert hub is not None
        assert hub.role == "article"


def test_pages_chained_by_next_are_found_together(tmp_path: Path) -> None:
    """A manual's new chapters each lead to the next one alone; they were found one an hour."""
    gained, names = START + 40 * DAY, [f"/guide/part-{n}.html" for n in range(6)]
    chapters = {
        name[1:]: [(gained, article(after))]
        for name, after in zip(names, [*names[1:], "/faq.html"], strict=True)
    }
    guide = [(0, article()), (gained, article(names[0]))]
    settings = msgspec.structs.replace(
        SPARING, revisit=msgspec.structs.replace(SPARING.revisit, requests_per_day=48)
    )
    with watch(tmp_path, site(**{"guide.html": guide}, **chapters), settings=settings) as crawl:
        assert crawl.run(42 * DAY).new() == names
        found = [page.found_at for page in announced_pages(crawl.store)]
        assert max(found) - min(found) < HOUR


def test_a_long_chain_leaves_the_lists_their_turns(tmp_path: Path) -> None:
    gained, names = START + 40 * DAY, [f"/guide/part-{n}.html" for n in range(120)]
    chapters = {
        name[1:]: [(gained, article(after))]
        for name, after in zip(names, [*names[1:], "/faq.html"], strict=True)
    }
    guide = [(0, article()), (gained, article(names[0]))]
    posts = [f"/news/n{n}.html" for n in range(9)]
    news = [(0, page(*MENU, *posts)), (gained + 30 * HOUR, page(*MENU, "/news/late.html", *posts))]
    pages = site(**{"guide.html": guide, "news/": news, "news/late.html": page()}, **chapters)
    settings = msgspec.structs.replace(
        SPARING, revisit=msgspec.structs.replace(SPARING.revisit, requests_per_day=24)
    )
    with watch(tmp_path, pages, settings=settings) as crawl:
        crawl.run(54 * DAY)
        found = {one.url: one.found_at for one in announced_pages(crawl.store)}
        first = found[HOME + names[0][1:]]
        assert sum(at < first + HOUR for at in found.values()) >= 12
        assert found[HOME + "news/late.html"] < gained + 42 * HOUR
        asked = [one.at for one in crawl.web.asked if one.at >= gained]
        assert max(sum(at <= one < at + DAY for one in asked) for at in asked) <= 1.5 * 24 + 1
        lists = [one.at for one in crawl.web.asked if one.url == HOME + "news/" and one.at > gained]
        assert max(gaps(lists)) < DAY
        assert set(crawl.new()) >= set(names)


def test_what_only_a_new_page_of_its_old_folder_links_to_is_found_with_it(tmp_path: Path) -> None:
    """A new page on maps came with an example that no list ever showed, and links to old notes."""
    came = START + 30 * DAY

    def written(at: float, *links: str) -> Reply:
        headers = {"Last-Modified": formatdate(at, usegmt=True)}
        return Reply(article(*links).encode(), headers=headers)

    stories = [f"/news/n{n}.html" for n in range(9)]
    pages = site(
        **{
            "news/": [(0, page(*MENU, *stories)), (came, page(*MENU, "/news/maps.html", *stories))],
            "news/maps.html": [(came, written(came, "/news/example.html", "/news/notes.html"))],
            "news/example.html": [(came, written(came))],
            "news/notes.html": written(START - 300 * DAY),
            "guide.html": written(START - 300 * DAY),
            "faq.html": written(START - 200 * DAY),
            "about.html": written(START - 100 * DAY),
            "": [(0, page(*MENU, "/about.html", "/people.html", "/news/"))],
            "people.html": written(START - 50 * DAY),
        }
    )
    with watch(tmp_path, pages) as crawl:
        crawl.run(33 * DAY)
        assert crawl.new() == ["/news/maps.html", "/news/example.html"]


def test_an_article_that_was_never_there_is_not_monitored_again_and_again(tmp_path: Path) -> None:
    """The dead links of a recorded weblog were chosen anew twice a day: a fifth of its requests."""
    dead = [f"/old/part-{n}.html" for n in range(3)]
    gone = {path[1:]: Reply(code=404) for path in dead}
    with watch(tmp_path, site(**{"": page(*MENU, "/news/", *dead)}, **gone)) as crawl:
        crawl.run(30 * DAY)
        asked = crawl.web.urls()
        assert [asked.count(HOME + path[1:]) for path in dead] == [1, 1, 1]
        assert {crawl.store.read.find_page(HOME + path[1:], "")[0]["state"] for path in dead} == {
            "gone"
        }


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


def test_a_translation_that_is_to_come_does_not_wait_for_links_that_are_wrong(
    tmp_path: Path,
) -> None:
    """A recorded site's language switch led nowhere for five weeks; ten mistyped links waited beside it."""
    came, there = START + 16 * DAY, START + 36 * DAY
    wrong = [f"/wrong-{n}/x.html" for n in range(10)]
    pages = site(
        **{
            "": [(0, page(*MENU)), (came, page(*MENU, "/material.html"))],
            "faq.html": [(0, article()), (came, article(*wrong))],
            "material.html": [(came, article("/zh/material.html"))],
            "zh/material.html": [(0, Reply(code=404)), (there, article(text="译文。" * 200))],
            **{path[1:]: Reply(code=404) for path in wrong},
        }
    )
    settings = msgspec.structs.replace(
        SPARING, revisit=msgspec.structs.replace(SPARING.revisit, requests_per_day=12)
    )
    with watch(tmp_path, pages, settings=settings) as crawl:
        assert crawl.run(36 * DAY).new() == ["/material.html"]
        assert crawl.run(2.1 * DAY).new() == ["/material.html", "/zh/material.html"]
        asked = [url for url in crawl.web.urls() if "/wrong-" in url]
        assert len(asked) < 100


def test_a_page_that_looks_like_a_list_and_is_not_there_yet_is_asked_for_again(
    tmp_path: Path,
) -> None:
    there = START + 20 * DAY
    pages = site(
        **{
            "": [(0, page(*MENU)), (START + DAY, page(*MENU, "/material/"))],
            "material/": [
                (0, Reply(code=404)),
                (there, page(title="Material", text=LEAD_TEXT)),
            ],
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


def test_what_was_withheld_stays_so_when_another_list_shows_it(tmp_path: Path) -> None:
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
            "donate/": page(title="Donate", text=LEAD_TEXT),
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


def test_error_pages_and_pages_of_thanks_are_withheld_with_their_rule(tmp_path: Path) -> None:
    pages = site(
        **{
            "": [
                (0, page(*MENU)),
                (START + DAY, page(*MENU, "/404.html", "/thanks.html", "/report.html")),
            ],
            "404.html": page(title="Page not found", text=LEAD_TEXT),
        }
    )
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(3 * DAY).new() == ["/report.html"]
        rules = {
            path: crawl.store.read.find_page(HOME + path, "")[0]["rule"]
            for path in ("404.html", "thanks.html", "report.html")
        }
    assert rules == {
        "404.html": "error_page",
        "thanks.html": "courtesy_page",
        "report.html": "new_link",
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


def test_a_sitemap_below_a_placeholder_names_the_pages_of_its_own_site(tmp_path: Path) -> None:
    """That of a recorded site named your-docusaurus-test-site.com, and no list its chapters."""
    known = [f"news/n{n}.html" for n in range(9)]
    hidden, there = "hidden.html", START + 20 * DAY

    def below(host: str, *paths: str) -> Reply:
        return sitemap(*(f"https://{host}/{path}" for path in paths))

    pages = site(
        **{
            "sitemap.xml": [
                (0, below("placeholder.example", *known)),
                (there, below("placeholder.example", *known, hidden)),
            ],
            hidden: [(there, article())],
        }
    )
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(20 * DAY).new() == []
        assert crawl.run(2 * DAY).new() == ["/hidden.html"]
        assert all(url.startswith(HOME) for url in crawl.web.urls())


def test_a_sitemap_of_two_other_hosts_is_left_alone() -> None:
    links = [Link(url="https://x.example/a"), Link(url="https://y.example/b")]
    assert at_home(links, HOME + "sitemap.xml") == []
    (link,) = at_home(links[:1], HOME + "sitemap.xml")
    assert link.url == HOME + "a"


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


def _lastmods(*moved: tuple[str, float]) -> Reply:
    rows = "".join(
        f"<url><loc>{url}</loc><lastmod>{datetime.fromtimestamp(at, UTC).isoformat()}</lastmod></url>"
        for url, at in moved
    )
    text = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'
    return Reply(text.encode(), headers={"Content-Type": "application/xml"})


def _read_sitemap(crawl: Watch, now: float, *moved: tuple[str, float]) -> None:
    (watched,) = crawl.crawler.frontier.watched
    url = HOME + "sitemap.xml"
    read = parse(_lastmods(*moved).body, url, content_type="application/xml")
    take_hints(crawl.store, read, watched, now)


def test_monitored_articles_that_move_together_leave_a_hub_its_change_hint(tmp_path: Path) -> None:
    """Thirty of them were counted as hubs, and more than twenty hubs at once as a deployment.

    The twenty that moved last come forward themselves, not sooner than three hours after their last visit.
    """
    names = [f"/guide-{n}.html" for n in range(30)]
    pages = site(**{"": page(*MENU, *names, "/news/")})
    pages |= {HOME + name[1:]: article() for name in names}
    with watch(tmp_path, pages) as crawl:
        crawl.run(20 * DAY)
        before = {hub.url: hub for hub in crawl.store.read.hubs()}
        articles = [hub for hub in before.values() if hub.role == "article" and hub.visits]
        assert len(articles) > 20
        last = max(hub.visited_at or 0.0 for hub in before.values())
        moved = [(hub.url, last + at) for at, hub in enumerate(articles, 1)]
        _read_sitemap(crawl, crawl.clock.now() + HOUR, (HOME + "news/", last + 1), *moved)
        after = {hub.url: hub for hub in crawl.store.read.hubs()}
        assert HubState.from_text(after[HOME + "news/"].revisit).hinted_at
        sooner = {url for url, hub in after.items() if hub.due_at < before[url].due_at}
        assert sooner - {HOME + "news/"} == {url for url, _ in moved[-20:]}
        assert all(
            hub.due_at == (hub.visited_at or 0.0) + 3 * HOUR
            for url, hub in after.items()
            if url in sooner and hub.role == "article"
        )
        crawl.run(6 * HOUR)
        again = {url for url, hub in before.items() if crawl.web.urls(since=last + 1).count(url)}
        assert again >= {url for url, _ in moved[-20:]}


def test_articles_and_hubs_do_not_wait_out_a_clock_that_went_back(tmp_path: Path) -> None:
    """What was due was asked once more, and pushed on as long as its last visit lay ahead."""
    with watch(tmp_path, site()) as crawl:
        crawl.run(30 * DAY)
        web = crawl.web
        now = crawl.clock.now() - 5 * DAY
    web.clock, web.asked = SimulatedClock(now), []
    with Watch(tmp_path, web, HOME) as crawl:
        crawl.crawler._stepped_at = now + 5 * DAY  # the daemon ran on all the while
        crawl.run(2 * DAY)
        assert {HOME + path for path in ("", "news/", "guide.html", "faq.html")} <= set(web.urls())


def test_what_is_in_memory_alone_outlives_a_change_by_another_process(tmp_path: Path) -> None:
    """Whatever is added to a watched site has to say here where it is kept."""
    rows = {"row", "scope", "terms", "path_aliases", "policy", "state", "hub_states", "depths"}
    rows |= {"named", "other_hubs", "shown"}
    with watch(tmp_path, site()) as crawl:
        crawl.run(16 * DAY)
        frontier = crawl.crawler.frontier
        (before,) = frontier.watched
        before.articles_gained_at, before.allocation.articles = crawl.clock.now() - HOUR, 0.31
        before.baselines, before.resumed_at = 3, crawl.clock.now() - DAY
        crawl.store.write.update_site(before.row.id, requests_per_day=before.terms.requests_per_day)
        frontier.load(crawl.clock.now())
        (after,) = frontier.watched
        assert after is not before
        for one in fields(WatchedSite):
            if one.name not in rows:
                assert getattr(after, one.name) == getattr(before, one.name), one.name


def test_after_a_restart_an_article_that_gained_a_link_still_speaks_for_the_others(
    tmp_path: Path,
) -> None:
    gained = START + 40 * DAY
    guide = [(0, article()), (gained, article("/reviewing.html"))]
    web = FakeWeb(SimulatedClock(START), site(**{"guide.html": guide}))
    with Watch(tmp_path, web, HOME) as crawl:
        assert crawl.run(41 * DAY).new() == ["/reviewing.html"]
        (before,) = crawl.crawler.frontier.watched
    with Watch(tmp_path, web, HOME) as crawl:
        crawl.run(6 * HOUR)
        (after,) = crawl.crawler.frontier.watched
        assert before.articles_gained_at > gained
        assert after.articles_gained_at == pytest.approx(before.articles_gained_at, abs=MINUTE)


def test_pages_that_a_user_called_articles_take_no_places_of_monitored_ones(
    tmp_path: Path,
) -> None:
    with watch(tmp_path, site()) as crawl:
        crawl.run(10 * DAY)
        (row,) = crawl.store.read.sites()
        url = HOME + "guide.html"
        before = [one.url for one in crawl.store.read.article_candidates(row.id, before=inf)]
        said = LabelEntry(
            url, canonical_key(url), PageLabel.ARTICLE, LabelOrigin.USER, START, site_id=row.id
        )
        crawl.store.write.put_labels([said])
        after = [one.url for one in crawl.store.read.article_candidates(row.id, before=inf)]
        assert [one for one in before if one != url] == after != before

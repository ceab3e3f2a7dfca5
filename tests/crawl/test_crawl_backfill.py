"""A site takes in its past: one event for each visit, every page of it on record, nothing twice."""

from pathlib import Path
from typing import Any

from fake_web import DAY, HOUR, START, feed, page, sitemap, watch

from incremental.base.texts import read_text
from incremental.topics.training.corrections import correct
from store.answers import NewQuery
from store.values import VisitRecord

HOME = "https://news.example/"
ROOT = HOME[:-1]
STORIES = [f"/2024/05/{day:02}/story.html" for day in range(20, 8, -1)]
PAST = [f"/blog/2007/03/{day:02}/old.html|Old tale {day}" for day in range(1, 31)]


def paths(crawl: Any) -> list[str]:
    """What came as backfill, in the order of its telling."""
    rows = crawl.store.backfills.all_pages(NewQuery(order="oldest"))
    return [row.url.removeprefix(ROOT) for row in rows]


def gaining(*more: str, at: float = DAY) -> dict[str, Any]:
    """A list of stories that gains pages in its midst."""
    before, after = page(*STORIES), page(*STORIES[:6], *more, *STORIES[6:])
    return {HOME: [(0, before), (START + at, after)]}


def test_thirty_old_posts_are_one_event_and_none_is_dropped(tmp_path: Path) -> None:
    with watch(tmp_path, gaining(*PAST)) as crawl:
        assert crawl.run(3 * DAY).new() == []
        assert crawl.events() == ["backfill"]
        assert paths(crawl) == [one.partition("|")[0] for one in PAST]
        (event,) = crawl.store.backfills.events(NewQuery())
        assert (event.pages, event.folder, event.hub_url) == (30, "/blog/2007/03/", HOME)
        rows = crawl.store.backfills.pages(NewQuery(limit=1, order="oldest"))
        assert rows[0].anchor == "Old tale 1"


def test_they_are_read_when_nothing_else_is_to_do_and_once(tmp_path: Path) -> None:
    with watch(tmp_path, gaining(*PAST[:3])) as crawl:
        crawl.run(12 * DAY)
        row = crawl.store.backfills.pages(NewQuery(limit=1))[0]
        text = crawl.store.answers.text(row.page_id)
        assert text is not None
        assert text.text.startswith("It is announced at length")
        assert crawl.store.refreshes.row(row.page_id) is None
        asked = [url for url in crawl.web.urls() if "/2007/" in url]
        assert len(asked) == len(set(asked)) == 3


def test_a_sitemap_that_lists_them_as_well_announces_them_no_second_time(tmp_path: Path) -> None:
    old = [ROOT + one.partition("|")[0] for one in PAST]
    pages = gaining(*PAST)
    pages[HOME + "sitemap.xml"] = [
        (0, sitemap(*(ROOT + one for one in STORIES))),
        (START + 1.2 * DAY, sitemap(*(ROOT + one for one in STORIES), *old)),
    ]
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(5 * DAY).new() == []
        assert sorted(paths(crawl)) == sorted(one.removeprefix(ROOT) for one in old)
        assert crawl.events() == ["backfill"]


def test_a_widget_of_random_posts_announces_nothing(tmp_path: Path) -> None:
    def home(now: float) -> str:
        visit = int((now - START) / HOUR)
        shown = [f"/2007/0{1 + (visit + n) % 9}/random-{visit}-{n}.html" for n in range(5)]
        rest = "".join(f'<p><a href="{one}">random</a></p>' for one in shown)
        return page(*STORIES).replace("</ul>", f"</ul>{rest}")

    with watch(tmp_path, {HOME: home}) as crawl:
        assert crawl.run(4 * DAY).new() == []
        assert (crawl.events(), paths(crawl)) == ([], [])


def test_a_notice_with_last_years_date_reaches_the_reader(tmp_path: Path) -> None:
    notice = "/2023/02/01/notice.html|The notice of last year"
    with watch(tmp_path, gaining(notice)) as crawl:
        crawl.run(3 * DAY)
        (event,) = crawl.store.backfills.events(NewQuery())
        assert (event.pages, event.url) == (1, ROOT + "/2023/02/01/notice.html")


def test_a_feed_with_old_dates_is_a_backfill(tmp_path: Path) -> None:
    stories = [(ROOT + f"/s-{n}.html", "Mon, 27 May 2024 08:00:00 GMT") for n in range(5)]
    late = [(ROOT + "/law-1999.html", "Tue, 04 May 1999 08:00:00 GMT")]
    head = f'<link rel="alternate" type="application/rss+xml" href="{HOME}feed.xml">'
    pages = {
        HOME: page(head=head),
        HOME + "feed.xml": [(0, feed(*stories)), (START + DAY, feed(*late, *stories))],
    }
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(3 * DAY).new() == []
        assert paths(crawl) == ["/law-1999.html"]


def test_old_pages_do_not_use_up_the_daily_limit_of_news(tmp_path: Path) -> None:
    many = [f"/blog/2007/01/{n:03}.html" for n in range(300)]
    with watch(tmp_path, gaining(*many, "/2024/06/04/fresh.html")) as crawl:
        assert crawl.run(3 * DAY).new() == ["/2024/06/04/fresh.html"]
        assert len(paths(crawl)) == 300


def test_an_old_article_that_was_taken_for_a_hub_joins_the_event(tmp_path: Path) -> None:
    """Its address is that of a folder; read, it leads nowhere."""
    pages = gaining(*PAST[:4], "/blog/2007/03/31/tale/|The thirty-first")
    pages[HOME + "blog/2007/03/31/tale/"] = "<title>The tale</title><p>" + "It was long ago. " * 99
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(4 * DAY).new() == []
        assert paths(crawl)[-1] == "/blog/2007/03/31/tale/"
        (event,) = crawl.store.backfills.events(NewQuery())
        assert event.pages == len(paths(crawl)) == 5


def test_recorded_again_after_a_kill_no_page_comes_twice(tmp_path: Path) -> None:
    """The visit is due again; what it would announce was announced, so nothing is."""
    records: list[VisitRecord] = []
    with watch(tmp_path, gaining(*PAST)) as crawl:
        write = crawl.store.write.visit

        def kept(record: VisitRecord, *more: Any) -> list[int]:
            records.append(record)
            return write(record, *more)

        object.__setattr__(crawl.store.write, "visit", kept)
        crawl.run(2 * DAY)
        gained = [{link.fate for link in one.links or ()} for one in records]
        (announced,) = [
            one for one, fates in zip(records, gained, strict=True) if "backfill" in fates
        ]
        write(announced)
        assert len(crawl.store.backfills.events(NewQuery())) == 1
        assert len(paths(crawl)) == 30


def seen_unread(crawl: Any, path: str) -> dict[str, Any]:
    """Run a day, and on until a page is known; return its columns."""
    crawl.run(DAY)
    for _ in range(9 * 360):
        crawl.run(10)
        found: list[dict[str, Any]] = crawl.store.read.find_page(HOME + path, "")
        if found:
            return found[0]
    raise AssertionError(path)


def test_a_page_that_a_user_calls_an_article_before_its_reading_is_not_lost(tmp_path: Path) -> None:
    pages = gaining("/blog/2007/03/31/", "/blog/2007/04/30/")
    pages[HOME + "blog/2007/03/31/"] = page(title="The tale", text="It was long ago. " * 99)
    with watch(tmp_path, pages) as crawl:
        seen = seen_unread(crawl, "blog/2007/03/31/")
        assert (seen["state"], paths(crawl)) == ("backfill", [])
        correct(crawl.store, HOME + "blog/2007/03/31/", "article", now=crawl.clock.now())
        crawl.crawler.load(crawl.clock.now())
        assert crawl.run(9 * DAY).new() == []
        assert "/blog/2007/03/31/" in paths(crawl)
        (page_now,) = crawl.store.read.find_page(HOME + "blog/2007/03/31/", "")
        assert page_now["state"] == "backfill"


def test_a_page_that_comes_after_its_event_was_read_is_an_event_of_its_own(tmp_path: Path) -> None:
    late = "/blog/2003/05/06/"
    pages = gaining("/blog/2007/03/01/old.html", late)
    pages[HOME + late[1:]] = page(title="The tale", text="It was long ago. " * 99)
    with watch(tmp_path, pages) as crawl:
        seen_unread(crawl, "blog/2007/03/01/old.html")
        (first,) = crawl.store.backfills.events(NewQuery())
        crawl.store.backfills.mark([first.id], now=crawl.clock.now(), read=True)
        crawl.run(2 * DAY)
        (unread,) = crawl.store.backfills.events(NewQuery(read=False))
        assert (unread.pages, unread.folder) == (1, late)
        details = [read_text(event["detail"]) for event in crawl.store.read.site_changes(1)]
        added = "1 older article was added under"
        assert set(details) == {f"{added} /blog/2007/03/01/", f"{added} {late}"}


def test_a_page_of_an_event_that_is_visited_as_a_hub_stays_one_of_the_event(tmp_path: Path) -> None:
    with watch(tmp_path, gaining(*PAST[:2])) as crawl:
        crawl.run(3 * DAY)
        url = ROOT + paths(crawl)[0]
        correct(crawl.store, url, "hub", now=crawl.clock.now())
        crawl.crawler.load(crawl.clock.now())
        assert crawl.run(3 * DAY).new() == []
        hub = crawl.hub(url)
        assert hub is not None
        assert hub.visits
        (seen,) = crawl.store.read.find_page(url, "")
        assert (seen["state"], seen["announced_at"]) == ("backfill", None)
        assert crawl.events() == ["backfill"]

"""A site served under two paths, which is learned only after its pages were announced."""

from collections.abc import Iterable
from concurrent.futures import Executor, Future
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from fake_web import DAY, HOUR, SPARING, START, Reply, Watch, page, watch
from stories import announced_pages

from incremental.base.clock import SystemClock
from incremental.base.urls import canonical_key
from incremental.features.messages.hooks import Delivered
from incremental.features.messages.notifier import Notifier
from incremental.features.messages.settings import ChannelSettings, MessagesSettings
from incremental.interfaces.explain.page import explain
from incremental.interfaces.web.routes.feeds import feed_entry
from incremental.settings import Settings
from store.answers.announced import AnnouncedPage, moment_of
from store.values import TopicScore

HOME = "https://news.example"
TWICE = "/news-site"
LEARNED_AT = START + 2.5 * DAY
SECTIONS = ("/", "/city/", "/sport/", "/science/")
DATE = '<meta property="article:published_time" content="2023-11-15T08:00:00Z">'


class Taking(Executor):
    """The way to a service that takes every message at once."""

    def submit(self, _: Any, /, *__: Any, **___: Any) -> Future[Any]:
        taken: Future[Any] = Future()
        taken.set_result(Delivered(ok=True))
        return taken


def articles(section: str, now: float) -> list[str]:
    """An article every six hours in each section, the newest first."""
    return [f"{section}{n}.html" for n in range(int((now - START) // (6 * HOUR)), -10, -1)][:20]


def section_page(now: float, section: str, *, late: bool) -> str | Reply:
    """First all links lead below the prefix; the sections without it come *late*, with links of their own."""
    if late and now < LEARNED_AT:
        return Reply(code=404)
    prefix = "" if now >= LEARNED_AT else TWICE
    links = [f"{prefix}{link}" for link in (*SECTIONS, *articles(section, now))]
    return page(*links, text="words " * 200)


def served_twice() -> dict[str, Any]:
    pages: dict[str, Any] = {}
    for section, prefix in product(SECTIONS, ("", TWICE)):
        late = not prefix and section != "/"
        pages[HOME + prefix + section] = partial(section_page, section=section, late=late)
        for n in range(-10, 30):
            body = page(title=f"Story {n} of {section}", head=DATE, text=f"Report {n}. " * 60)
            pages[f"{HOME}{prefix}{section}{n}.html"] = body
    return pages


def live(crawl: Watch, messages: Notifier, days: float) -> dict[int, AnnouncedPage]:
    """Crawl and send messages for some days; return what is listed then, by page id."""
    for _ in range(int(days * 4)):
        crawl.run(DAY / 4)
        messages.finish(crawl.clock.now)
    return {row.page_id: row for row in announced_pages(crawl.store)}


def judge_all(crawl: Watch, rows: Iterable[AnnouncedPage]) -> None:
    topic = crawl.store.topics.add("reports", [], "fused", now=START)
    for row in rows:
        key = canonical_key(row.url)
        score = TopicScore(key, topic, 0.9, "relevant", True, "fused", "1")
        crawl.store.topics.put_scores(row.site_id, [score], now=crawl.clock.now())


def queued(crawl: Watch) -> list[int]:
    return sorted(row.page_id for row in crawl.store.outbox.recent("hook", limit=10_000))


def messages_of(crawl: Watch) -> Notifier:
    channel = ChannelSettings("hook", "json://127.0.0.1/", max_per_hour=1_000)
    settings = Settings(fetch=SPARING.fetch, further=(MessagesSettings(channel=(channel,)),))
    return Notifier(crawl.store, settings, SystemClock(), executor=Taking())


def test_what_was_announced_stays_as_it_was_when_its_path_is_learned_to_be_an_alias(
    tmp_path: Path,
) -> None:
    """Dates, texts, verdicts and feed ids stay, no message goes out twice, and a check says it was read."""
    with watch(tmp_path, served_twice()) as crawl:
        messages = messages_of(crawl)
        messages.finish(crawl.clock.now)
        judge_all(crawl, live(crawl, messages, 2.25).values())
        before = {row.page_id: row for row in announced_pages(crawl.store)}
        assert len(before) > 10
        assert all(TWICE in row.url and row.topics for row in before.values())
        assert queued(crawl) == sorted(before)

        after = live(crawl, messages, 2)
        (site,) = crawl.store.read.sites()
        assert TWICE in site.path_aliases
        assert not [row.url for row in after.values() if TWICE in row.url]
        assert len({row.url for row in after.values()}) == len(after)
        for number, row in before.items():
            same = after[number]
            assert same.url == row.url.replace(TWICE, "")
            for name in ("title", "published_at", "excerpt", "topics", "found_at", "cursor"):
                assert getattr(same, name) == getattr(row, name), name
            assert feed_entry(same).id == feed_entry(row).id
        assert queued(crawl) == sorted(after)
        read = next(row for row in before.values() if row.title)
        (place,) = explain(crawl.store, SPARING, read.url, now=crawl.clock.now())["sites"]
        assert place["announced_at"] == moment_of(read.found_at)
        assert place["unread"] is None

"""The store cannot be used while visits end: their hosts are free again, and nothing is lost."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest
from fake_web import DAY, SPARING, START, FolderScorer, Watch, page, watch

from incremental.crawl.crawler import Crawler
from incremental.daemon.assembly import make_crawler, make_fetcher
from store.crawl.record import Recorder
from store.errors import StoreLockedError
from store.values import VisitRecord

A, B = "https://a.example/", "https://b.example/"


class Later(Executor):
    """Runs what was submitted when a test says so, all together."""

    def __init__(self) -> None:
        self.held: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.held.append((future, lambda: fn(*args, **kwargs)))
        return future

    def run(self) -> None:
        held, self.held = self.held, []
        for future, work in held:
            future.set_result(work())


class Locked(Recorder):
    """Another process holds the store."""

    def visit(self, *_: Any, **__: Any) -> list[int]:
        raise StoreLockedError("locked")

    def put_host(self, *_: Any, **__: Any) -> None:
        raise StoreLockedError("locked")


def pages() -> dict[str, Any]:
    days = [f"/day-{n}.html" for n in range(9)]
    found: dict[str, Any] = {}
    for home in (A, B):
        found[home] = [(START + n * DAY if n else 0, page(*days[: n + 1])) for n in range(9)]
        found |= {home + day[1:]: page(title=day, text="Words. " * 90) for day in days}
    return found


def run(crawl: Watch, crawler: Crawler, later: Later, seconds: float) -> None:
    end = crawl.clock.now() + seconds
    while crawl.clock.now() < end:
        wake_at = crawler.step(crawl.clock.now())
        if later.held:
            later.run()
        else:
            crawl.clock.advance_to(min(max(wake_at, crawl.clock.now() + 1), end))


def until_two_are_under_way(crawl: Watch, later: Later) -> None:
    while len(later.held) < 2:
        crawl.crawler.step(crawl.clock.now())
        crawl.clock.advance_to(crawl.clock.now() + 60)


def renewed(crawl: Watch, later: Later) -> Crawler:
    """Return the crawler that the daemon makes after an outage."""
    assert crawl.crawler.abandon(crawl.clock.now())
    fetch = make_fetcher(SPARING, crawl.clock, adapter=crawl.web).fetch
    crawler = make_crawler(
        crawl.store,
        SPARING,
        fetch=fetch,
        executor=later,
        scorer=FolderScorer(),
        gate=crawl.crawler.frontier.gate,
    )
    crawler.load(crawl.clock.now())
    return crawler


def test_visits_that_end_in_an_outage_leave_no_host_busy(tmp_path: Path) -> None:
    later = Later()
    with watch(tmp_path, pages(), A, B, executor=later) as crawl:
        run(crawl, crawl.crawler, later, DAY / 4)
        until_two_are_under_way(crawl, later)
        write = crawl.store.write
        vars(crawl.store)["write"] = Locked(
            crawl.store.database, crawl.store.where, crawl.store.cache
        )
        later.run()
        with pytest.raises(StoreLockedError):
            crawl.crawler.step(crawl.clock.now())
        vars(crawl.store)["write"] = write
        run(crawl, renewed(crawl, later), later, 5 * DAY)
        assert crawl.new().count("/day-4.html") == 2, "both sites go on"


def test_a_crawler_is_not_replaced_while_its_visits_are_under_way(tmp_path: Path) -> None:
    later = Later()
    with watch(tmp_path, pages(), A, B, executor=later) as crawl:
        run(crawl, crawl.crawler, later, DAY / 4)
        until_two_are_under_way(crawl, later)
        assert not crawl.crawler.abandon(crawl.clock.now())
        later.run()
        run(crawl, renewed(crawl, later), later, 5 * DAY)
        assert crawl.new().count("/day-4.html") == 2


def test_what_ends_while_a_step_stands_still_is_recorded_with_the_time_that_it_is_then(
    tmp_path: Path,
) -> None:
    """The step was given its time before it stood still; what it started then is two minutes younger."""
    with watch(tmp_path, pages(), A, B) as crawl:
        visits: list[VisitRecord] = []
        crawl.crawler._announced = lambda record, _: visits.append(record)
        crawl.crawler.step(crawl.clock.now(), lambda: None)
        assert not visits
        crawl.clock.advance_to(crawl.clock.now() + 120)
        crawl.crawler.step(crawl.clock.now(), lambda: None)
        assert {record.at for record in visits} <= {crawl.clock.now()}

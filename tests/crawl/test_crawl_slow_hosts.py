"""Hosts that hang keep some of the workers, never all: those that answer are visited as ever."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

from fake_web import DAY, HOUR, MINUTE, SPARING, START, FakeWeb, Watch, page
from lab.clocks import SimulatedClock

from incremental.base.threads import InlineExecutor
from incremental.visit.visit import VisitTask

HEALTHY = "https://news.example/"
HANGING = [f"https://hanging-{n}.example/" for n in range(SPARING.daemon.workers + 4)]


class HangingExecutor(Executor):
    """Runs each visit at once, but those of hanging hosts never end until they are released."""

    def __init__(self) -> None:
        self.hanging: list[tuple[Future[Any], Callable[[], Any]]] = []
        self.hangs = True
        self._inline = InlineExecutor()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        task: VisitTask = args[0]
        if "hanging" not in task.url or not self.hangs:
            return self._inline.submit(fn, *args, **kwargs)
        future: Future[Any] = Future()
        self.hanging.append((future, lambda: fn(*args, **kwargs)))
        return future

    def release(self) -> None:
        for future, work in self.hanging:
            future.set_result(work())
        self.hanging.clear()


def growing(now: float) -> str:
    newest = int((now - START) / (6 * HOUR)) + 10
    return page(*(f"/story-{n}.html" for n in range(newest, newest - 10, -1)))


def watched(folder: Path, executor: HangingExecutor) -> Watch:
    pages = {HEALTHY: growing, **{url: page("/a.html") for url in HANGING}}
    web = FakeWeb(SimulatedClock(START), pages)
    with Watch(folder, web, HEALTHY) as crawl:
        crawl.run(HOUR)  # it has answered by now
    return Watch(folder, web, *HANGING, executor=executor)


def test_a_site_that_answers_is_visited_while_every_other_host_hangs(tmp_path: Path) -> None:
    executor = HangingExecutor()
    with watched(tmp_path, executor) as crawl:
        crawl.run(2 * DAY)
        assert len(crawl.new()) >= 6
        kept = SPARING.daemon.workers - len(executor.hanging)
        assert 0 < kept < SPARING.daemon.workers / 2


def test_hosts_that_waited_for_a_worker_are_visited_when_it_is_free(tmp_path: Path) -> None:
    executor = HangingExecutor()
    with watched(tmp_path, executor) as crawl:
        crawl.run(10 * MINUTE)
        waited = set(HANGING) - set(crawl.web.urls())
        executor.hangs = False
        executor.release()
        crawl.run(HOUR)
        assert waited
        assert waited <= set(crawl.web.urls())

"""Whatever a visit leads to is written in one transaction: after a kill all of it is there, or none."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fake_web import DAY, HOUR, SPARING, START, Reply, Watch, feed, page, sitemap, watch
from topic_web import EXAMPLES, two_subjects, watch_topic

from incremental.crawl.crawler import Crawler
from incremental.crawl.overflows import Overflows
from incremental.features.page_watches.watching import watch_page
from incremental.visit.visit import Outcome
from store import Store

HOME = "https://news.example/"
_WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE")


class Ledger:
    """Counts the transactions by which each visit is settled, by its purpose."""

    def __init__(self) -> None:
        self.visits: Counter[str] = Counter()
        self.split: dict[str, list[str]] = {}
        """The statements that began a transaction, by page, of visits that needed several."""

    def settled(
        self, store: Store, task_url: str, purpose: str, settle: Callable[[], None]
    ) -> None:
        connection = store.database.connection()  # type: ignore[no-untyped-call]
        began: list[str] = []

        def note(statement: str) -> None:
            alone = statement.startswith(_WRITES) and not connection.in_transaction
            if alone or statement.startswith("BEGIN"):
                began.append(statement)
            if statement == "ROLLBACK":  # of it nothing is left
                began.pop()

        connection.set_trace_callback(note)
        settle()
        connection.set_trace_callback(None)
        self.visits[purpose] += 1
        if len(began) > 1:
            self.split[f"{purpose} {task_url}"] = began


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """What is written of each visit of a crawler."""
    found, settle = Ledger(), Crawler._settle

    def counted(crawler: Crawler, outcome: Outcome, now: float) -> None:
        task = outcome.task
        work = partial(settle, crawler, outcome, now)
        found.settled(crawler._store, task.url, task.purpose.value, work)

    monkeypatch.setattr(Crawler, "_settle", counted)
    return found


def overflowing(now: float, first: int) -> str:
    """Thirty pages came at once after a day; a list shows ten."""
    numbers = [f"/story-{n}.html" for n in range(60 if now >= START + DAY else 20)]
    older = f'<a rel="next" href="/page/{first // 10 + 2}/">Older</a>'
    return page(*numbers[::-1][first : first + 10], text=older)


@contextmanager
def lists(folder: Path) -> Iterator[Watch]:
    """A list that overflows, a sitemap, a section under two paths, a page that fails, a page watched."""
    sections = [f"/{name}/" for name in ("city", "sport", "science")]
    filler = "words " * 200
    pages: dict[str, Any] = {HOME: lambda now: overflowing(now, 0) + page(*sections)}
    pages |= {f"{HOME}page/{n}/": partial(overflowing, first=10 * n - 10) for n in range(2, 7)}
    for section in sections:
        own = [f"{section}{n}.html" for n in range(12)]
        new = page(*(f"/project{link}" for link in own), text=filler)
        for prefix in ("", "/project"):
            pages[HOME[:-1] + prefix + section] = [(0, page(*own, text=filler)), (START + DAY, new)]
    pages[HOME + "robots.txt"] = Reply(f"Sitemap: {HOME}sitemap.xml".encode())
    pages[HOME + "sitemap.xml"] = sitemap(HOME, HOME + "city/")
    pages[HOME + "story-3.html"] = Reply(code=500)
    pages[HOME + "feed.xml"] = feed((HOME + "story-1.html", ""))
    with watch(folder, pages, HOME, HOME + "feed.xml") as crawl:
        watch_page(crawl.store, SPARING, HOME + "city/1.html", now=START)
        crawl.crawler.load(START)
        yield crawl.run(1.5 * DAY)


@contextmanager
def topics(folder: Path) -> Iterator[Watch]:
    """A topic that learns from examples."""
    with watch_topic(folder, two_subjects(), examples=EXAMPLES) as crawl:
        yield crawl.run(12 * HOUR)


@pytest.mark.parametrize(
    ("told", "purposes"),
    [(lists, {"hub", "verify", "robots", "refresh"}), (topics, {"example"})],
)
def test_a_visit_and_all_that_follows_from_it_is_one_transaction(
    ledger: Ledger, tmp_path: Path, told: Any, purposes: set[str]
) -> None:
    with told(tmp_path):
        assert purposes <= ledger.visits.keys()
        assert ledger.split == {}


def test_a_bug_in_what_follows_a_visit_stays_in_the_quarantine(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The visit itself is recorded, once and whole, after what was written of both was undone."""
    with monkeypatch.context() as patch:
        patch.setattr(Overflows, "settle", lambda *_: 1 / 0)
        with watch(tmp_path, {HOME: page("/a.html")}) as crawl:
            crawl.run(HOUR)
            rows = crawl.store.quarantine.entries()
            assert HOME in crawl.store.quarantine.urls(rows).values()
            assert {row.error for row in rows} == {"ZeroDivisionError: division by zero"}
            assert crawl.statuses(HOME) == ["fetched"]
            assert ledger.split == {}
    with Watch(tmp_path, crawl.web) as crawl:
        crawl.run(DAY)
        rows = crawl.store.quarantine.entries()
        assert HOME not in crawl.store.quarantine.urls(rows).values()

"""The parts that stand between the crawler and an engine, one by one."""

from concurrent.futures import Future
from dataclasses import dataclass, field, replace

import pytest
from engine_story import engine_settings

from classifier.embedding.meaning import Meaning
from classifier.words.values import PageText
from incremental.base.clock import SystemClock
from incremental.crawl.engine import Engine
from incremental.fetch.status import FetchStatus, Response
from incremental.parse.hub_way import Way, WayKind
from incremental.visit.engines.elsewhere import make_elsewhere
from incremental.visit.engines.visits import EngineReport, LostVisitError, visit_elsewhere
from incremental.visit.engines.worker import refusal
from incremental.visit.visit import Outcome, Purpose, VisitTask
from store.errors import StoreFencedError


@dataclass
class Waiting:
    """Visits that end when a test says so."""

    most: int = 4
    started: list[VisitTask] = field(default_factory=list)
    answers: list[Future[Outcome]] = field(default_factory=list)

    def start(self, task: VisitTask) -> Future[Outcome]:
        self.started.append(task)
        self.answers.append(Future())
        return self.answers[-1]

    def engine(self) -> Engine:
        return Engine(self.start, lambda: EngineReport("dask", self.most), workers=4)

    def die(self, *, blamed: bool = True) -> None:
        """Let the worker of all visits under way die."""
        for answer in self.answers:
            if not answer.done():
                lost = LostVisitError("its worker ended", blamed=blamed, rest_seconds=9.0)
                answer.set_exception(lost)

    def end(self) -> None:
        """Let all visits under way end well."""
        for task, answer in zip(self.started, self.answers, strict=True):
            if not answer.done():
                answer.set_result(Outcome(task, Response(task.url, FetchStatus.FETCHED)))


def task(number: int) -> VisitTask:
    return VisitTask(Purpose.HUB, f"https://news.example/{number}", 1, number)


def test_pages_that_ended_a_worker_are_tried_again_one_at_a_time() -> None:
    """So the second death shows which of them it was; the other one is not blamed."""
    visits = Waiting()
    engine = visits.engine()
    engine.start(task(1))
    engine.start(task(2))
    visits.die()
    lost = list(engine.finished())
    assert [(one.lost, one.bug, one.response.retry_after_seconds) for one in lost] == [
        (True, None, 9.0)
    ] * 2
    engine.start(task(1))
    engine.start(task(2))
    engine.start(task(3))
    assert [one.page_id for one in visits.started[2:]] == [1, 3]
    assert (engine.under_way, engine.free) == (3, 1)
    visits.die()
    first, third = engine.finished()
    assert (first.bug is not None, first.lost) == (True, False)
    assert (third.bug, third.lost) == (None, True)
    assert visits.started[-1].page_id == 2, "the other one has its turn"
    visits.end()
    (second,) = engine.finished()
    assert (second.bug, second.lost) == (None, False)
    assert engine.idle


def test_an_engine_that_went_away_blames_no_page() -> None:
    visits = Waiting()
    engine = visits.engine()
    for _ in range(5):
        engine.start(task(1))
        visits.die(blamed=False)
        (outcome,) = engine.finished()
        assert (outcome.lost, outcome.bug) == (True, None)


def test_an_engine_without_workers_is_asked_again_in_a_second() -> None:
    visits = Waiting(most=0)
    engine = visits.engine()
    assert (engine.free, engine.again_at(5.0, 10.0), engine.again_at(90.0, 10.0)) == (0, 11.0, 90.0)
    visits.most = 9
    assert (engine.free, engine.again_at(5.0, 10.0)) == (4, 5.0)


@dataclass
class Worker:
    """Visits elsewhere that have the text of a page, and those made here."""

    there: list[VisitTask] = field(default_factory=list)
    here: list[VisitTask] = field(default_factory=list)

    def visit(self, task: VisitTask) -> Outcome:
        self.there.append(task)
        response = Response(task.url, FetchStatus.FETCHED)
        return Outcome(task, response, text=PageText(task.url, "A title"))

    def browser(self, task: VisitTask) -> Outcome:
        self.here.append(task)
        return Outcome(task, Response(task.url, FetchStatus.FETCHED))


@pytest.mark.parametrize("kind", list(WayKind))
def test_what_needs_a_browser_is_visited_here(kind: WayKind) -> None:
    worker, drawn = Worker(), replace(task(1), way=Way(kind=kind))
    visit_elsewhere(drawn, worker.visit, worker.browser, None)
    needs = kind in (WayKind.RENDERED, WayKind.BROWSER_MISSING)
    assert (worker.here, worker.there) == (([drawn], []) if needs else ([], [drawn]))


def test_texts_from_workers_get_their_vectors_here() -> None:
    meaning = Meaning("space", b"\1")
    found = visit_elsewhere(
        task(1), Worker().visit, None, lambda text: replace(text, meaning=meaning)
    )
    assert found.text is not None
    assert (found.text.title, found.text.meaning) == ("A title", meaning)


def test_nothing_starts_after_the_lease() -> None:
    def over() -> None:
        raise StoreFencedError("another daemon has taken over")

    with make_elsewhere(engine_settings("processes"), SystemClock(), over) as elsewhere:
        assert elsewhere is not None
        with pytest.raises(StoreFencedError):
            elsewhere.visit(task(1))


def test_another_version_is_refused_by_name() -> None:
    assert refusal("0.1.0", "0.1.0") == ""
    why = refusal("0.2.0", "0.1.0")
    assert "Hubwatch 0.2.0, the daemon 0.1.0" in why
    assert "give it the same version" in why

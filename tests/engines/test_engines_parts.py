"""The parts that stand between the crawler and an engine, one by one."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field, replace

import pytest

from classifier.embedding.meaning import Meaning
from classifier.words.values import PageText
from incremental.crawl.engine import Engine
from incremental.fetch.status import FetchStatus, Response
from incremental.parse.hub_way import Way, WayKind
from incremental.visit.engines.visits import (
    EngineReport,
    LostVisitError,
    Visits,
    drawn,
    embedded,
    fenced,
)
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
        return Engine(Visits(self.start, lambda: EngineReport("dask", self.most)), workers=4)

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


@pytest.mark.parametrize("kind", list(WayKind))
def test_what_needs_a_browser_is_visited_here(kind: WayKind) -> None:
    elsewhere, here = Waiting(), Waiting()
    drawn(elsewhere.start, here.start)(replace(task(1), way=Way(kind=kind)))
    needs = kind in (WayKind.RENDERED, WayKind.BROWSER_MISSING)
    assert (len(here.started), len(elsewhere.started)) == ((1, 0) if needs else (0, 1))


def test_nothing_starts_after_the_lease() -> None:
    visits = Waiting()

    def over() -> None:
        raise StoreFencedError("another daemon has taken over")

    with pytest.raises(StoreFencedError):
        fenced(visits.start, over)(task(1)).result(0)
    assert visits.started == []
    fenced(visits.start, lambda: None)(task(1))
    assert visits.started == [task(1)]


def test_texts_from_workers_get_their_vectors_here() -> None:
    visits, meaning, found = Waiting(), Meaning("space", b"\1"), Future[Meaning | None]()
    start = embedded(visits.start, lambda _: found, patience_seconds=60)
    with_text, without, lost = (start(task(number)) for number in range(3))
    text = PageText("https://news.example/0", "A title")
    response = Response("https://news.example/", FetchStatus.FETCHED)
    visits.answers[0].set_result(Outcome(task(0), response, text=text))
    visits.answers[1].set_result(Outcome(task(1), response))
    visits.die()
    assert not with_text.done()
    found.set_result(meaning)
    read = with_text.result(0).text
    assert read == text
    assert read.meaning == meaning
    assert without.result(0).text is None
    with pytest.raises(LostVisitError):
        lost.result(0)


def test_a_model_that_hangs_ends_no_visit_later_than_patience() -> None:
    """The page is judged by words; a vector that comes after all is nobody's."""
    visits, never = Waiting(), Future[Meaning | None]()
    start = embedded(visits.start, lambda _: never, patience_seconds=0.01)
    visit = start(task(0))
    response = Response("https://news.example/", FetchStatus.FETCHED)
    visits.answers[0].set_result(Outcome(task(0), response, text=PageText("", "A title")))
    text = visit.result(10).text
    assert text is not None
    assert text.meaning is None
    never.set_result(Meaning("space", b"\1"))
    assert visit.result(0).text == text


@pytest.mark.parametrize("theirs", [("0.2.0", 1), ("0.1.0", 2), ("", 1)])
def test_another_version_or_protocol_is_refused_by_name(theirs: tuple[str, int]) -> None:
    assert refusal(("0.1.0", 1), ("0.1.0", 1)) == ""
    why = refusal(theirs, ("0.1.0", 1))
    assert f"Hubwatch {theirs[0] or '?'} (protocol {theirs[1]})" in why
    assert "give it the same version" in why

"""A visit is a function of its task, and an engine runs it anywhere."""

import hashlib
import pickle
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from threading import Event

import pytest
from stories import HOME

from incremental.base.threads import InlineExecutor
from incremental.crawl.engine import Engine
from incremental.fetch.status import FetchStatus, Request, Response
from incremental.sandbox import read_body
from incremental.visit.engines.visits import EngineReport
from incremental.visit.visit import Fetch, Outcome, Purpose, VisitTask, visit

BODY = b"<html><title>News</title><body><p>Some text.</p><a href='/a'>A</a></body></html>"
DIGEST = hashlib.md5(BODY).hexdigest()


class Answers:
    """A fetcher that gives one answer and remembers what it was asked."""

    def __init__(self, status: FetchStatus = FetchStatus.FETCHED, body: bytes = BODY) -> None:
        self.response = Response(HOME, status, body=body, headers={"content-type": "text/html"})
        self.asked: list[Request] = []

    def __call__(self, request: Request) -> Response:
        self.asked.append(request)
        return self.response


def task(purpose: Purpose = Purpose.HUB, body_md5: str | None = None) -> VisitTask:
    return VisitTask(purpose, HOME, 1, 1, etag='"1"', last_modified="x", body_md5=body_md5)


def test_a_page_is_fetched_with_its_validators_and_parsed() -> None:
    fetch = Answers()
    outcome = visit(task(), fetch)
    assert fetch.asked == [Request(HOME, etag='"1"', last_modified="x")]
    assert outcome.page is not None
    assert [link.url for link in outcome.page.links] == [HOME + "a"]
    assert (outcome.body_md5, outcome.unchanged, outcome.page.text) == (DIGEST, False, "")


def test_the_text_is_read_only_when_the_page_itself_is_verified() -> None:
    page = visit(task(Purpose.VERIFY), Answers()).page
    assert page is not None
    assert "Some text." in page.text


def test_a_body_that_is_as_it_was_is_not_parsed() -> None:
    outcome = visit(task(body_md5=DIGEST), Answers())
    assert (outcome.page, outcome.unchanged) == (None, True)


@pytest.mark.parametrize("status", [s for s in FetchStatus if s is not FetchStatus.FETCHED])
def test_what_brought_no_page_is_a_value_with_its_status(status: FetchStatus) -> None:
    outcome = visit(task(), Answers(status, b""))
    assert (outcome.response.status, outcome.page, outcome.body_md5) == (status, None, None)
    assert outcome.unchanged == (status is FetchStatus.NOT_MODIFIED)


@pytest.mark.parametrize("body", [b"", b"\0" * 99, b"\xff\xfe<", b"%PDF-1.7", b"<" * 9_999])
def test_any_body_is_an_outcome(body: bytes) -> None:
    outcome = visit(task(), Answers(body=body))
    assert outcome.page is not None
    assert outcome.page.links == ()


def test_a_robots_txt_is_fetched_and_not_parsed_as_a_page() -> None:
    outcome = visit(task(Purpose.ROBOTS), Answers(body=b"User-agent: *"))
    assert outcome.page is None
    assert outcome.response.body == b"User-agent: *"


def test_task_and_outcome_travel_to_other_processes() -> None:
    outcome = visit(task(), Answers())
    assert pickle.loads(pickle.dumps(outcome)) == outcome


def engine(fetch: Fetch, executor: Executor | None = None, workers: int = 2) -> Engine:
    here = partial(visit, fetch=fetch, read=read_body)
    start = partial((executor or InlineExecutor()).submit, here)
    return Engine(start, partial(EngineReport, "threads", workers), workers=workers)


def test_an_engine_counts_what_is_under_way_and_gives_each_outcome_once() -> None:
    running = engine(Answers())
    assert (running.free, running.idle) == (2, True)
    running.start(task())
    running.start(task())
    running.start(task())
    assert (running.free, running.idle) == (0, False)
    outcomes: list[Outcome] = list(running.finished())
    assert [outcome.body_md5 for outcome in outcomes] == [DIGEST] * 3
    assert (list(running.finished()), running.free, running.idle) == ([], 2, True)


def test_threads_run_visits_side_by_side_and_say_when_one_ends() -> None:
    may_end, ended = Event(), Event()

    def wait_and_answer(request: Request) -> Response:
        assert may_end.wait(60)
        return Answers()(request)

    with ThreadPoolExecutor(2) as pool:
        running = engine(wait_and_answer, pool)
        running.start(task(), ended.set)
        running.start(task())
        running.wait(0.0)
        assert (list(running.finished()), running.free) == ([], 0)
        may_end.set()
        assert ended.wait(60)
        running.wait(60)
        assert running.finished()


@pytest.mark.parametrize("make", [InlineExecutor, ThreadPoolExecutor])
def test_a_bug_in_a_visit_is_the_trouble_of_its_page_alone(
    make: Callable[[], Executor],
) -> None:
    def broken(_: Request) -> Response:
        raise ZeroDivisionError

    with make() as executor:
        running = engine(broken, executor)
        running.start(task())
        running.wait(60)
        (outcome,) = running.finished()
        assert outcome.response.status is FetchStatus.INTERNAL_ERROR
        assert running.idle

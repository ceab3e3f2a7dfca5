"""Bodies read in processes of their own: as in the caller's, but nothing outlives its bounds."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import simple_reader

from incremental.base.children import frame
from incremental.fetch.status import FetchStatus
from incremental.sandbox import Body, Reading, Unread, read_body
from incremental.sandbox.process import (
    Answer,
    ReaderBugError,
    ReaderLimits,
    ReaderPool,
    ReaderProcess,
)

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
URL = "https://example.org/news/"
PAGE = b"<title>News</title><p>Some words.</p><a href=/a>A</a><a href=/b>B</a>"
EVERYTHING = Body(
    URL, PAGE, md5="0" * 32, want_text=True, keep_text=True, for_topics=True, describe=True
)
LIMITS = ReaderLimits(seconds=30, megabytes=256)
RECORDED = [path for path in sorted(HERE.parent.glob("parse/recorded/*/body.*")) if path.is_file()]


@pytest.fixture(scope="module")
def pool() -> Iterator[ReaderPool]:
    with ReaderPool(2, LIMITS) as made:
        yield made


@pytest.fixture
def taken_over(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReaderPool]:
    """A pool of one reader that bodies can command."""
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    limits = ReaderLimits(seconds=4, megabytes=128)
    with ReaderPool(1, limits, program="hostile") as made:
        yield made


def ask(pool: ReaderPool, command: bytes) -> Reading | Unread:
    return pool.read(Body(URL, command))


def unread(answer: Reading | Unread) -> tuple[FetchStatus, str]:
    assert isinstance(answer, Unread)
    return answer.status, answer.detail


def is_gone(pid: int) -> bool:
    """Whether a process has ended, or waits only for whoever adopted it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def children() -> set[int]:
    found = set[int]()
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError):  # a thread that has ended meanwhile
            found |= set(map(int, (task / "children").read_text().split()))
    return found


def open_handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def wait_until_gone(pid: int) -> None:
    """Wait for a process to end; a process that stays fails by the patience of a minute."""
    end = time.monotonic() + 60
    while not is_gone(pid):
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.parent.name)
def test_a_process_reads_what_the_caller_would_read(pool: ReaderPool, path: Path) -> None:
    for body in (replace(EVERYTHING, content=path.read_bytes()), Body(URL, path.read_bytes())):
        assert pool.read(body) == read_body(body)


def test_many_threads_share_a_few_processes(pool: ReaderPool) -> None:
    bodies = [replace(EVERYTHING, content=b"<a href=/%d>x</a>" % n + PAGE) for n in range(60)]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(pool.read, bodies)) == list(map(read_body, bodies))
    assert len(pool.pids) == 2


@pytest.mark.parametrize(
    ("command", "status", "detail"),
    [
        (b"sleep", "parse_timed_out", "reading it took more than 4 s"),
        (b"hang_up", "parse_timed_out", "reading it took more than 4 s"),
        (b"spin", "parse_timed_out", "reading it took more than 4 s"),
        (b"grow", "parse_failed", "reading it took more than 128 MB of memory"),
        (b"no_memory", "parse_failed", "reading it took more than 128 MB of memory"),
        (b"crash", "parse_failed", "its reader was ended by SIGSEGV"),
        (b"kill", "parse_failed", "its reader was ended by SIGKILL"),
        (b"leave", "parse_failed", "its reader ended with code 3"),
        (b"boast", "parse_failed", "it holds more than 64 MB of links and text"),
    ],
)
def test_what_breaks_a_reader_is_a_value_and_the_next_page_is_read(
    taken_over: ReaderPool, command: bytes, status: str, detail: str
) -> None:
    assert unread(ask(taken_over, command)) == (FetchStatus(status), detail)
    assert taken_over.read(EVERYTHING) == read_body(EVERYTHING)


def test_an_answer_that_is_none_ends_its_reader(taken_over: ReaderPool) -> None:
    assert ask(taken_over, PAGE) == read_body(Body(URL, PAGE))
    before = taken_over.pids
    status, detail = unread(ask(taken_over, b"lie"))
    assert (status, detail.partition(":")[0]) == ("parse_failed", "its reader answered nonsense")
    assert taken_over.pids != before
    assert taken_over.read(EVERYTHING) == read_body(EVERYTHING)


def test_what_a_library_prints_is_no_answer(taken_over: ReaderPool) -> None:
    assert ask(taken_over, b"chatter") == read_body(Body(URL, b"chatter"))


def test_a_bug_is_raised_with_its_trace(taken_over: ReaderPool) -> None:
    with pytest.raises(ReaderBugError, match=r"(?s)example\.org.*in err.*ZeroDivisionError"):
        ask(taken_over, b"err")
    assert taken_over.read(EVERYTHING) == read_body(EVERYTHING)


def test_a_reader_killed_in_mid_page_is_replaced(taken_over: ReaderPool) -> None:
    taken_over.read(EVERYTHING)
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(ask, taken_over, b"sleep")
        os.kill(taken_over.pids[0], signal.SIGKILL)
        # Whether the signal came before the body or after it.
        reading = answer.result(60)
    if isinstance(reading, Unread):
        # On a busy machine its time may be over before the signal is.
        assert reading.status in {FetchStatus.PARSE_FAILED, FetchStatus.PARSE_TIMED_OUT}
    assert taken_over.read(EVERYTHING) == read_body(EVERYTHING)


def test_a_reader_killed_while_idle_costs_no_page(taken_over: ReaderPool) -> None:
    taken_over.read(EVERYTHING)
    (pid,) = taken_over.pids
    os.kill(pid, signal.SIGKILL)
    wait_until_gone(pid)
    assert taken_over.read(EVERYTHING) == read_body(EVERYTHING)


def test_signals_for_the_whole_group_do_not_end_a_reader(pool: ReaderPool) -> None:
    pool.read(EVERYTHING)
    before = pool.pids
    for pid in before:
        os.kill(pid, signal.SIGINT)
        os.kill(pid, signal.SIGTERM)
    assert pool.read(EVERYTHING) == read_body(EVERYTHING)
    assert pool.pids == before


def test_closing_ends_readers_in_mid_page_and_frees_who_waits(taken_over: ReaderPool) -> None:
    taken_over.read(EVERYTHING)
    pids = taken_over.pids
    with ThreadPoolExecutor(3) as threads:
        answers = [threads.submit(ask, taken_over, b"sleep") for _ in range(3)]
        taken_over.close()
        for answer in answers:
            assert unread(answer.result(60)) == ("parse_failed", "Hubwatch is stopping")
    assert all(is_gone(pid) for pid in pids)


def test_sixty_replaced_readers_leave_no_process_and_no_handle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert frame(Answer(no_memory=True)) == simple_reader.ANSWER
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    with ReaderPool(2, LIMITS, pages_each=1, program="simple_reader") as pool:
        threads, seen = threading.active_count(), set(pool.pids)
        handles = open_handles()
        while len(seen) < 60:
            unread(pool.read(EVERYTHING))
            seen.update(pool.pids)
        assert open_handles() <= handles
        assert threading.active_count() <= threads
        assert len(children() & seen) <= 2
    assert not children() & seen


def test_a_worn_reader_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    with ReaderPool(1, LIMITS, pages_each=5, program="hostile") as pool:
        (first,) = pool.pids
        while pool.pids == [first]:
            assert pool.read(EVERYTHING) == read_body(EVERYTHING)
        wait_until_gone(first)


def test_a_reader_that_has_just_begun_is_asked_after_those_that_are_ready() -> None:
    with ReaderPool(2, LIMITS, pages_each=3) as pool:
        first = set(pool.pids)
        while set(pool.pids) == first:
            assert pool.read(EVERYTHING) == read_body(EVERYTHING)
        with pool.lent() as ready, pool.lent() as new:
            assert ready is not None
            assert new is not None
            assert ready.pid in first
            assert new.pid not in first


def test_a_reader_that_cannot_start_is_said_of_the_page() -> None:
    with ReaderPool(1, LIMITS, program="incremental.sandbox.missing") as pool:
        status, detail = unread(pool.read(EVERYTHING))
        assert (status, detail[:22]) == ("parse_failed", "no reader could start:")


def test_a_reader_gets_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUBWATCH_WEB_PASSWORD", "s3cret")
    monkeypatch.setenv("PGPASSWORD", "s3cret")
    process = ReaderProcess(LIMITS)
    try:
        process.ask(frame(EVERYTHING))
        assert b"s3cret" not in Path(f"/proc/{process.pid}/environ").read_bytes()
    finally:
        process.close()


def test_a_reader_bounds_its_own_processor_time() -> None:
    """Nobody may be left to kill it."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE)])}
    command = [sys.executable, "-P", "-m", "hostile", "128", "0.5"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment
    ) as process:
        assert process.stdin is not None
        process.stdin.write(frame(Body(URL, b"spin")))
        process.stdin.flush()
        assert process.wait(60) == -signal.SIGXCPU


DAEMON = """
import sys, threading
from incremental.sandbox import Body
from incremental.sandbox.process import ReaderPool
from incremental.sandbox.process import ReaderLimits
pool = ReaderPool(2, ReaderLimits(0.5, 128), program="hostile")
pool.read(Body("https://example.org/", b"<p>x"))
print(*pool.pids, flush=True)
sys.stdin.read()
"""


def test_readers_end_when_the_daemon_is_killed() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE)])}
    with subprocess.Popen(
        [sys.executable, "-c", DAEMON],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as daemon:
        assert daemon.stdout is not None
        pids = [int(one) for one in daemon.stdout.readline().split()]
        assert len(pids) == 2
        daemon.kill()
        for pid in pids:
            wait_until_gone(pid)

"""Providers answer with values, whatever comes back."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from incremental.features.discovery.search_provider import PatientSearch, SearchAnswer, searxng
from incremental.fetch.status import FetchStatus, Request, Response


class Web:
    """Answers every request with what the test says; keeps what was asked."""

    def __init__(
        self, *bodies: bytes, status: FetchStatus = FetchStatus.FETCHED, code: int = 200
    ) -> None:
        self.requests: list[Request] = []
        self._bodies = bodies
        self._status, self._code = status, code

    def fetch(self, request: Request) -> Response:
        body = self._bodies[min(len(self.requests), len(self._bodies) - 1)] if self._bodies else b""
        self.requests.append(request)
        wait = 30.0 if self._status is FetchStatus.RATE_LIMITED else None
        return Response(
            request.url, self._status, http_code=self._code, body=body, retry_after_seconds=wait
        )

    def asked(self, number: int = 0) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.requests[number].url).query)


def _searxng(*urls: str) -> bytes:
    found = [{"url": url, "title": f"<b>{url}</b>", "content": "a &amp; b"} for url in urls]
    return json.dumps({"query": "x", "results": found}).encode()


def test_searxng_gives_pages() -> None:
    web = Web(_searxng("https://a.org/1", "https://b.org/"), _searxng())
    answer = searxng(web.fetch, "https://search.example/", "land tender", 10, 1)
    assert [*answer.urls] == ["https://a.org/1", "https://b.org/"]
    assert web.requests[0].url.startswith("https://search.example/search?")
    assert (web.asked()["q"], web.asked()["format"]) == (["land tender"], ["json"])


def test_what_is_no_address_and_doubles_are_left_out() -> None:
    urls = ("javascript:alert(1)", "https://a.org/#x", "https://a.org/#y", "ftp://b.org/", "")
    web = Web(_searxng(*urls), _searxng())
    answer = searxng(web.fetch, "https://search.example", "x", 10, 1)
    assert [*answer.urls] == ["https://a.org/"]


@pytest.mark.parametrize(
    "body",
    [b"<html>blocked</html>", b"", b"[1]", b'{"results": {"a": 1}}', b"[" * 100_000, b"\xff\xfe"],
)
def test_what_is_not_the_interface_is_not_understood(body: bytes) -> None:
    answer = searxng(Web(body).fetch, "https://search.example", "x", 5, 1)
    assert "JSON" in answer.problem or "API" in answer.problem


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (FetchStatus.BLOCKED, 403, "HTTP 403"),
        (FetchStatus.RATE_LIMITED, 429, "HTTP 429"),
        (FetchStatus.TIMED_OUT, 0, "timed out"),
        (FetchStatus.SERVER_ERROR, 502, "HTTP 502"),
    ],
)
def test_a_provider_in_trouble_says_why(status: FetchStatus, code: int, said: str) -> None:
    web = Web(status=status, code=code)
    answer = searxng(web.fetch, "https://search.example", "x", 5, 1)
    assert (answer.urls, said in answer.problem) == ((), True), answer.problem
    assert answer.retry_after_seconds == (30.0 if code == 429 else None)


def test_further_results_are_asked_for_by_the_provider_s_own_count() -> None:
    web = Web(_searxng("https://a.org/"))
    searxng(web.fetch, "https://search.example", "x", 10, 3)
    assert web.asked()["pageno"] == ["3"]


def test_no_page_of_results_is_asked_for_twice() -> None:
    """An instance that gives three a page: the second ten begin on its second page all the same."""
    web = Web(_searxng("https://a.org/"), _searxng("https://b.org/"))
    there = "https://search.example"
    found = [searxng(web.fetch, there, "x", 10, page).urls[0] for page in (1, 2)]
    assert found == ["https://a.org/", "https://b.org/"]
    assert [web.asked(number)["pageno"] for number in range(2)] == [["1"], ["2"]]
    assert len(web.requests) == 2


class Time:
    """A clock that a pause moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def pause(self, seconds: float) -> None:
        self.now += seconds


class Fake:
    """Answers as it is told; keeps when it was asked."""

    def __init__(self, time: Time, *answers: SearchAnswer) -> None:
        self.asked_at: list[float] = []
        self._time, self._answers = time, list(answers)

    def __call__(self, *_: object) -> SearchAnswer:
        self.asked_at.append(self._time.now)
        return self._answers.pop(0) if self._answers else SearchAnswer()


def patient(fake: Fake, time: Time, notes: list[str]) -> PatientSearch:
    return PatientSearch(fake, lambda: time.now, time.pause, notes.append, 2.0)


def test_queries_keep_their_distance() -> None:
    time = Time()
    fake = Fake(time)
    asking = patient(fake, time, [])
    for _ in range(3):
        assert asking("x", 1, 1) == SearchAnswer()
    assert fake.asked_at == [0.0, 2.0, 4.0]


def test_a_provider_that_failed_is_left_alone_and_longer_each_time() -> None:
    time, notes = Time(), list[str]()
    limited = SearchAnswer(problem="slow", retry_after_seconds=600.0)
    down = SearchAnswer(problem="down")
    fake = Fake(time, down, down, limited)
    asking = patient(fake, time, notes)
    for second in range(2_000):
        time.now = float(second)
        asking("x", 1, 1)
        if len(fake.asked_at) > 3:
            break
    assert [at // 10 for at in fake.asked_at] == [0, 6, 18, 78]
    assert notes == [f"the search provider: {why}" for why in ("down", "down", "slow")]

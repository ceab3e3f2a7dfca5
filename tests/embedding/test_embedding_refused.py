"""An endpoint that refuses single texts, or everything, as it is asked by the daemon's job."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import closing
from http import HTTPStatus

import pytest
from stories import START
from test_embedding_keeping import announce

from classifier.embedding import local, packages
from classifier.embedding.embedder import EmbeddingError
from classifier.embedding.local import LocalEmbedder
from classifier.words.values import PageText
from incremental.fetch.failures import status_of_code
from incremental.fetch.status import FetchStatus, Request, Response
from incremental.topics.embedding.endpoint import EndpointEmbedder
from incremental.topics.embedding.keeping import IDLE_SECONDS, VectorKeeper
from incremental.topics.embedding.page_embedder import FIRST_PAUSE_SECONDS, PageEmbedder
from incremental.topics.embedding.pages import meanings_of
from store import Store
from store.search.vectors import VectorCounts

HOUR = 3_600.0


class Server:
    """Answers with the lengths of texts; *code* if one of them is among *bad*, which may be all."""

    def __init__(self, code: int, *bad: str, retry_after: float | None = None) -> None:
        self.code = code
        self.bad = bad
        self.retry_after = retry_after
        self.requests: list[list[str]] = []

    def fetch(self, request: Request) -> Response:
        texts = json.loads(request.post or b"")["input"]
        self.requests.append(texts)
        if any(word in text for word in self.bad for text in texts):
            waits = self.retry_after
            status = status_of_code(self.code, conditional=False, retry_after=waits is not None)
            detail = f"HTTP {self.code}"
            return Response(
                request.url,
                status,
                http_code=self.code,
                retry_after_seconds=waits,
                detail=detail,
            )
        rows = [{"index": n, "embedding": [len(text), 1]} for n, text in enumerate(texts)]
        return Response(request.url, FetchStatus.FETCHED, body=json.dumps({"data": rows}).encode())

    def embedder(self) -> EndpointEmbedder:
        return EndpointEmbedder(self.fetch, "http://127.0.0.1:9/v1", "m")


def work_for(store: Store, server: Server, seconds: float) -> None:
    """Run the job for so long by the clock of the story."""
    now = [START]
    with closing(PageEmbedder(server.embedder(), lambda: now[0])) as pages:
        keeper = VectorKeeper(store, pages)
        while now[0] < START + seconds:
            if any(not answer.done() for *_, answer in keeper._started):
                time.sleep(0.001)  # the embedder's thread is at work
                continue
            now[0] = keeper.step(now[0])


@pytest.mark.parametrize("code", [400, 413, 422, 500])
def test_one_refused_text_keeps_no_other_from_its_vector(store: Store, code: int) -> None:
    """It counts as tried: it is not offered again, not even after a restart."""
    announce(store, *(f"bridge {n}" for n in range(60)), "poison", *(f"tax {n}" for n in range(5)))
    server = Server(code, "poison")
    work_for(store, server, 3 * IDLE_SECONDS)
    assert store.vectors.counts() == VectorCounts(66, 66, 0)
    assert len(server.requests) < 30
    again = Server(code, "poison")
    work_for(store, again, 3 * IDLE_SECONDS)
    assert again.requests == []


@pytest.mark.parametrize("code", [400, 500, 503, 404])
def test_a_server_that_fails_for_everything_is_asked_seldom(store: Store, code: int) -> None:
    announce(store, *(f"bridge {n}" for n in range(60)))
    server = Server(code, "")
    work_for(store, server, 4 * HOUR)
    assert store.vectors.counts().embedded == 0
    # A minute, doubling to an hour: ten pauses, with at most two requests after each.
    assert len(server.requests) <= 20


def test_a_refused_text_pauses_nothing_and_is_no_problem() -> None:
    server = Server(HTTPStatus.BAD_REQUEST, "poison")
    with closing(PageEmbedder(server.embedder(), lambda: START)) as pages:
        poison, bridge = (PageText("", title=title) for title in ("poison", "bridge"))
        found = pages.with_meanings([poison, bridge])
        assert [one.meaning is not None for one in found] == [False, True]
        assert pages.with_meaning(PageText("", title="boat")).meaning is not None
        assert (pages.problem, pages.has_none(poison)) == ("", True)
        asked = len(server.requests)
        pages.with_meaning(poison)
        assert len(server.requests) == asked


def test_a_text_on_which_a_model_here_breaks_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no text's fault is a failure of the model."""

    def load() -> Callable[[list[str]], object]:
        def encode(texts: list[str]) -> list[list[float]]:
            if any("memory" in text for text in texts):
                raise MemoryError
            return [[float("nan") if "poison" in text else len(text), 1] for text in texts]

        return encode

    monkeypatch.setitem(local._LOADERS, "use", load)
    monkeypatch.setattr(packages, "find_spec", lambda _: object())
    monkeypatch.setattr(local, "version", lambda _: "1")
    pages = [PageText("", title=title) for title in ("bridge", "poison", "boat")]
    found = meanings_of(pages, LocalEmbedder("use"))
    assert [one is not None for one in found] == [True, False, True]
    with pytest.raises(EmbeddingError, match="MemoryError"):
        meanings_of([PageText("", title="memory")], LocalEmbedder("use"))


def test_a_server_that_refuses_text_after_text_is_a_problem() -> None:
    """Whatever the reason, nobody should wonder why topics use keywords only."""
    server, now = Server(HTTPStatus.UNPROCESSABLE_ENTITY, "title"), [START]
    with closing(PageEmbedder(server.embedder(), lambda: now[0])) as pages:
        pages.with_meanings([PageText("", title=f"title {number}") for number in range(12)])
        assert "12 texts were refused: embeddings.url" in pages.problem
        assert pages.failing_since == START
        now[0] += FIRST_PAUSE_SECONDS
        assert pages.with_meaning(PageText("", title="boat")).meaning is not None
        assert not pages.problem


@pytest.mark.parametrize(
    ("asked", "pause"), [(7_200, 7_200), (1, FIRST_PAUSE_SECONDS), (10_000_000, 86_400)]
)
def test_an_endpoint_that_names_a_pause_is_left_alone_for_as_long(asked: int, pause: int) -> None:
    """A day at most."""
    server, now = Server(HTTPStatus.TOO_MANY_REQUESTS, "", retry_after=asked), [START]
    with closing(PageEmbedder(server.embedder(), lambda: now[0])) as pages:
        pages.with_meaning(PageText("", title="one"))
        assert f"asks for a pause of {asked:,} seconds" in pages.problem
        now[0] = START + pause - 1
        pages.with_meaning(PageText("", title="two"))
        assert len(server.requests) == 1
        now[0] = START + pause
        pages.with_meaning(PageText("", title="three"))
        assert len(server.requests) == 2

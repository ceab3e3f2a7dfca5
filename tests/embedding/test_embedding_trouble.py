"""A model that fails is named where people look, until it works again."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cli_runner import Run
from lab.daemon_process import command, free_port, wait_until
from web_served import Served

from classifier.embedding.embedder import Embedder, EmbeddingError, Vectors
from classifier.embedding.packages import installed
from classifier.words.values import PageText
from incremental.daemon.health import Health, ProblemKind
from incremental.fetch.status import FetchStatus, Request, Response
from incremental.interfaces.web.metrics import MetricsPage
from incremental.settings.embeddings import EmbeddingSettings
from incremental.topics.embedding.page_embedder import FIRST_PAUSE_SECONDS, PageEmbedder
from incremental.topics.embedding.trying import trouble_of

# A loaded machine takes a while to start a process.
PATIENCE_SECONDS = 120


class Failing(Embedder):
    """Fails until it is mended."""

    name = "failing 1"
    quick = True
    mended = False

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not self.mended:
            raise EmbeddingError("embeddings.url", "http://a.example/v1", "HTTP 429 <b>")
        return np.ones((len(texts), 4), np.float32)


def test_page_api_metrics_and_health_name_it_until_it_works_again(served: Served) -> None:
    model, clock, health = Failing(), served.clock, Health(served.clock)
    shown = Served(replace(served.web, health=health), served.store, clock)
    with closing(PageEmbedder(model, clock.now)) as pages:
        health.embeds_by(pages.trouble)
        assert health.report().problems == ()
        since = clock.now()
        pages.with_meaning(PageText("", title="one"))
        (found,) = health.report().problems
        assert (found.kind, found.since) == (ProblemKind.EMBEDDINGS, since)
        assert health.report().well
        for language, says, why in (
            ("en", "The embedding model fails", "Embedding model unavailable ("),
            ("zh", "语义模型出错", "语义模型不可用（"),
        ):
            page = shown.client(accept_language=language).get("/status").text
            assert says in page
            assert f"{why}embeddings.url &#39;http://a.example/v1&#39;: HTTP 429 &lt;b&gt;" in page
        client = shown.client()
        (told,) = client.get("/api/v1/status").json()["daemon"]["problems"]
        assert (told["kind"], "HTTP 429" in told["detail"]) == ("embeddings", True)
        assert (
            'hubwatch_problems{kind="embeddings"} 1.0' in MetricsPage(shown.web).render().decode()
        )
        # Crawling goes on, so nothing restarts the daemon.
        assert client.get("/healthz").text == "ok\n"
        model.mended = True
        clock.advance_to(since + FIRST_PAUSE_SECONDS)
        pages.with_meaning(PageText("", title="two"))
        assert health.report().problems == ()


def configure(folder: Path, embeddings: str, port: int, query: str = "") -> None:
    text = '[fetch]\ncontact = "me@example.org"\nallowed_networks = ["127.0.0.0/8"]\n'
    address = f'url = "http://127.0.0.1:{port}/v1{query}"\n'
    whole = f"{text}[web]\nenabled = false\n[embeddings]\n{embeddings}\n{address}"
    (folder / "hubwatch.toml").write_text(whole, encoding="utf-8")


def test_status_names_an_endpoint_that_the_daemon_cannot_reach(
    hubwatch: Run, found: list[str], tmp_path: Path
) -> None:
    assert found
    configure(tmp_path, 'provider = "endpoint"\nmodel = "m"', free_port())
    daemon = command(tmp_path, "run")
    try:
        told = wait_until(
            lambda: "topics use keywords only" in hubwatch("status").err,
            PATIENCE_SECONDS,
            every=0.5,
        )
    finally:
        daemon.terminate()
        daemon.wait()
    assert told, (tmp_path / "run.err").read_text()


def embeddings_of(hubwatch: Run, *options: str) -> tuple[str, str]:
    """Return verdict and words of doctor's first line about the model."""
    checks = hubwatch("doctor", "--json", *options).json["checks"]
    one = next(one for one in checks if one["check"] == "embeddings")
    return one["verdict"], one["says"]


def test_doctor_tries_an_endpoint(hubwatch: Run, tmp_path: Path) -> None:
    configure(tmp_path, 'provider = "endpoint"\nmodel = "/models/m"', free_port())
    verdict, says = embeddings_of(hubwatch)
    assert verdict == "problem"
    assert "endpoint embeds nothing: embeddings.url 'http://127.0.0.1:" in says
    assert embeddings_of(hubwatch, "--offline") == ("ok", "endpoint, not tried")


def test_the_query_of_an_address_is_not_shown(hubwatch: Run, tmp_path: Path) -> None:
    configure(tmp_path, 'provider = "endpoint"\nmodel = "m"', 9, "?api-version=1&key=secret")
    shown = hubwatch("settings", "embeddings")
    assert "http://127.0.0.1:9/v1?..." in shown.out
    for command_line in (("settings", "--json"), ("doctor",), ("status",)):
        done = hubwatch(*command_line)
        assert "secret" not in done.out + done.err


@pytest.mark.skipif(installed("auto") is None, reason="the extra embeddings is missing")
def test_doctor_tries_the_shipped_model(hubwatch: Run) -> None:
    assert embeddings_of(hubwatch, "--offline") == ("ok", installed("auto"))


def test_an_endpoint_that_never_answers_is_given_up() -> None:
    answers = threading.Event()

    def fetch(request: Request) -> Response:
        answers.wait(10)
        body = json.dumps({"data": [{"index": 0, "embedding": [1, 2]}]}).encode()
        return Response(request.url, FetchStatus.FETCHED, body=body)

    settings = EmbeddingSettings("endpoint", "m", "http://127.0.0.1:9/v1")
    assert "within 0.01 seconds" in trouble_of(settings, fetch, patience_seconds=0.01)
    answers.set()
    assert not trouble_of(settings, fetch)

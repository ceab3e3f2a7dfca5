"""A model that fails is named where people look, until it works again."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from cli_runner import Run
from web_served import Served

from classifier.embedding import local, packages
from classifier.embedding.embedder import Embedder, EmbeddingError, Vectors
from classifier.embedding.packages import installed
from classifier.words.values import PageText
from incremental.base.findings import Verdict
from incremental.daemon.health import Health, ProblemKind
from incremental.interfaces.web.metrics import MetricsPage
from incremental.settings.sections import EmbeddingSettings
from incremental.topics.embedding.choice import embeddings_finding
from incremental.topics.embedding.page_embedder import FIRST_PAUSE_SECONDS, PageEmbedder


class Failing(Embedder):
    """Fails until it is mended."""

    name = "failing 1"
    quick = True
    mended = False

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not self.mended:
            raise EmbeddingError("embeddings", "failing 1", "is cut <b>")
        return np.ones((len(texts), 4), np.float32)


def test_page_api_metrics_and_health_name_it_until_it_works_again(served: Served) -> None:
    model, clock, health = Failing(), served.clock, Health(served.clock)
    shown = Served(replace(served.web, health=health), served.store, clock)
    with closing(PageEmbedder(model, clock.now)) as pages:
        health.embeddings = pages.trouble
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
            assert f"{why}embeddings &#39;failing 1&#39;: is cut &lt;b&gt;" in page
        client = shown.client()
        (told,) = client.get("/api/v1/status").json()["daemon"]["problems"]
        assert (told["kind"], "is cut" in told["detail"]) == ("embeddings", True)
        assert (
            'hubwatch_problems{kind="embeddings"} 1.0' in MetricsPage(shown.web).render().decode()
        )
        # Crawling goes on, so nothing restarts the daemon.
        assert client.get("/healthz").text == "ok\n"
        model.mended = True
        clock.advance_to(since + FIRST_PAUSE_SECONDS)
        pages.with_meaning(PageText("", title="two"))
        assert health.report().problems == ()


def embeddings_of(hubwatch: Run) -> tuple[str, str]:
    """Return verdict and words of doctor's first line about the model."""
    checks = hubwatch("doctor", "--json").json["checks"]
    one = next(one for one in checks if one["check"] == "embeddings")
    return one["verdict"], one["says"]


@pytest.mark.skipif(installed("auto") is None, reason="the extra embeddings is missing")
def test_doctor_tries_the_shipped_model(hubwatch: Run) -> None:
    assert embeddings_of(hubwatch) == ("ok", installed("auto"))


def test_doctor_says_what_a_broken_model_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: str) -> Callable[[list[str]], object]:
        raise OSError("weights.npz is cut")

    monkeypatch.setattr(local, "_loaded", broken)
    monkeypatch.setattr(packages, "find_spec", lambda _: object())
    monkeypatch.setattr(local, "version", lambda _: "1")
    found = embeddings_finding(EmbeddingSettings("use"))
    assert found.verdict == Verdict.PROBLEM
    assert "use embeds nothing: embeddings 'use 1'" in found.says
    assert "topics use keywords only" in found.way_out

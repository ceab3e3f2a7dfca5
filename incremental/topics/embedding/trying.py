"""Does the model embed a text? For ``hubwatch doctor``, which is the one to load it for that."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYetError
from functools import partial

from classifier.embedding.embedder import Embedder, EmbeddingError, as_units
from incremental.base.attempts import Bug, attempt
from incremental.base.threads import start_thread
from incremental.fetch.status import Request, Response
from incremental.settings.embeddings import EmbeddingSettings
from incremental.topics.embedding.choice import embedder_of
from incremental.topics.embedding.sifting import HARMLESS

PATIENCE_SECONDS = 30.0


def trouble_of(
    settings: EmbeddingSettings,
    fetch: Callable[[Request], Response],
    *,
    patience_seconds: float = PATIENCE_SECONDS,
) -> str:
    """Return why the model of *settings* embeds nothing; empty = it works, or there is none.

    A model that takes longer than *patience_seconds* goes on in a thread that ends with the process.
    """
    embedder = embedder_of(settings, fetch)
    if embedder is None:
        return ""
    answer: Future[str] = Future()
    start_thread(lambda: answer.set_result(_tried(embedder)))
    try:
        return answer.result(timeout=patience_seconds)
    except NotYetError:
        return f"no text was embedded within {patience_seconds:g} seconds"


def _tried(embedder: Embedder) -> str:
    found = attempt(partial(_embed_one, embedder))
    return found.error if isinstance(found, Bug) else found


def _embed_one(embedder: Embedder) -> str:
    try:
        as_units(embedder.embed([HARMLESS]), 1, embedder.name)
    except EmbeddingError as error:
        return str(error)
    return ""

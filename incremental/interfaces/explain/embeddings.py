"""Which model embeds texts, how many announced pages have a vector, and what is missing. Loads no model."""

from __future__ import annotations

from dataclasses import dataclass

from incremental.settings.embeddings import EmbeddingSettings
from incremental.topics.embedding.choice import standing
from store import Store


@dataclass(frozen=True, slots=True)
class EmbeddingFacts:
    """The state of the vectors of announced pages."""

    provider: str
    """In use by the settings; empty = none."""
    space: str | None
    """The model, with its version, that the vectors are of; None = nothing was embedded yet."""
    announced: int
    embedded: int
    waiting: int
    missing: str
    """What to do to have a model; empty = there is one, or none is wanted."""

    @property
    def model(self) -> str:
        """The model for display: without how its vectors are made and kept."""
        return (self.space or "").removesuffix(", 7 bits").partition(", lead ")[0]


def embedding_facts(store: Store, settings: EmbeddingSettings) -> EmbeddingFacts:
    """Return the state of the vectors in *store*."""
    found, space, counts = standing(settings), store.vectors.present(), store.vectors.counts()
    missing = f"{found.problem}; {found.way_out}" if found.problem else ""
    return EmbeddingFacts(
        provider=found.provider,
        space=space.name if space is not None else None,
        announced=counts.announced,
        embedded=counts.embedded,
        waiting=counts.waiting,
        missing=missing,
    )


def embeddings_in_words(facts: EmbeddingFacts) -> str:
    """Say it in one line."""
    parts = [facts.missing or facts.provider or 'none wanted ([embeddings] provider = "none")']
    if facts.space is not None:
        made = f"{facts.embedded:,} of {facts.announced:,} announced pages have a vector"
        parts.append(f"{made} by {facts.model}")
    if facts.waiting:
        goes_on = "hubwatch run embeds them" if facts.provider else "no model embeds them"
        parts.append(f"{facts.waiting:,} wait, {goes_on}")
    return "; ".join(parts)

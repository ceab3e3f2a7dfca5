"""Topics as the store keeps them: plain values; JSON columns as text."""

from dataclasses import dataclass

from store.enums import ExampleOrigin, TopicState, TopicVerdict


@dataclass(frozen=True, slots=True)
class TopicRow:
    """A topic without its model, which may be large."""

    id: int
    name: str
    keywords: str
    description: str
    method: str
    state: TopicState
    why: str
    version: str
    warnings: str
    created_at: float
    changed_at: float
    learned_at: float | None
    include: str = "[]"
    exclude: str = "[]"


@dataclass(frozen=True, slots=True)
class NewExample:
    """A training example. *text* None = to be fetched from *due_at* on."""

    url: str
    canonical_key: str
    origin: ExampleOrigin
    title: str = ""
    text: str | None = None
    due_at: float | None = None


@dataclass(frozen=True, slots=True)
class ExampleRow:
    """A stored training example."""

    id: int
    topic_id: int
    url: str
    canonical_key: str
    origin: ExampleOrigin
    title: str
    text: str | None
    status: str | None
    failures: int
    added_at: float
    tried_at: float | None
    due_at: float | None


@dataclass(frozen=True, slots=True)
class PageScore:
    """A topic's score of a page."""

    page_id: int
    topic_id: int
    score: float
    verdict: TopicVerdict
    fetched: bool
    """False = guessed from the link to it."""
    method: str
    version: str
    terms: str
    at: float


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A page whose body is in the cache."""

    page_id: int
    site_id: int
    url: str
    canonical_key: str
    body_md5: str

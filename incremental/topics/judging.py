"""Decisions of topics on pages, on plain values. Pure.

::

    examples, key words  -> readiness        may it judge, and what is it waiting for?
    text of a page       -> to_text          <-> JSON in the store
    examples, vectors    -> vector_warnings  what keeps it from judging by meaning
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from classifier.words.values import LinkContext, Note, PageText, Relevance
from incremental.base.texts import Text, named, read_text, stored
from incremental.base.times import DAY, HOUR
from store.database.texts import to_json
from store.enums import ExampleOrigin
from store.topics.values import ExampleRow, TopicRow
from store.values import TopicScore


def note_text(note: Note) -> Text:
    """Return a note of the classifier in words."""
    return Text(f"lacks.{note.kind}", **note.values)


def stored_warnings(warnings: Sequence[str]) -> str:
    """Return warnings as JSON for a topic's row."""
    return to_json(list(map(stored, warnings)))


def warnings_of(row: TopicRow) -> list[str]:
    """Return the warnings of a topic's last training."""
    return list(map(read_text, json.loads(row.warnings)))


# Methods of guesses: as made with the hub's visit, and as refined later. The terms of a refined one are the
# URL of the example that the link is like, with the cosine.
BY_WORDS = "links"
BY_MEANING = "links_meaning"
# A link counts as relevant from this score on, as a page does.
LIKELY = 0.5
_MAX_TITLE, _MAX_META, _MAX_BODY = 500, 2_000, 50_000
_MAX_HEADINGS, _MAX_ANCHORS, _MAX_LINE = 60, 600, 300
_MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether a topic may judge."""

    ready: bool
    why: str
    """What it waits for or does without, for people; empty = nothing is missing."""


def readiness(
    examples: Sequence[ExampleRow], keywords: Sequence[str], description: str = ""
) -> Readiness:
    """Return whether a topic can judge, and which examples are missing."""
    given = [one for one in examples if one.origin == ExampleOrigin.EXAMPLE]
    missing = [one for one in given if not says_something(one)]
    # One usable example, key word or sentence is enough; the others are learned as they come.
    usable = bool(keywords or description) or any(
        says_something(one) for one in examples if one.origin != ExampleOrigin.IRRELEVANT
    )
    if not missing:
        return Readiness(usable, "" if usable else Text("lacks.nothing_given"))
    parts = tuple(_trouble(one) for one in missing[:_MOST_NAMED])
    said = {"missing": len(missing), "given": len(given), "parts": parts}
    return Readiness(usable, Text("lacks.examples_missing", **said))


def says_something(example: ExampleRow) -> bool:
    """Whether an example was fetched and holds any text."""
    return example.text is not None and not is_empty(from_text(example.text))


def _trouble(example: ExampleRow) -> str:
    if example.text is not None:
        return Text("lacks.no_text", url=example.url)
    status = named("fetch", example.status or "waiting")
    again = example.status is not None and example.due_at is not None
    return Text("lacks.retried" if again else "lacks.failed", url=example.url, status=status)


def vector_warnings(missing: int, given: int, space: str) -> list[str]:
    """Say that *missing* of the *given* texts of a topic have no vector of *space*; at most one sentence."""
    if not missing:
        return []
    if missing == given:
        return [Text("lacks.no_vector", space=space)]
    return [Text("lacks.few_vectors", space=space, missing=missing, given=given)]


def other_warnings(warnings: Iterable[str]) -> list[str]:
    """Return a topic's stored warnings without those of :func:`vector_warnings`."""
    vectors = ("lacks.no_vector", "lacks.few_vectors")
    return [one for one in warnings if not (isinstance(one, Text) and one.key in vectors)]


def retry_at(failures: int, now: float) -> float:
    """Return when a failed example is retried: after an hour, doubling up to a week."""
    return now + min(7 * DAY, HOUR * 2.0 ** min(failures - 1, 10))


def is_empty(page: PageText) -> bool:
    """Whether a page holds no word at all."""
    texts = (page.title, page.meta, page.body, *page.headings, *page.anchors)
    return not any(any(map(str.isalnum, text)) for text in texts)


def to_text(page: PageText) -> str:
    """Return a page's text as bounded JSON for the store."""
    kept = PageText(
        url=page.url,
        title=page.title[:_MAX_TITLE],
        headings=tuple(line[:_MAX_LINE] for line in page.headings[:_MAX_HEADINGS]),
        meta=page.meta[:_MAX_META],
        body=page.body[:_MAX_BODY],
        anchors=tuple(line[:_MAX_LINE] for line in page.anchors[:_MAX_ANCHORS]),
        language=page.language,
    )
    return to_json(asdict(kept))


def from_text(text: str) -> PageText:
    """Inverse of :func:`to_text`."""
    fields = json.loads(text)
    lists = {name: tuple(fields[name]) for name in ("headings", "anchors")}
    return PageText(**{**fields, **lists})


def to_context(link: LinkContext) -> str:
    """Return a link as JSON for the store, to train on once its page is verified."""
    return to_json(asdict(link))


def from_context(text: str | None) -> LinkContext | None:
    """Inverse of :func:`to_context`."""
    return LinkContext(**json.loads(text)) if text else None


def score_of(key: str, topic_id: int, relevance: Relevance) -> TopicScore:
    """Return a judgement of a fetched page as the store keeps it."""
    return TopicScore(
        canonical_key=key,
        topic_id=topic_id,
        score=round(relevance.score, 4),
        verdict=relevance.verdict.value,
        fetched=True,
        method=relevance.method,
        version=relevance.version,
        terms=relevance.terms,
    )

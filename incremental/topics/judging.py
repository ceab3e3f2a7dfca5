"""Decisions of topics on pages and links, on plain values. Pure.

::

    examples, key words  -> readiness               may it judge, and what is it waiting for?
    links of a page      -> external_candidates_of  those to no watched site that are worth a fetch
    text of a page       -> to_text                 <-> JSON in the store
    examples, vectors    -> vector_warnings         what keeps it from judging by meaning
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from classifier.words.values import LinkContext, PageText, Relevance
from incremental.base.scope import trap
from incremental.base.texts import Text, named
from incremental.base.times import DAY, HOUR
from incremental.base.urls import canonical_key, host_of, registered_domain
from store.topics.values import ExampleRow
from store.values import NewExternalCandidate, TopicScore

if TYPE_CHECKING:
    from classifier.words.evidence import Lacking

# Origins of examples: given with the topic, or a user's verdict on a page that was found.
EXAMPLE = "example"
RELEVANT = "relevant"
IRRELEVANT = "irrelevant"
# Methods of guesses: as made with the hub's visit, and as refined later. The terms of a refined one are the
# URL of the example that the link is like, with the cosine.
BY_WORDS = "links"
BY_MEANING = "links_meaning"
# A link counts as relevant from this score on, as a page does.
LIKELY = 0.5
MAX_EXTERNAL_CANDIDATES_PER_PAGE = 5
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
    given = [one for one in examples if one.origin == EXAMPLE]
    missing = [one for one in given if not says_something(one)]
    # One usable example, key word or sentence is enough; the others are learned as they come.
    usable = bool(keywords or description) or any(
        says_something(one) for one in examples if one.origin != IRRELEVANT
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


def vector_warnings(lacking: Lacking, space: str) -> list[str]:
    """Say what vectors of *space* a topic lacks; at most one sentence."""
    if not lacking.missing:
        return []
    if lacking.missing == lacking.given:
        return [Text("lacks.no_vector", space=space)]
    return [Text("lacks.few_vectors", space=space, missing=lacking.missing, given=lacking.given)]


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
    return json.dumps(asdict(kept), ensure_ascii=False, separators=(",", ":"))


def from_text(text: str) -> PageText:
    """Inverse of :func:`to_text`."""
    fields = json.loads(text)
    lists = {name: tuple(fields[name]) for name in ("headings", "anchors")}
    return PageText(**{**fields, **lists})


def to_context(link: LinkContext) -> str:
    """Return a link as JSON for the store, to train on once its page is verified."""
    return json.dumps(asdict(link), ensure_ascii=False, separators=(",", ":"))


def from_context(text: str | None) -> LinkContext | None:
    """Inverse of :func:`to_context`."""
    return LinkContext(**json.loads(text)) if text else None


def external_candidates_of(
    links: Mapping[int, Sequence[tuple[LinkContext, float]]],
    *,
    found_on: str,
    follows: Callable[[str], bool],
) -> tuple[NewExternalCandidate, ...]:
    """Return the best few links out of a page's site, per topic, one per domain.

    *follows*: whether the rules of the page's site allow a URL. Traps (calendars, sessions, share
    buttons) are left out.
    """
    found: list[NewExternalCandidate] = []
    for topic_id, scored in links.items():
        by_domain: dict[str, NewExternalCandidate] = {}
        for link, score in sorted(scored, key=lambda one: -one[1]):
            domain = registered_domain(host_of(link.url))
            if not domain or domain in by_domain:
                continue
            if trap(link.url) is None and follows(link.url):
                by_domain[domain] = NewExternalCandidate(
                    topic_id, link.url, canonical_key(link.url), domain, round(score, 4), found_on
                )
        found += list(by_domain.values())[:MAX_EXTERNAL_CANDIDATES_PER_PAGE]
    return tuple(found)


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

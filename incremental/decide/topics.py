"""What topics make of pages and links, as far as it is a decision on plain values. Pure.

::

    examples, key words      -> readiness     may it judge, and what is it waiting for?
    a page's links           -> external_candidates_of  those out of all watched sites that are worth a fetch
    links of a hub page      -> Guesses       what is expected of them, for the order of verification fetches
    a page's text            -> to_text       <-> JSON of the store
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from classifier.topic.values import LinkContext, PageText
from incremental.scope import trap
from incremental.times import DAY, HOUR
from incremental.urls import canonical_key, host_of, registered_domain
from store.topic_values import ExampleRow
from store.values import NewExternalCandidate, SeenLink, TopicScore

EXAMPLE = "example"
RELEVANT = "relevant"
# Origins of examples: given with the topic, or said of a page that was found.
IRRELEVANT = "irrelevant"
# Score of a link from which on it counts as relevant: where *relevant* begins for pages.
LIKELY = 0.5
# What the most promising link counts for its hub, in usual links.
MAX_WORTH = 3.0
MAX_EXTERNAL_CANDIDATES_PER_PAGE = 5
_MAX_TITLE, _MAX_META, _MAX_BODY = 500, 2_000, 50_000
_MAX_HEADINGS, _MAX_ANCHORS, _MAX_LINE = 60, 600, 300
_MAX_WHY = 600


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether a topic may judge."""

    ready: bool
    why: str
    """What it waits for, or what it does without; for people. Empty = it has all it was given."""


@dataclass(frozen=True, slots=True)
class Guesses:
    """What topics expect of links whose pages were not fetched. Before a fetch a score only orders."""

    scores: Mapping[str, tuple[TopicScore, ...]] = field(default_factory=dict)
    """By canonical key, one of each topic."""
    contexts: Mapping[str, str] = field(default_factory=dict)
    """By canonical key, as :func:`to_context` writes them."""
    usual: float = 1.0
    """What is expected of a link that nothing speaks for or against."""

    def expected(self, canonical_key: str) -> float | None:
        """Return the best score that any topic gives a link; None = nobody guessed."""
        return max((score.score for score in self.scores.get(canonical_key, ())), default=None)

    def expected_among(self, links: Iterable[SeenLink]) -> float:
        """Return how many usual links *links* are worth, by what is expected of them.

        Not how many are on topic: hubs that were never judged count as usual, and must not seem better
        than those that bring one such page in five.
        """
        parts = ((self.expected(link.canonical_key) or 0.0) / self.usual for link in links)
        return sum((min(part, MAX_WORTH) for part in parts), 0.0)

    def of_waiting(self, links: Iterable[SeenLink]) -> tuple[TopicScore, ...]:
        """Return the guesses of those of *links* that are news, or may be: that wait for a look."""
        waiting = (link for link in links if link.verify_due_at is not None)
        return tuple(score for link in waiting for score in self.scores.get(link.canonical_key, ()))


def readiness(examples: Sequence[ExampleRow], keywords: Sequence[str]) -> Readiness:
    """Return whether there is anything to learn from, and which examples are missing.

    One usable example, or a key word, is enough: the others are learned as they come.
    """
    given = [one for one in examples if one.origin == EXAMPLE]
    missing = [one for one in given if not says_something(one)]
    usable = bool(keywords) or any(
        says_something(one) for one in examples if one.origin != IRRELEVANT
    )
    if not missing:
        return Readiness(usable, "" if usable else "no example and no key word was given")
    parts = "; ".join(f"{one.url}: {_trouble(one)}" for one in missing)[:_MAX_WHY]
    count = f"{len(missing)} of {len(given)} examples"
    verb = "is" if len(missing) == 1 else "are"
    note = f"{count} {verb} missing ({parts})"
    return Readiness(usable, note if usable else f"waits: {note}")


def says_something(example: ExampleRow) -> bool:
    """Return whether a page was fetched and holds any text: an empty page teaches nothing."""
    return example.text is not None and not is_empty(from_text(example.text))


def _trouble(example: ExampleRow) -> str:
    if example.text is not None:
        return "holds no text"
    if example.status is None:
        return "not fetched yet"
    return example.status.replace("_", " ") + (
        "" if example.due_at is None else ", tried again later"
    )


def retry_at(failures: int, now: float) -> float:
    """Return when an example that failed so often in a row is tried again.

    After an hour at first, then ever later, once a week at last.
    """
    return now + min(7 * DAY, HOUR * 2.0 ** min(failures - 1, 10))


def is_empty(page: PageText) -> bool:
    """Return whether a page holds no word at all."""
    texts = (page.title, page.meta, page.body, *page.headings, *page.anchors)
    return not any(any(map(str.isalnum, text)) for text in texts)


def to_text(page: PageText) -> str:
    """Return a page's text as JSON for the store, within bounds."""
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
    """Return the page that :func:`to_text` wrote."""
    fields = json.loads(text)
    lists = {name: tuple(fields[name]) for name in ("headings", "anchors")}
    return PageText(**{**fields, **lists})


def to_context(link: LinkContext) -> str:
    """Return a link as JSON for the store: what its page's look will teach."""
    return json.dumps(asdict(link), ensure_ascii=False, separators=(",", ":"))


def from_context(text: str | None) -> LinkContext | None:
    """Return the link that :func:`to_context` wrote; None for none."""
    return LinkContext(**json.loads(text)) if text else None


def external_candidates_of(
    links: Mapping[int, Sequence[tuple[LinkContext, float]]],
    *,
    found_on: str,
    follows: Callable[[str], bool],
) -> tuple[NewExternalCandidate, ...]:
    """Return the best few links out of a page's site, by topic id, one a domain.

    *follows* tells whether the rules of the page's site let us follow an address; a link that only
    wastes requests (a calendar, a session, a share button's endless query) is left out as well.
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

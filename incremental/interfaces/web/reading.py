"""Rows, events and feedback buttons of the reading list."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from markupsafe import Markup, escape

from incremental.base.plain_text import clean
from incremental.base.urls import canonical_key
from incremental.interfaces.filters import Filters
from store import Store
from store.answers import AnnouncedPage, TopicMark
from store.crawl.backfills import BackfillEvent
from store.search.words import occurrences, read_query

_MOST_TERMS = 6
_MOST_EVENTS = 200
_MOST_TEXT = 100_000


@dataclass(frozen=True)
class Feedback:
    """The topics that a click on "relevant" can train, and earlier answers for the pages of a list."""

    topics: Mapping[int, str]
    """Names by id."""
    chosen: int | None
    """The topic that the list is filtered by."""
    said: Mapping[tuple[int, str], str]
    trained: int | None = None
    """The topic that a button has just trained, which the row keeps."""

    def topic_of(self, row: AnnouncedPage) -> int | None:
        """Return the topic that a row's buttons train: the chosen, best scoring, or only one."""
        for topic in (self.trained, self.chosen):
            if topic in self.topics:
                return topic
        if row.topics:
            return max(row.topics, key=lambda mark: mark.score).topic_id
        return next(iter(self.topics)) if len(self.topics) == 1 else None

    def said_of(self, row: AnnouncedPage) -> str:
        """Return relevant, irrelevant or an empty string."""
        topic = self.topic_of(row)
        return "" if topic is None else self.said.get((topic, canonical_key(row.url)), "")


def feedback(
    store: Store, rows: Sequence[AnnouncedPage], chosen: int | None, trained: int | None = None
) -> Feedback:
    """Look up topics and earlier answers for a list's buttons; *trained* is the topic that they trained."""
    topics = {topic.id: topic.name for topic in store.topics.topics()}
    said = store.topics.said_of([canonical_key(row.url) for row in rows]) if topics else {}
    return Feedback(topics, chosen, said, trained)


def terms_of(mark: TopicMark, word: Callable[[str], str] = str) -> str:
    """Return the terms behind a topic's judgement, strongest first; *word* gives what is shown for each."""
    shown = terms(mark.terms)[:_MOST_TERMS] if mark.fetched else ()
    return ", ".join(f"{word(term)} {share:+.2f}" for term, share in shown)


def like_of(mark: TopicMark) -> str:
    """Return the URL of the example that a guessed link is like; empty = words alone, or judged."""
    return next((url for url, _ in terms(mark.terms)), "") if not mark.fetched else ""


def terms(stored: str) -> tuple[tuple[str, float], ...]:
    """Return stored terms with their shares."""
    return msgspec.json.decode(stored, type=tuple[tuple[str, float], ...])


def gained(
    store: Store,
    filters: Filters,
    now: float,
    *,
    above: int | None = None,
    below: int | None = None,
) -> list[BackfillEvent]:
    """Return the backfills between two cursors; None = no bound.

    Events have only a site, its tags and a time, so any other filter excludes them.
    """
    of_pages = (filters.q, filters.topic, filters.verdict, filters.language)
    if any(of_pages) or filters.show == "starred":
        return []
    query = filters.query(now, after=below, limit=_MOST_EVENTS)
    return store.backfills.events(query, above=above)


def merged(
    rows: Sequence[AnnouncedPage], events: Sequence[BackfillEvent]
) -> list[AnnouncedPage | BackfillEvent]:
    """Merge rows and events, newest first."""
    return sorted([*rows, *events], key=cursor_of, reverse=True)


def paragraphs(text: str, title: str) -> list[str]:
    """Return the paragraphs of a stored text, without control and bidi characters and the *title*."""
    lines = [line for one in text[:_MOST_TEXT].splitlines() if (line := clean(one))]
    # The text mostly begins with its heading, which a title may continue with the site's name.
    repeats = bool(lines) and clean(title).casefold().startswith(lines[0].casefold())
    return lines[repeats:]


def marker(search: str) -> Callable[[str], Markup]:
    """Return a function that escapes a text and marks in it the words of a search."""
    phrases = read_query(search)

    def marked(text: str) -> Markup:
        parts, at = [], 0
        for start, end in occurrences(text, phrases):
            parts += [escape(text[at:start]), Markup("<mark>{}</mark>").format(text[start:end])]
            at = end
        return Markup().join([*parts, escape(text[at:])])

    return marked


def cursor_of(one: AnnouncedPage | BackfillEvent) -> int:
    """Return the cursor that continues a list after a row or an event."""
    return one.id if isinstance(one, BackfillEvent) else one.cursor

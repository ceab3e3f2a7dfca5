"""Rows, events and feedback buttons of the reading list."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from markupsafe import Markup, escape

from incremental.base.plain_text import clean
from incremental.base.urls import canonical_key
from incremental.interfaces.filters import Filters
from incremental.interfaces.web.views import View
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
    store: Store, rows: Iterable[AnnouncedPage], chosen: int | None, trained: int | None
) -> Feedback:
    """Look up topics and earlier answers for a list's buttons."""
    topics = {topic.id: topic.name for topic in store.topics.topics()}
    if not topics:
        return Feedback({}, None, {})
    said = store.topics.said_of([canonical_key(row.url) for row in rows])
    return Feedback(topics, chosen, said, trained)


def terms_of(mark: TopicMark, word: Callable[[str], str] = str) -> str:
    """Return the terms behind a topic's judgement, strongest first; *word* gives what is shown for each."""
    shown = terms(mark.terms)[:_MOST_TERMS] if mark.fetched else ()
    return ", ".join(f"{word(term)} {share:+.2f}" for term, share in shown)


def like_of(mark: TopicMark) -> str:
    """Return the URL of the example that a guessed link is like; empty = words alone, or judged."""
    return next((url for url, _ in terms(mark.terms)), "") if not mark.fetched else ""


def terms(stored: str) -> tuple[tuple[str, float], ...]:
    """Return stored terms with their shares; none if they cannot be read."""
    try:
        return msgspec.json.decode(stored, type=tuple[tuple[str, float], ...])
    except (msgspec.ValidationError, msgspec.DecodeError):
        return ()


def following(
    cursor: int, rows: Sequence[AnnouncedPage], events: Sequence[BackfillEvent] = ()
) -> int:
    """Return the cursor after these rows and events."""
    return max([cursor, *(row.cursor for row in rows), *(event.id for event in events)])


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
    if filters.q or filters.topic or filters.verdict or filters.language:
        return []
    if filters.show == "starred":
        return []
    query = filters.query(now, after=below, limit=_MOST_EVENTS)
    return store.backfills.events(query, above=above)


def merged(
    rows: Sequence[AnnouncedPage], events: Sequence[BackfillEvent]
) -> list[AnnouncedPage | BackfillEvent]:
    """Merge rows and events, newest first."""
    return sorted([*rows, *events], key=_cursor, reverse=True)


Group = tuple[str, list[AnnouncedPage | BackfillEvent]]


def grouped(rows: Iterable[AnnouncedPage | BackfillEvent], name: str, view: View) -> list[Group]:
    """Return rows below the headings of their days or, if *name* is ``site``, of their sites.

    Headings come in the order of their first row.
    """
    groups: dict[str, list[AnnouncedPage | BackfillEvent]] = {}
    for row in rows:
        groups.setdefault(row.site if name == "site" else view.day(row.found_at), []).append(row)
    return list(groups.items())


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


def _cursor(one: AnnouncedPage | BackfillEvent) -> int:
    return one.id if isinstance(one, BackfillEvent) else one.cursor

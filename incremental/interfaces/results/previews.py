"""What a change of a topic would do to its list, asked by the web page and the API."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from incremental.base.clock import Clock
from incremental.interfaces.results.schema import Page, page_result
from incremental.settings import Settings
from incremental.topics.editing import draft, edited, with_examples
from incremental.topics.previewing import Preview, Version, previewed
from store import Store
from store.enums import ExampleOrigin
from store.topics.values import TopicRow


@dataclass(frozen=True, slots=True)
class TopicPreview:
    """What a topic would show of the latest announced pages; the newest come first."""

    read: int
    """How many of them, 200 at most, have a text, could be read in time and were judged."""
    shown: list[Page]
    """Those it would show: relevant or doubtful, with the words that narrow it."""
    added: list[Page]
    """Those of them that it does not show now."""
    removed: list[Page]
    """Those that it shows now and would not."""
    sentence: str
    """In English."""


def preview_result(found: Preview) -> TopicPreview:
    """Return a preview as a result."""
    shown, added, removed = (
        [page_result(row) for row in rows] for rows in (found.shown, found.added, found.removed)
    )
    return TopicPreview(found.read, shown, added, removed, found.said("would"))


def preview_of_edit(  # noqa: PLR0913 - what a change is made of
    store: Store,
    settings: Settings,
    clock: Clock,
    row: TopicRow,
    changes: Mapping[str, Any],
    *,
    urls: Sequence[str] = (),
    origin: ExampleOrigin = ExampleOrigin.EXAMPLE,
) -> Preview:
    """Try *changes* of a topic, as of ``edit_topic``, and further pages to learn from.

    Raises:
        InputError: a value is not usable.
    """
    examples = with_examples(store, row, urls, origin, now=clock.now())
    before = Version(row, store.topics.examples(row.id))
    return _tried(store, settings, clock, before, Version(edited(store, row, **changes), examples))


def preview_of_new(  # noqa: PLR0913 - what a topic is made of
    store: Store,
    settings: Settings,
    clock: Clock,
    *,
    keywords: Sequence[str],
    description: str,
    urls: Sequence[str],
) -> Preview:
    """Try a topic that is not there yet; raises InputError as ``begin`` does."""
    now = clock.now()
    row = draft(keywords, description, examples=urls, now=now)
    examples = with_examples(store, row, urls, ExampleOrigin.EXAMPLE, now=now)
    return _tried(store, settings, clock, None, Version(row, examples))


def preview_of_mark(
    store: Store, settings: Settings, clock: Clock, row: TopicRow, key: str
) -> Preview:
    """Return what the verdict on a page, given by its canonical key, did to a topic's list."""
    examples = store.topics.examples(row.id)
    before = Version(row, [one for one in examples if one.canonical_key != key])
    return _tried(store, settings, clock, before, Version(row, examples))


def _tried(
    store: Store, settings: Settings, clock: Clock, before: Version | None, after: Version
) -> Preview:
    from incremental.daemon.assembly import make_topic_models  # noqa: PLC0415 - it loads numbers

    with make_topic_models(store, settings, clock) as models:
        return previewed(store, models, clock, before, after)

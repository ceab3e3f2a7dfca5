"""Editing topics: create, add examples, give feedback, pause.

::

    topic add      ── begin ──────────┐  examples: cached text, or else the daemon
    relevant URL   ── give_feedback ──┤  fetches it, within seconds if it is running
    irrelevant URL ── give_feedback ──┴─ trained at once (incremental.topics.model_store)
"""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

from classifier.words.values import PageText, Verdict
from incremental.base.errors import InputError, NotFoundError
from incremental.base.lookup import find_topic, web_address
from incremental.base.tagging import checked_name, checked_tags, checked_words
from incremental.base.texts import Text
from incremental.base.urls import canonical_key
from incremental.topics.judging import readiness, to_text
from incremental.visit.page_texts import cached_text
from store import Store
from store.database.texts import to_json
from store.enums import ExampleOrigin, TopicState
from store.topics import YOU
from store.topics.values import ExampleRow, NewExample, TopicRow
from store.values import TopicScore

# Named as in the benchmarks; the first is the default.
METHODS = (
    "fused",
    "adaptive",
    "adaptive_guarded",
    "vsm",
    "semantic",
    "bayes_normal",
    "bayes_kernel",
)
MAX_EXAMPLES = 50
# Pages labelled relevant or irrelevant; the oldest are dropped.
MAX_CORRECTIONS = 300
MAX_KEYWORDS = 100
MAX_DESCRIPTION = 500


@dataclass(frozen=True, slots=True)
class GivenExample:
    """A page given as a training example."""

    url: str
    at_hand: bool
    """Its text was cached; False = it will be fetched."""


def begin(  # noqa: PLR0913 - what a topic is made of
    store: Store,
    name: str,
    *,
    examples: Sequence[str],
    keywords: Sequence[str],
    description: str = "",
    method: str = METHODS[0],
    now: float,
) -> tuple[TopicRow, list[GivenExample]]:
    """Add a topic, or add examples to the one of that name, which nothing else of it changes.

    *description* is a sentence that says what is wanted.

    Raises:
        InputError: an unusable name, URL, key word, description or method, or more than examples for a
            topic that exists (:func:`edit_topic` changes it). Nothing was stored.
    """
    name = checked_name("topic", name)
    words = checked_words(keywords, "keyword", MAX_KEYWORDS)
    _check_method(method)
    urls = _addresses(examples)
    before = store.topics.topic(name)
    sentence = _checked_description(description)
    if before is None and not (urls or words or sentence):
        raise InputError("topic", name, Text("input.topic_empty"))
    if before is None and not (urls or sentence):
        _check_any_word(words)
    if before is not None:
        if words or sentence or not urls:
            way_out = f"exists already; to change it: hubwatch topic edit {shlex.quote(name)}"
            raise InputError("topic", name, way_out)
        sentence, words, method = before.description, json.loads(before.keywords), before.method
    known = store.topics.examples(before.id) if before is not None else []
    given = {one.canonical_key for one in known if one.origin == ExampleOrigin.EXAMPLE} | set(
        map(canonical_key, urls)
    )
    if len(given) > MAX_EXAMPLES:
        raise InputError("examples", len(given), Text("input.at_most", n=MAX_EXAMPLES))
    topic_id = store.topics.add(name, words, method, now=now, description=sentence)
    trained = _put(store, topic_id, urls, ExampleOrigin.EXAMPLE, now)
    return find_topic(store, name), trained


class Wanted(TypedDict, total=False):
    """What a topic goes by, to be replaced; None = unchanged."""

    keywords: Sequence[str] | None
    description: str | None
    method: str | None
    include: Sequence[str] | None
    """Only pages with one of these words are listed and announced."""
    exclude: Sequence[str] | None
    """No page with any of these words is. Both take effect at once, on all pages."""


def edit_topic(
    store: Store,
    row: TopicRow,
    *,
    name: str | None = None,
    tags: Sequence[str] | None = None,
    now: float,
    **wanted: Unpack[Wanted],
) -> TopicRow:
    """Rename a topic, or replace its tags or what it goes by. None = unchanged.

    Raises:
        InputError: an unusable value, or a name that another topic has. Nothing was changed.
    """
    fields = _fields(store, row, wanted)
    grouped = None if tags is None else checked_tags(tags)
    new = None if name is None else checked_name("topic", name)
    if not store.editing.edit_topic(row.id, now=now, name=new, **fields):
        raise InputError("name", new, Text("input.topic_taken"))
    if grouped is not None:
        store.tags.set_topic_tags(row.id, grouped)
    return find_topic(store, new or row.name)


def edited(
    store: Store,
    row: TopicRow,
    *,
    name: str | None = None,
    tags: Sequence[str] | None = None,
    **wanted: Unpack[Wanted],
) -> TopicRow:
    """Return what :func:`edit_topic` would make of a topic, but for its tags; nothing is stored.

    Raises:
        InputError: an unusable value.
    """
    changes: dict[str, Any] = {**_fields(store, row, wanted)}
    if name is not None:
        changes["name"] = checked_name("topic", name)
    checked_tags(tags or ())
    return replace(row, **changes)


def draft(
    keywords: Sequence[str], description: str, *, examples: Sequence[str] = (), now: float
) -> TopicRow:
    """Return an unsaved topic; its id is 0.

    Raises:
        InputError: an unusable value, or nothing to learn from.
    """
    words = checked_words(keywords, "keyword", MAX_KEYWORDS)
    sentence = _checked_description(description)
    if not (words or sentence or examples):
        raise InputError("topic", "", Text("input.topic_empty"))
    return TopicRow(
        *(0, "", to_json(list(words)), sentence, METHODS[0], TopicState.WAITING, "", "", "[]"),
        *(now, now, None),
    )


def with_examples(
    store: Store, row: TopicRow, urls: Sequence[str], origin: ExampleOrigin, *, now: float
) -> list[ExampleRow]:
    """Return a topic's examples with pages that are not stored; they count if their text is cached.

    Raises:
        InputError: not a web address, or more pages than a topic learns from.
    """
    most = MAX_EXAMPLES if origin == ExampleOrigin.EXAMPLE else MAX_CORRECTIONS
    known = {one.canonical_key: one for one in store.topics.examples(row.id)}
    addresses = _addresses(urls)
    others = {key for key, one in known.items() if one.origin == origin == ExampleOrigin.EXAMPLE}
    added = set(map(canonical_key, addresses)) - others
    # An import may have brought more than that; other changes can be tried all the same.
    if added and (count := len(others | added)) > most:
        raise InputError("examples", count, Text("input.at_most", n=most))
    for url in addresses:
        new = _example(store, url, origin, known.get(canonical_key(url)), now)
        before = known.get(new.canonical_key)
        text = new.text if before is None or new.text is not None else before.text
        known[new.canonical_key] = ExampleRow(
            *(0, row.id, url, new.canonical_key, origin, new.title, text, None, 0, now, None, None)
        )
    return list(known.values())


def _fields(store: Store, row: TopicRow, wanted: Wanted) -> dict[str, Any]:
    """Return the checked fields of those that are given."""
    fields: dict[str, Any] = {}
    if (keywords := wanted.get("keywords")) is not None:
        fields["keywords"] = to_json(checked_words(keywords, "keyword", MAX_KEYWORDS))
    if (description := wanted.get("description")) is not None:
        fields["description"] = _checked_description(description)
    if not fields.get("description", row.description):
        _check_enough(store, row, json.loads(fields.get("keywords", row.keywords)))
    if (method := wanted.get("method")) is not None:
        _check_method(method)
        fields["method"] = method
    if (include := wanted.get("include")) is not None:
        fields["include"] = to_json(checked_words(include, "include"))
    if (exclude := wanted.get("exclude")) is not None:
        fields["exclude"] = to_json(checked_words(exclude, "exclude"))
    return fields


def forget_example(store: Store, row: TopicRow, example_id: int, *, now: float) -> TopicRow:
    """Remove a page from the topic's examples.

    Raises:
        NotFoundError: it has no such example.
        InputError: nothing would be left to learn from.
    """
    left = [one for one in store.topics.examples(row.id) if one.id != example_id]
    said = row.description or json.loads(row.keywords)
    if not said and all(one.origin == ExampleOrigin.IRRELEVANT for one in left):
        last = next((one.url for one in store.topics.examples(row.id) if one not in left), "")
        raise InputError("example", last, Text("input.last_example"))
    if not store.editing.forget_example(row.id, example_id, now=now):
        raise NotFoundError(Text("missing.example", name=row.name))
    return find_topic(store, row.name)


def _check_method(method: str) -> None:
    if method not in METHODS:
        raise InputError("method", method, Text("input.one_of", choices=", ".join(METHODS)))


def give_feedback(
    store: Store, name: str, urls: Sequence[str], *, relevant: bool, now: float
) -> tuple[TopicRow, list[GivenExample]]:
    """Label pages relevant or irrelevant to a topic; the latest label of a page counts.

    Raises:
        InputError: not a web address. Nothing was stored.
    """
    row = find_topic(store, name)
    origin = ExampleOrigin.RELEVANT if relevant else ExampleOrigin.IRRELEVANT
    addresses = _addresses(urls)
    trained = _put(store, row.id, addresses, origin, now)
    for url in addresses:
        _mark(store, row, url, relevant=relevant, now=now)
    return find_topic(store, name), trained


def _mark(store: Store, row: TopicRow, url: str, *, relevant: bool, now: float) -> None:
    """Set the page's score to the user's verdict."""
    # By the method ``you``, which no model overrides.
    verdict = Verdict.RELEVANT if relevant else Verdict.IRRELEVANT
    for page in store.read.find_page(url, canonical_key(url)):
        score = TopicScore(
            canonical_key=page["canonical_key"],
            topic_id=row.id,
            score=float(relevant),
            verdict=verdict.value,
            fetched=True,
            method=YOU,
            version=row.version,
        )
        store.topics.put_scores(page["site"], [score], now=now)


def set_paused(store: Store, name: str, *, paused: bool, now: float) -> TopicRow:
    """Pause or resume a topic's judging of pages."""
    row = find_topic(store, name)
    keywords: list[str] = json.loads(row.keywords)
    ready = readiness(store.topics.examples(row.id), keywords, row.description).ready
    live = TopicState.READY if ready else TopicState.WAITING
    state = TopicState.PAUSED if paused else live
    store.topics.update(row.id, state=state, changed_at=now)
    return find_topic(store, name)


def _put(
    store: Store, topic_id: int, urls: Sequence[str], origin: ExampleOrigin, now: float
) -> list[GivenExample]:
    known = {one.canonical_key: one for one in store.topics.examples(topic_id)}
    fresh = [_example(store, url, origin, known.get(canonical_key(url)), now) for url in urls]
    new = {one.canonical_key for one in fresh}
    said = [
        one
        for one in known.values()
        if one.origin != ExampleOrigin.EXAMPLE and one.canonical_key not in new
    ]
    if origin != ExampleOrigin.EXAMPLE:
        said.sort(key=lambda one: one.added_at)
        for one in said[: max(len(said) + len(fresh) - MAX_CORRECTIONS, 0)]:
            store.topics.forget_example(one.id)
    store.topics.put_examples(topic_id, fresh, now=now)
    return [GivenExample(one.url, one.text is not None or one.due_at is None) for one in fresh]


def _example(
    store: Store, url: str, origin: ExampleOrigin, known: ExampleRow | None, now: float
) -> NewExample:
    if known is not None and known.text is not None:
        return NewExample(url, canonical_key(url), origin)
    text = cached_text(store, url)
    if text is None:
        return NewExample(url, canonical_key(url), origin, due_at=now)
    return NewExample(url, canonical_key(url), origin, text.title, to_text(text))


def _checked_description(description: str) -> str:
    sentence = " ".join(description.split())
    if len(sentence) > MAX_DESCRIPTION:
        found = f"{sentence[:60]}..."
        raise InputError("describe", found, Text("input.at_most_characters", n=MAX_DESCRIPTION))
    from classifier.words.text import weighted_terms  # noqa: PLC0415 - quick without topics

    if sentence and not weighted_terms(PageText("", title=sentence)):
        way_out = Text("input.no_word")
        raise InputError("describe", sentence, way_out)
    return sentence


def _check_enough(store: Store, row: TopicRow, words: Sequence[str]) -> None:
    """Refuse to leave a topic nothing but key words that nothing can be learned from, or not even these."""
    if any(one.origin != ExampleOrigin.IRRELEVANT for one in store.topics.examples(row.id)):
        return
    if not words:
        raise InputError("keywords", "", Text("input.topic_needs"))
    _check_any_word(words)


def _check_any_word(words: Sequence[str]) -> None:
    """Refuse key words that all are single letters or stop words."""
    from classifier.words.keywords import Keywords  # noqa: PLC0415 - quick without topics

    if not Keywords(words):
        way_out = Text("input.all_common")
        raise InputError("keywords", ", ".join(words[:5]), way_out)


def _addresses(urls: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(map(web_address, urls)))

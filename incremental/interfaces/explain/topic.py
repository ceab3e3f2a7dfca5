"""Why a page is (not) relevant to a topic: stored verdicts, and what the topic learned."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from incremental.base.texts import Text, named
from incremental.base.urls import canonical_key
from incremental.interfaces.results.schema import by_name
from incremental.interfaces.results.topics import topic_result
from incremental.topics.judging import BY_MEANING, from_text, says_something
from incremental.topics.wording import Wording
from store import Store
from store.topics.values import ExampleRow, TopicRow

SHOWN_TERMS = 20
# Pages in which the words of a topic's terms are looked for; to cut one into words takes milliseconds.
MOST_READ = 50


def stored_verdicts(store: Store, url: str) -> list[dict[str, Any]]:
    """Return the verdicts and guesses of topics on a page, for JSON, best score first.

    ``terms`` are stems, ``words`` what the page writes for them. ``like_example`` is the example that a
    guessed link is most like in meaning.
    """
    names = {row.id: row.name for row in store.topics.topics()}
    if not names:
        return []
    ids = [page["id"] for page in store.read.find_page(url, canonical_key(url))]
    rows = sorted(store.topics.scores(ids), key=lambda row: -row.score)
    return [
        {
            "topic": names[row.topic_id],
            "score": row.score,
            "verdict": row.verdict if row.fetched else "guess",
            "terms": [] if like else terms,
            "words": [] if like or not terms else list(map(word_of(store, row.page_id), terms)),
            "like_example": terms[0] if like and terms else None,
            "method": row.method,
            "version": row.version,
            "at": row.at,
        }
        for row in rows
        if row.topic_id in names
        for terms in [[term for term, _ in json.loads(row.terms)[:SHOWN_TERMS]]]
        for like in [row.method == BY_MEANING]
    ]


def word_of(store: Store, page_id: int) -> Callable[[str], str]:
    """Return what gives a page's commonest word for a term, or the term itself where its text has none.

    The text is the one stored last.
    """
    wording, text = Wording(), store.answers.text(page_id)
    if text is not None:
        wording.learn("", [text.title, text.text])
    return wording.word


def explain_topic(store: Store, row: TopicRow) -> dict[str, Any]:
    """Return what a topic learned and from which examples, for JSON."""
    examples = store.topics.examples(row.id)
    return {
        **by_name(topic_result(store, row)),
        "terms": top_terms(store, row, examples),
        "pages_learned": [_example(one) for one in examples],
    }


def top_terms(store: Store, row: TopicRow, examples: Sequence[ExampleRow]) -> list[dict[str, Any]]:
    """Return the terms that a topic learned, strongest first, for JSON; none before it learned.

    Each with a word that it stands for, and its part.
    """
    kept = json.loads(store.topics.model(row.id) or "{}").get("terms", [])
    wording = _wording(row, examples)
    _learn_words(store, row, wording, [term for term, _ in kept])
    return [
        {"term": term, "word": wording.word(term), "part": round(part, 4)} for term, part in kept
    ]


def _learn_words(store: Store, row: TopicRow, wording: Wording, terms: Sequence[str]) -> None:
    """Look for words of *terms* on pages that the topic judged relevant, then on the pages visited last."""
    relevant = store.topics.judged_relevant(row.id, limit=MOST_READ)
    for page in [*relevant, *store.topics.kept_pages(limit=MOST_READ)]:
        if all(map(wording.knows, terms)):
            return
        text = store.answers.text(page.page_id)
        if text is not None:
            wording.learn(page.url, [text.title, text.text])


def _example(one: ExampleRow) -> dict[str, Any]:
    status = named("fetch", one.status or ("cached" if one.text is not None else "waiting"))
    if one.text is not None and not says_something(one):
        status = Text("lacks.textless", status=status)
    return {
        "url": one.url,
        "origin": one.origin,
        "title": one.title,
        "status": status,
        "added_at": one.added_at,
        "tried_at": one.tried_at,
        "next_try_at": one.due_at,
    }


def _wording(row: TopicRow, examples: Sequence[ExampleRow]) -> Wording:
    """Return the words of what the topic learns from: its terms are stems."""
    wording = Wording()
    wording.learn("", [row.description, *json.loads(row.keywords)])
    texts = [from_text(one.text) for one in examples if one.text is not None]
    for page in texts:
        wording.learn(page.url, [page.title, *page.headings, page.meta, page.body, *page.anchors])
    return wording

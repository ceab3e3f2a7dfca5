"""Told pages for a list, and what a topic makes of them: ``hubwatch new [--topic NAME]``."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from incremental.plain_text import clean
from store import Store
from store.answers import NewQuery, NewsRow

SHOWN_TERMS = 8


def told_pages(store: Store, query: NewQuery, limit: int) -> list[NewsRow]:
    """Return told pages, as many as there are up to *limit*."""
    found: list[NewsRow] = []
    more = True
    while more and len(found) < limit:
        answer = store.answers.new(replace(query, limit=limit - len(found)))
        found += answer.rows
        query, more = replace(query, after=answer.cursor), answer.more
    return found


def topic_fields(row: NewsRow, topic_id: int | None) -> dict[str, Any]:
    """Return what a topic makes of a row, for JSON; nothing when none was asked for.

    *guess* is true when the score comes from the link alone, because the page was not fetched.
    """
    marks = [mark for mark in row.topics if mark.topic_id == topic_id]
    if not marks:
        return {}
    mark = marks[0]
    return {
        "topic": mark.topic,
        "score": round(mark.score, 4),
        "verdict": mark.verdict if mark.fetched else None,
        "guess": not mark.fetched,
        "terms": [clean(str(term)) for term, _ in json.loads(mark.terms)[:SHOWN_TERMS]],
    }


def shown_score(fields: dict[str, Any]) -> str:
    """Return a judgement in one cell: ``0.83``, ``0.47 grey``, ``0.61 guess``."""
    note = "guess" if fields["guess"] else fields["verdict"]
    return f"{fields['score']:.2f}" + ("" if note == "relevant" else f" {note}")

"""Results as JSON: one schema for the command line, the API, feeds and messages.

Fields keep their names of the store, times are ISO 8601 in UTC, and *title* falls back to the anchor text
of a page that was not fetched.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from incremental.base.plain_text import clean
from store.answers.announced import AnnouncedPage, TopicMark, moment_of

SHOWN_TERMS = 8


def utc(at: float | None) -> str | None:
    """Return a time as ISO 8601, UTC."""
    moment = moment_of(at)
    return moment.isoformat() if moment is not None else None


def when(at: float | None) -> str:
    """Return a time in the local zone, to the minute; a dash for None."""
    moment = moment_of(at) if at is not None and at > 0 else None
    return moment.astimezone().strftime("%Y-%m-%d %H:%M") if moment is not None else "-"


def dated(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with its times (``at`` or ``..._at``) as ISO 8601."""
    return {k: utc(v) if k == "at" or k.endswith("_at") else v for k, v in row.items()}


def page_json(page: AnnouncedPage) -> dict[str, Any]:
    """Return an announced page for JSON."""
    facts = {name: getattr(page, name) for name in page.__slots__ if name != "page_id"}
    times = {name: utc(at) for name, at in facts.items() if name.endswith("_at")}
    return {
        **facts,
        **times,
        "id": page.page_id,
        "title": clean(page.title or page.anchor),
        "topics": [topic_json(mark) for mark in page.topics],
    }


def topic_json(mark: TopicMark) -> dict[str, Any]:
    """Return a topic's score of a page for JSON."""
    return {
        "topic_id": mark.topic_id,
        "topic": mark.topic,
        "score": mark.score,
        "verdict": mark.verdict,
        "fetched": mark.fetched,
        "terms": json.loads(mark.terms),
    }


def page_line(page: AnnouncedPage, topic: str | None = None) -> dict[str, Any]:
    """Return an announced page as a flat row of the command line, with the score of *topic* if given.

    *guess* = the score is from the link alone; the page was not fetched.
    """
    facts = page_json(page)
    line = {
        name: facts[name]
        for name in (
            *("cursor", "url", "title", "site", "found_at", "published_at", "hub_url"),
            *("language", "state", "read_at", "starred_at", "copies", "cluster"),
        )
    }
    if page.event is not None:
        line["event"] = page.event
    mark = next((mark for mark in facts["topics"] if mark["topic"] == topic), None)
    if mark is None:
        return line
    return line | {
        "topic": mark["topic"],
        "score": round(mark["score"], 4),
        "verdict": mark["verdict"] if mark["fetched"] else None,
        "guess": not mark["fetched"],
        "terms": [clean(str(term)) for term, _ in mark["terms"][:SHOWN_TERMS] if mark["fetched"]],
    }

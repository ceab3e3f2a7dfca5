"""What a topic lacks, from the classifier's notes to the texts of its row."""

from __future__ import annotations

import json
from collections.abc import Sequence

from classifier.words.values import Note
from incremental.base.texts import Text, read_text, stored
from store.topics.values import TopicRow


def note_text(note: Note) -> Text:
    """Return a note of the classifier in words."""
    return Text(f"lacks.{note.kind}", **note.values)


def stored_warnings(warnings: Sequence[str]) -> str:
    """Return warnings as JSON for a topic's row."""
    return json.dumps(list(map(stored, warnings)), ensure_ascii=False, separators=(",", ":"))


def warnings_of(row: TopicRow) -> list[str]:
    """Return the warnings of a topic's last training."""
    return list(map(read_text, json.loads(row.warnings)))

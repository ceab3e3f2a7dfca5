"""Checks of tags and of words that users give to narrow a list. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from incremental.errors import InputError
from store.words import read_query

MAX_TAG = 40
MAX_TAGS = 20
MAX_WORDS = 50
MAX_WORD = 100


def checked_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Return tags with single spaces, each once.

    Raises:
        InputError: a tag is empty, too long or has a comma, or there are too many.
    """
    found = tuple(dict.fromkeys(" ".join(tag.split()) for tag in tags))
    for tag in found:
        if not tag or len(tag) > MAX_TAG or not tag.isprintable() or "," in tag or "，" in tag:
            way_out = f"give a tag of 1 to {MAX_TAG} characters without a comma"
            raise InputError("tag", tag[:MAX_TAG], way_out)
    if len(found) > MAX_TAGS:
        raise InputError("tags", len(found), f"at most {MAX_TAGS} are allowed")
    return found


def checked_words(words: Sequence[str], field: str) -> tuple[str, ...]:
    """Return words or phrases that can be searched for, each once.

    Raises:
        InputError: one holds no letter or digit, or there are too many.
    """
    found = tuple(dict.fromkeys(" ".join(word.split()) for word in words))
    for word in found:
        if len(word) > MAX_WORD or not read_query(f'"{word}"'):
            raise InputError(field, word[:MAX_WORD], "give a word or a short phrase")
    if len(found) > MAX_WORDS:
        raise InputError(field, len(found), f"at most {MAX_WORDS} are allowed")
    return found


def parted(text: str) -> list[str]:
    """Read a list separated by commas, of either script."""
    return [part.strip() for part in text.replace("，", ",").split(",") if part.strip()]


def joined(parts: Iterable[str]) -> str:
    """Inverse of :func:`parted`."""
    return ", ".join(parts)

"""Errors of the topic models; each message names the field, its value and the remedy."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hubwatch.errors import HubwatchError


class TopicError(HubwatchError):
    """Base of this package's errors; raised itself for a topic that cannot be trained."""

    def __init__(self, field: str, value: str, problem: str) -> None:
        super().__init__(f"{field} {value!r}: {problem}")


class TopicModelError(TopicError):
    """A stored model or table is damaged, foreign, too large or too new."""


def of_format(data: object, field: str, number: int) -> dict[str, Any]:
    """Return stored data if their format is *number*; else raise TopicModelError."""
    if not isinstance(data, dict) or data.get("format") != number:
        raise TopicModelError(field, str(data)[:80], "is not of this version")
    return data


@contextmanager
def reading(field: str) -> Iterator[None]:
    """Turn errors of reading stored data into TopicModelError."""
    try:
        yield
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise TopicModelError(field, str(error)[:80], "is damaged; learn it again") from error

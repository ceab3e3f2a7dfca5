"""Training examples of the Bayes link order, and their JSON form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

import msgspec
import numpy as np

from classifier.topic.bayes import MAX_TERMS_PER_EXAMPLE, TermExample, TermNumbers
from classifier.topic.errors import TopicModelError

# The last fetched pages.
MAX_TRAINING_EXAMPLES: Final = 400
# Of the links that led to a page, those that become examples.
CONTEXTS_PER_PAGE: Final = 3
_DIGITS: Final = 4
_FORMAT: Final = 2


@dataclass(frozen=True, slots=True)
class BayesExample:
    """A fetched page: its likeness to the topic, and the links that led to it."""

    likeness: float
    """Cosine to the topic, 0 to 1."""
    page: TermExample
    contexts: tuple[TermExample, ...]

    @property
    def examples(self) -> tuple[TermExample, ...]:
        """The link contexts; for a page without any, the page itself."""
        return self.contexts or (self.page,)


def training_examples_to_json(
    training_examples: Sequence[BayesExample], terms: Sequence[str]
) -> dict[str, Any]:
    """Return the training examples and the terms they use."""
    texts = [
        example
        for training_example in training_examples
        for example in (training_example.page, *training_example.contexts)
    ]
    used = sorted({int(number) for text in texts for number in text.terms})
    places = {number: place for place, number in enumerate(used)}
    return {
        "format": _FORMAT,
        "terms": [terms[number] for number in used],
        "training_examples": [
            [
                round(training_example.likeness, _DIGITS),
                [
                    _packed(text, places)
                    for text in (training_example.page, *training_example.contexts)
                ],
            ]
            for training_example in training_examples
        ],
    }


def training_examples_from_json(data: object, numbers: TermNumbers) -> list[BayesExample]:
    """Read the form of ``training_examples_to_json``; raises TopicModelError."""
    try:
        stored = msgspec.convert(data, _Stored)
        return [
            _training_example(training_example, stored.terms, numbers)
            for training_example in stored.training_examples
        ]
    except (msgspec.ValidationError, ValueError, IndexError) as error:
        raise TopicModelError(
            "bayes", str(data)[:80], f"damaged or of another version: {error}"
        ) from error


_Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
_Text = tuple[
    Annotated[
        list[Annotated[int, msgspec.Meta(ge=0)]], msgspec.Meta(max_length=MAX_TERMS_PER_EXAMPLE)
    ],
    list[_Share],
]
_StoredExample = tuple[_Share, Annotated[list[_Text], msgspec.Meta(min_length=1)]]


class _Stored(msgspec.Struct):
    """The form on disk."""

    format: Literal[2]
    terms: list[str]
    training_examples: Annotated[
        list[_StoredExample], msgspec.Meta(max_length=MAX_TRAINING_EXAMPLES)
    ]


def _training_example(
    stored: _StoredExample, terms: Sequence[str], numbers: TermNumbers
) -> BayesExample:
    likeness, texts = stored
    page, *contexts = (_example(text, terms, numbers) for text in texts)
    return BayesExample(likeness, page, tuple(contexts[:CONTEXTS_PER_PAGE]))


def _example(stored: _Text, terms: Sequence[str], numbers: TermNumbers) -> TermExample:
    places, weights = stored
    pairs = zip((numbers.number(terms[place]) for place in places), weights, strict=True)
    known = [(number, weight) for number, weight in pairs if number is not None]
    return TermExample(
        np.array([number for number, _ in known], dtype=np.int64),
        np.array([weight for _, weight in known], dtype=np.float64),
    )


def _packed(text: TermExample, places: dict[int, int]) -> tuple[list[int], list[float]]:
    terms = [places[int(number)] for number in text.terms]
    return terms, [round(float(weight), _DIGITS) for weight in text.weights]

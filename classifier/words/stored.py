"""Fitted values as plain data: their fields by name, arrays as lists, bytes in base 64."""

from typing import Any, TypeVar

import msgspec
import numpy as np

from classifier.words.errors import reading

T = TypeVar("T")


def stored(value: object) -> Any:  # noqa: ANN401 - JSON
    """Return a dataclass, or a list of values, as plain data."""
    return msgspec.to_builtins(value, enc_hook=lambda array: array.tolist())


def restored(data: object, kind: type[T], field: str) -> T:
    """Read the form of :func:`stored`; raises TopicModelError."""
    with reading(field):
        return msgspec.convert(
            data, kind, dec_hook=lambda _, values: np.asarray(values, dtype=np.float64)
        )

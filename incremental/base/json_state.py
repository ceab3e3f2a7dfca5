"""States that the store keeps as JSON text: unknown keys are ignored, defaults left out."""

import json
import math
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Self

import msgspec

from store.database.texts import storable

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True, slots=True)
class JsonState:
    """To and from JSON text; fields at their defaults are left out."""

    def to_text(self) -> str:
        """Return the fields that differ from a new state's; long lists with three decimals.

        Raises:
            ValueError: a number is infinite or none; no state could be read from it.
        """
        kind = type(self).__name__
        texts = (
            f'"{name}":{_list_text(kind, name, value) if isinstance(value, tuple) else _text(value)}'
            for name, default in _defaults(type(self))  # type: ignore[arg-type]  # classes hash
            if (value := getattr(self, name)) != default
        )
        return f"{{{','.join(texts)}}}"

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the state that a store keeps; unknown keys (of another version) are ignored."""
        return msgspec.json.decode(text, type=cls)


@lru_cache(maxsize=32)
def _defaults(kind: type[JsonState]) -> tuple[tuple[str, object], ...]:
    new = kind()
    return tuple((field.name, getattr(new, field.name)) for field in fields(kind))


# The rhythms of a site change once a day, and are written at each of its visits. Fields are kept apart,
# because (1, 2) and (1.0, 2.0) are equal, and a field of whole numbers is not read from [1.0,2.0].
@lru_cache(maxsize=512)
def _list_text(_kind: str, _field: str, values: tuple[float, ...]) -> str:
    return _text([round(one, 3) for one in values])


def _text(value: object) -> str:
    # A number says what the encoder would.
    if type(value) in (float, int) and abs(value) < math.inf:  # type: ignore[arg-type]  # a number
        return repr(value)
    return storable(_ENCODER.encode(value), None)

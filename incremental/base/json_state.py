"""States that the store keeps as JSON text: unknown keys are ignored, defaults left out."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Self

import msgspec

from store.database.texts import to_json


@dataclass(frozen=True, slots=True)
class JsonState:
    """To and from JSON text; fields at their defaults are left out."""

    def to_text(self) -> str:
        """Return the fields that differ from a new state's; long lists with three decimals."""
        texts = (
            f'"{name}":{_list_text(value) if isinstance(value, tuple) else to_json(value)}'
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


# The rhythms of a site change once a day, and are written at each of its visits.
@lru_cache(maxsize=512)
def _list_text(values: tuple[float, ...]) -> str:
    return to_json([round(one, 3) for one in values])

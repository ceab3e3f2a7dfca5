"""States that the store keeps as JSON text: unknown keys are ignored, defaults left out."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Self

from store.database.texts import to_json


@dataclass(frozen=True, slots=True)
class JsonState:
    """To and from JSON text; fields at their defaults are left out."""

    def to_text(self) -> str:
        """Return the fields that differ from a new state's; long lists with three decimals."""
        new = type(self)()
        values = ((f.name, getattr(self, f.name)) for f in fields(self))
        changed = {k: v for k, v in values if v != getattr(new, k)}
        rounded = {
            k: [round(one, 3) for one in v] if isinstance(v, tuple) else v
            for k, v in changed.items()
        }
        return to_json(rounded)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the state that a store keeps; unknown keys (of another version) are ignored."""
        known, saved = {f.name for f in fields(cls)}, json.loads(text).items()
        values = {k: tuple(v) if isinstance(v, list) else v for k, v in saved}
        return cls(**{k: v for k, v in values.items() if k in known})

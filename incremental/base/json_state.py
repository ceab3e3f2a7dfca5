"""States that the store keeps as JSON text: unknown keys are ignored, defaults left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class JsonState:
    """To and from a dict that :mod:`json` can write; fields at their defaults are left out."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields that differ from a new state's; long lists with three decimals."""
        new = type(self)()
        values = ((f.name, getattr(self, f.name)) for f in fields(self))
        changed = {k: v for k, v in values if v != getattr(new, k)}
        return {k: _rounded(v) if isinstance(v, tuple) else v for k, v in changed.items()}

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the state that a store keeps as JSON text."""
        return cls.from_json(json.loads(text))

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        """Return the saved state; unknown keys (of another version) are ignored."""
        known = {f.name for f in fields(cls)}
        values = {k: tuple(v) if isinstance(v, list) else v for k, v in saved.items()}
        return cls(**{k: v for k, v in values.items() if k in known})


def _rounded(values: tuple[float, ...]) -> list[float]:
    return [round(value, 3) for value in values]

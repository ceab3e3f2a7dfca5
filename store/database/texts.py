"""Makes texts from sites storable in any database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

# Characters kept of an anchor, a title or a tag path.
MAX_TEXT = 500
# Characters kept of a URL, a language or a validator (ETag, Last-Modified).
MAX_ADDRESS = 2_000

_BOUNDS = dict.fromkeys(("title", "anchor", "why"), MAX_TEXT) | dict.fromkeys(
    ("url", "next_url", "language", "etag", "last_modified"), MAX_ADDRESS
)


def storable(text: str, most: int | None = MAX_TEXT) -> str:
    """Cut *text* to *most* characters; what databases reject becomes U+FFFD."""
    # PostgreSQL refuses NUL, and drivers cannot encode lone surrogates.
    text = text[:most].replace("\0", "\ufffd")
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def columns(
    fields: Mapping[str, object], bounds: Mapping[str, int | None] = _BOUNDS
) -> dict[str, Any]:
    """Return column values with every text storable and cut to its column's bound."""
    return {
        name: storable(value, bounds.get(name)) if isinstance(value, str) else value
        for name, value in fields.items()
    }


def to_json(value: object) -> str:
    """Serialize a JSON column."""
    return storable(json.dumps(value, ensure_ascii=False, separators=(",", ":")), None)

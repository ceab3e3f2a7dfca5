"""Makes texts from sites storable in any database."""

import json
import math
from collections.abc import Mapping
from typing import Any

# Characters kept of an anchor, a title or a tag path.
MAX_TEXT = 500
# Characters kept of a URL, a language or a validator (ETag, Last-Modified).
MAX_ADDRESS = 2_000

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_BOUNDS = dict.fromkeys(("title", "anchor", "why"), MAX_TEXT) | dict.fromkeys(
    ("url", "next_url", "language", "etag", "last_modified"), MAX_ADDRESS
)


def storable(text: str, most: int | None = MAX_TEXT) -> str:
    """Truncate *text* to *most* characters; characters that databases reject become U+FFFD."""
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
    # A number says what the encoder would, but infinity.
    if type(value) in (float, int) and abs(value) < math.inf:  # type: ignore[arg-type]  # a number
        return repr(value)
    return storable(_ENCODER.encode(value), None)

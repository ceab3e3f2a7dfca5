"""What the type of a setting says of it beside the values it takes."""

from __future__ import annotations

import msgspec

SECRET = msgspec.Meta(extra={"secret": True})
"""It is shown nowhere."""


def example(value: object) -> msgspec.Meta:
    """Return the mark of a value for the file that ``hubwatch init`` writes."""
    return msgspec.Meta(examples=[value])

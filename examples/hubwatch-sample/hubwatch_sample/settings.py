"""``[sample]`` in the settings."""

from __future__ import annotations

import msgspec

from incremental.base.errors import SettingsError


class SampleSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tally of new pages."""

    file: str = ""
    """File to which the daemon writes the tally, relative to the settings file; empty = none."""
    minutes: float = 60.0
    """Time between two writes."""

    def __post_init__(self) -> None:
        """Refuse a pause that is none."""
        if self.minutes <= 0:
            raise SettingsError("minutes", self.minutes, "must be above 0")

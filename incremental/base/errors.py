"""Errors that the user can fix; :mod:`hubwatch.errors` draws the whole tree."""

import re

from hubwatch.errors import HubwatchError

_CREDENTIALS = re.compile(r"(?<=://)(?:\S*@|\S+)")


def without_credentials(value: object) -> object:
    """Return a value fit for messages: a URL without user name and password.

    Cut up to the last ``@``: a password may hold any character, escaped or not.
    """
    if not isinstance(value, str):
        return value
    return _CREDENTIALS.sub(lambda found: "...@" if found[0][-1] == "@" else found[0], value)


class SettingsError(HubwatchError):
    """A setting is missing or wrong."""

    def __init__(self, field: str, value: object, way_out: str) -> None:
        value = without_credentials(value)
        self.field = field
        self.value = value
        self.way_out = way_out
        named = f"setting {field}" if value is None else f"setting {field} = {value!r}"
        super().__init__(f"{named}: {way_out}")


class InputError(HubwatchError):
    """User input that cannot be used; an empty *value* is not shown."""

    def __init__(self, what: str, value: object, way_out: str) -> None:
        value = without_credentials(value)
        self.what = what
        self.value = value
        self.way_out = way_out
        named = what if value == "" else f"{what} {value!r}"
        super().__init__(f"{named}: {way_out}")


class NotFoundError(HubwatchError):
    """The store has nothing of this name."""


class FeatureError(HubwatchError):
    """A feature of an installed package does not work."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"the feature {name} cannot be used: {why}")

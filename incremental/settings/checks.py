"""Checks of settings that types cannot express."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from incremental.base.errors import InputError, SettingsError
from incremental.base.scope import compile_pattern
from incremental.base.texts import Text
from incremental.base.urls import normalize
from incremental.settings.sections import RevisitSettings, SiteSettings

Entry = TypeVar("Entry", bound=msgspec.Struct)
_SPAN = re.compile(r"(\d{1,2})(?::(\d{2}))?\s*-\s*(\d{1,2})(?::(\d{2}))?")


def check_site(site: SiteSettings, defaults: RevisitSettings, where: str) -> None:
    """Raise SettingsError for values that would fail only when the site is used."""
    if normalize(site.url) is None:
        raise SettingsError(f"{where}.url", site.url, "give a URL like https://example.org/news/")
    try:
        site.access()
        for pattern in (*site.include, *site.exclude):
            compile_pattern(pattern)
    except SettingsError as error:
        raise SettingsError(f"{where}.{error.field}", error.value, error.way_out) from None
    except InputError as error:
        raise SettingsError(f"{where} {error.what}", error.value, error.way_out) from None
    check_interval(where, site, defaults)


def windows(hours: Sequence[str], field: str = "revisit.hours") -> tuple[tuple[float, float], ...]:
    """Return spans like ``22:00-06:30`` as hours of the day, (start, end).

    Raises:
        SettingsError: not a span, or an empty one.
    """
    found = []
    for text in hours:
        match = _SPAN.fullmatch(text.strip())
        numbers = [int(part or 0) for part in match.groups()] if match else []
        start, end = (
            (numbers[0] + numbers[1] / 60, numbers[2] + numbers[3] / 60) if match else (0, 0)
        )
        if not match or start > 24 or end > 24 or start == end or max(numbers[1::2]) > 59:  # noqa: PLR2004 - a clock
            way_out = Text("input.hours_form")
            raise SettingsError(field, text, way_out)
        found.append((start % 24, end))
    return tuple(found)


def check_interval(
    where: str, given: SiteSettings | RevisitSettings, defaults: RevisitSettings
) -> None:
    """Raise SettingsError for invalid hours, or a minimum interval above the maximum."""
    windows(given.hours or (), f"{where}.hours")
    shortest = given.min_interval_minutes or defaults.min_interval_minutes
    longest = given.max_interval_hours or defaults.max_interval_hours
    if shortest > longest * 60:
        way_out = Text("input.interval_order", hours=longest)
        raise SettingsError(f"{where}.min_interval_minutes", shortest, way_out)


def converted(name: str, kind: Any, tree: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a type, and its value
    """Return a section of *tree*.

    Raises:
        SettingsError: names the field, its value unless that is a secret, and what is allowed.
    """
    try:
        return msgspec.convert(tree[name], kind, strict=False)
    except msgspec.ValidationError as error:
        message, _, where = str(error).partition(" - at `$")
        field = name + where.rstrip("`")
        if named := re.search(r" field `(.*)`", message):
            field += f".{named[1]}"
        value = _value_at(tree[name], field.removeprefix(name), field)
        raise SettingsError(field, value, _way_out(message, field)) from None
    except SettingsError as error:
        raise SettingsError(f"{name}.{error.field}", error.value, error.way_out) from None


def _way_out(message: str, field: str) -> str:
    """Return what a setting takes; *message* if the field is none."""
    # Read from the types, which takes a moment, for errors alone.
    from incremental.settings.reference import setting_at, settings_beside  # noqa: PLC0415

    found = setting_at(field)
    if found is not None and "missing" in message:
        return f"is missing ({found.says.rstrip('.')})"
    if found is not None:
        return f"must be {found.kind}"
    known = ", ".join(one.name for one in settings_beside(field))
    return f"unknown setting; known: {known}" if "unknown" in message else message


def _value_at(value: Any, place: str, field: str) -> object:  # noqa: ANN401 - whatever the TOML held
    """Return the value at a *place* like ``.name`` or ``[0].url`` for an error; never a secret."""
    from incremental.settings.reference import setting_at  # noqa: PLC0415 - likewise

    setting = setting_at(field)
    for part in place.replace("[", ".").replace("]", "").split("."):
        if isinstance(value, Mapping):
            value = value.get(part, value)
        elif isinstance(value, list | tuple) and part.isdigit():
            value = value[int(part)]
    # A value in place of a whole section or entry, or below a mistyped name, may be a secret.
    known = (
        not setting.secret if setting is not None else not place and isinstance(value, int | float)
    )
    return value if known and not isinstance(value, Mapping) else "..."


def checked_entry(
    kind: type[Entry], name: str, typed: Mapping[str, Any], check: Callable[[Entry], None]
) -> Entry:
    """Return an entry of the settings, such as a ``[[site]]``, from what was *typed* for its fields.

    Raises:
        InputError: a value is not usable; it names the field, without the entry's *name*.
    """
    try:
        entry: Entry = converted(name, kind, {name: typed})
        check(entry)
    except SettingsError as error:
        field = error.field.removeprefix(name).lstrip(". ").partition("[")[0]
        # What is not shown is a secret.
        value = "" if error.value == "..." else error.value
        raise InputError(field or name, value, error.way_out) from None
    return entry

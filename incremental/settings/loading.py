"""Reading ``hubwatch.toml`` and the environment."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from incremental.errors import SettingsError
from incremental.scope import Reach
from incremental.settings.channels import check_channel
from incremental.settings.checks import check_callback, check_interval, check_site
from incremental.settings.discovery import check_discovery
from incremental.settings.embeddings import check_embeddings
from incremental.settings.renamed import with_new_names, with_new_variables
from incremental.settings.sections import LISTS, LinkOrderName, LogFormat, PolicyName, Settings

ENVIRONMENT_PREFIX = "HUBWATCH_"
FILE_NAME = "hubwatch.toml"
_SECRET = re.compile(
    r"^store\.database|^web\.password|^embeddings\.key|^notify\[\d+\]\.url|^site\[\d+\]\.(?:cookies|headers|username|password|proxy)"
)


def load_settings(
    path: Path | None = None, environment: Mapping[str, str] | None = None
) -> tuple[Settings, Path]:
    """Return the settings and the folder that their relative paths start from.

    *path* None = ``hubwatch.toml`` in the working folder if present, else the defaults.

    Raises:
        SettingsError: the file is missing or not TOML, a name is unknown, a value invalid.
    """
    environment = os.environ if environment is None else environment
    chosen = path or Path(environment.get(ENVIRONMENT_PREFIX + "CONFIG", FILE_NAME))
    tree: dict[str, Any] = {}
    try:
        with chosen.open("rb") as file:
            tree = tomllib.load(file)
    except FileNotFoundError:
        if path is not None or ENVIRONMENT_PREFIX + "CONFIG" in environment:
            raise SettingsError(
                "config", str(chosen), "there is no such file; `hubwatch init` writes one"
            ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError, RecursionError) as error:
        raise SettingsError("config", str(chosen), f"cannot be read: {error}") from error
    if tree:
        tree = with_new_names(tree, str(chosen))
    if any(name.startswith(ENVIRONMENT_PREFIX) for name in environment):
        _overlay(tree, with_new_variables(environment, ENVIRONMENT_PREFIX))
    settings, folder = build_settings(tree), chosen.resolve().parent
    if not settings.topics.trees:
        return settings, folder
    trees = tuple(one if ":" in one else str(folder / one) for one in settings.topics.trees)
    topics = msgspec.structs.replace(settings.topics, trees=trees)
    return msgspec.structs.replace(settings, topics=topics), folder


def settings_path(path: Path | None, environment: Mapping[str, str] | None = None) -> Path:
    """Return the path of the settings file; see :func:`load_settings`."""
    environment = os.environ if environment is None else environment
    return path or Path(environment.get(ENVIRONMENT_PREFIX + "CONFIG", FILE_NAME))


def build_settings(tree: Mapping[str, Any]) -> Settings:
    """Convert plain values to settings.

    Raises:
        SettingsError: names the field, its value and what is allowed.
    """
    if tree:
        _refuse_unknown(tree)
    try:
        settings = msgspec.convert(tree, Settings, strict=False)
    except msgspec.ValidationError as error:
        message, _, where = str(error).partition(" - at `$")
        field = where.rstrip("`").lstrip(".") or "settings"
        raise SettingsError(field, _value_at(tree, field), _way_out(message, field)) from None
    except SettingsError as error:
        raise SettingsError(_with_section(error.field), error.value, error.way_out) from None
    # The defaults need no check.
    for number, site in enumerate(settings.site):
        check_site(site, settings.revisit, f"site[{number}]")
    _check_providers(settings, tree)
    for number, channel in enumerate(settings.notify):
        check_channel(channel, f"notify[{number}]")
        if any(channel.name == other.name for other in settings.notify[:number]):
            raise SettingsError(
                f"notify[{number}].name", channel.name, "is used by another channel"
            )
    if "revisit" in tree:
        check_interval("revisit", settings.revisit, settings.revisit)
    if settings.websub.callback_url:
        check_callback(settings.websub.callback_url)
    return settings


def _check_providers(settings: Settings, tree: Mapping[str, Any]) -> None:
    if "discovery" in tree:
        check_discovery(settings.discovery)
    if "embeddings" in tree:
        check_embeddings(settings.embeddings)


def _refuse_unknown(tree: Mapping[str, Any]) -> None:
    """Refuse unknown names."""
    # Here, because msgspec ignores them in dataclasses, and its error may quote a whole section.
    sections = {section.name: section.type for section in msgspec.structs.fields(Settings)}
    _refuse_names(tree, list(sections), "")
    for section, kind in sections.items():
        if section not in LISTS:
            _refuse_names(tree.get(section), _field_names(kind), f"{section}.")
    for section, (kind, required) in LISTS.items():
        entries = tree.get(section)
        for number, entry in enumerate(entries if isinstance(entries, list | tuple) else ()):
            _refuse_names(entry, _field_names(kind), f"{section}[{number}].")
            for name, what in required.items():
                if isinstance(entry, Mapping) and name not in entry:
                    raise SettingsError(f"{section}[{number}].{name}", None, f"is missing: {what}")


def _refuse_names(given: object, names: list[str], where: str) -> None:
    for name in given if isinstance(given, Mapping) else ():
        if name not in names:
            way_out = f"unknown setting; known: {', '.join(names)}"
            raise SettingsError(f"{where}{name}", "...", way_out)


def _way_out(message: str, field: str) -> str:
    if "enum" not in message:
        return message
    name = field.rpartition(".")[2]
    if name == "parse_workers":
        return 'must be "auto" or a whole number from 0 to 64'
    allowed = _ENUMS[name]
    return f"{message}; allowed are: {', '.join(allowed)}"


_ENUMS: dict[str, type[StrEnum]] = {
    "policy": PolicyName,
    "reach": Reach,
    "link_order": LinkOrderName,
    "log_format": LogFormat,
}


def _with_section(field: str) -> str:
    """Return the full name of a field whose section checks itself."""
    for section in msgspec.structs.fields(Settings):
        if section.name not in LISTS and field in _field_names(section.type):
            return f"{section.name}.{field}"
    return field


def _overlay(tree: dict[str, Any], environment: Mapping[str, str]) -> None:
    """Put variables like ``HUBWATCH_FETCH_CONTACT`` into *tree*; lists are comma-separated."""
    defaults = Settings()
    meant = {ENVIRONMENT_PREFIX + "CONFIG"}
    for section in msgspec.structs.fields(Settings):
        if section.name in LISTS:
            continue
        for name in _field_names(section.type):
            key = f"{ENVIRONMENT_PREFIX}{section.name}_{name}".upper()
            meant.add(key)
            if key in environment and isinstance(tree.setdefault(section.name, {}), dict):
                text = environment[key]
                default = getattr(getattr(defaults, section.name), name)
                several = isinstance(default, tuple | frozenset)
                tree[section.name][name] = text.replace(",", " ").split() if several else text
    for key in sorted(environment):
        if key.startswith(ENVIRONMENT_PREFIX) and key not in meant:
            way_out = "unknown setting; names are HUBWATCH_SECTION_FIELD"
            raise SettingsError(key, "...", way_out)


def _field_names(kind: Any) -> list[str]:  # noqa: ANN401 - a Struct or a dataclass
    return list(kind.__annotations__)


def _value_at(tree: Any, field: str) -> object:  # noqa: ANN401 - whatever the TOML held
    """Return the value at ``section.name`` or ``site[0].url`` for an error; never a secret."""
    if _SECRET.search(field):
        return "..."
    whole = "." not in field
    value = tree
    for part in field.replace("[", ".").replace("]", "").split("."):
        if isinstance(value, Mapping):
            value = value.get(part, value)
        elif isinstance(value, list | tuple) and part.isdigit():
            value = value[int(part)]
    # A value in place of a whole section was meant for one of its fields, perhaps a secret.
    if isinstance(value, Mapping) or (whole and not isinstance(value, int | float)):
        return "..."
    return value

"""Reading ``hubwatch.toml`` and the environment."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from incremental.base.errors import SettingsError
from incremental.settings.channels import check_channel
from incremental.settings.checks import check_callback, check_interval, check_site
from incremental.settings.discovery import check_discovery
from incremental.settings.embeddings import check_embeddings, with_model_folder
from incremental.settings.engine import check_engine
from incremental.settings.hooks import check_hook
from incremental.settings.sections import LISTS, Settings

ENVIRONMENT_PREFIX = "HUBWATCH_"
FILE_NAME = "hubwatch.toml"
SECRET = re.compile(
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
    settings, folder, _ = load_with_sources(path, environment)
    return settings, folder


def load_with_sources(
    path: Path | None = None, environment: Mapping[str, str] | None = None
) -> tuple[Settings, Path, dict[str, str]]:
    """Return the settings, their folder, and where each value comes from, as :func:`load_settings`.

    The sources are by ``section.name``, ``file`` or the name of a variable; missing = the default.
    """
    environment = os.environ if environment is None else environment
    chosen = path or Path(environment.get(ENVIRONMENT_PREFIX + "CONFIG", FILE_NAME))
    tree: dict[str, Any] = {}
    sources: dict[str, str] = {}
    try:
        with chosen.open("rb") as file:
            tree = tomllib.load(file)
    except FileNotFoundError:
        if path is not None or ENVIRONMENT_PREFIX + "CONFIG" in environment:
            raise SettingsError(
                "config", str(chosen), "there is no such file; `hubwatch init` writes one"
            ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError, RecursionError) as error:
        twice = re.match(r"Cannot declare \('([\w.]+)',\) twice", str(error))
        way_out = f"; the section [{twice[1]}] is there already: set it there" if twice else ""
        raise SettingsError("config", str(chosen), f"cannot be read: {error}{way_out}") from error
    if tree:
        sources = {
            f"{section}.{name}": "file"
            for section, fields in tree.items()
            for name in (fields if isinstance(fields, dict) else ())
        }
    if any(name.startswith(ENVIRONMENT_PREFIX) for name in environment):
        sources |= _overlay(tree, environment)
    settings, folder = build_settings(tree), chosen.resolve().parent
    embeddings = with_model_folder(settings.embeddings, folder)
    settings = msgspec.structs.replace(settings, embeddings=embeddings)
    if not settings.topics.trees:
        return settings, folder, sources
    trees = tuple(one if ":" in one else str(folder / one) for one in settings.topics.trees)
    topics = msgspec.structs.replace(settings.topics, trees=trees)
    return msgspec.structs.replace(settings, topics=topics), folder, sources


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
    _check_lists(settings)
    _check_providers(settings, tree)
    if "revisit" in tree:
        check_interval("revisit", settings.revisit, settings.revisit)
    if settings.websub.callback_url:
        check_callback(settings.websub.callback_url)
    return settings


def _check_lists(settings: Settings) -> None:
    """Check sites, channels and hooks."""
    for number, site in enumerate(settings.site):
        check_site(site, settings.revisit, f"site[{number}]")
    for number, channel in enumerate(settings.notify):
        check_channel(channel, f"notify[{number}]")
        if any(channel.name == other.name for other in settings.notify[:number]):
            raise SettingsError(
                f"notify[{number}].name", channel.name, "is used by another channel"
            )
    for number, hook in enumerate(settings.hook):
        check_hook(hook, f"hook[{number}]")
        if any(hook.name == other.name for other in settings.hook[:number]):
            raise SettingsError(f"hook[{number}].name", hook.name, "is used by another hook")


def _check_providers(settings: Settings, tree: Mapping[str, Any]) -> None:
    if "discovery" in tree:
        check_discovery(settings.discovery)
    if "embeddings" in tree:
        check_embeddings(settings.embeddings)
    if "engine" in tree:
        check_engine(settings.engine)


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
    """Return what a setting takes; *message* if the field is none."""
    # Read from the types, which takes a moment, for errors alone.
    from incremental.settings.reference import setting_at  # noqa: PLC0415

    found = setting_at(field)
    if found is None:
        return message
    return f"must be {found.kind}" + (f" ({found.unit})" if found.unit else "")


def _with_section(field: str) -> str:
    """Return the full name of a field whose section checks itself."""
    for section in msgspec.structs.fields(Settings):
        if section.name not in LISTS and field in _field_names(section.type):
            return f"{section.name}.{field}"
    return field


def _overlay(tree: dict[str, Any], environment: Mapping[str, str]) -> dict[str, str]:
    """Put variables like ``HUBWATCH_FETCH_CONTACT`` into *tree*; lists are comma-separated.

    Returns the variable that set each ``section.name``.
    """
    defaults, sources = Settings(), dict[str, str]()
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
                sources[f"{section.name}.{name}"] = key
    for key in sorted(environment):
        if key.startswith(ENVIRONMENT_PREFIX) and key not in meant:
            way_out = "unknown setting; names are HUBWATCH_SECTION_FIELD"
            raise SettingsError(key, "...", way_out)
    return sources


def _field_names(kind: Any) -> list[str]:  # noqa: ANN401 - a Struct or a dataclass
    return list(kind.__annotations__)


def _value_at(tree: Any, field: str) -> object:  # noqa: ANN401 - whatever the TOML held
    """Return the value at ``section.name`` or ``site[0].url`` for an error; never a secret."""
    if SECRET.search(field):
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

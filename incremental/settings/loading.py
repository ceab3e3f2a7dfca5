"""Reading ``hubwatch.toml`` and the environment."""

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from incremental.base.errors import SettingsError
from incremental.base.features import ENVIRONMENT_PREFIX, FILE_NAME, entries, found
from incremental.settings.checks import check_interval, check_site, converted
from incremental.settings.sections import Settings, check_engine, core_sections, entry_of


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
    chosen = settings_path(path, environment)
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
        twice = re.match(r"Cannot declare \('([\w.]+)',\) twice", str(error))
        way_out = f"; the section [{twice[1]}] is there already: set it there" if twice else ""
        raise SettingsError("config", str(chosen), f"cannot be read: {error}{way_out}") from error
    sources = {
        f"{section}.{name}": "file"
        for section, fields in tree.items()
        for name in (fields if isinstance(fields, dict) else ())
    }
    if any(name.startswith(ENVIRONMENT_PREFIX) for name in environment):
        sources |= _overlay(tree, environment)
    settings, folder = build_settings(tree), chosen.resolve().parent
    source = settings.topics.tree
    if not source or ":" in source:
        return settings, folder, sources
    topics = msgspec.structs.replace(settings.topics, tree=str(folder / source))
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
    kinds = core_sections()
    core = {name: converted(name, kinds[name], tree) for name in kinds if name in tree}
    settings = Settings(**core)
    # Most people set nothing of a feature, and looking for them takes a while.
    if settings.features.off or len(core) < len(tree):
        settings = _with_features(settings, tree)
    # The defaults need no check.
    for number, site in enumerate(settings.site):
        check_site(site, settings.revisit, f"site[{number}]")
    if "engine" in tree:
        check_engine(settings.engine)
    if "revisit" in tree:
        check_interval("revisit", settings.revisit, settings.revisit)
    return settings


def _with_features(settings: Settings, tree: Mapping[str, Any]) -> Settings:
    """Add the sections of features; those of one that is off or broken are not read."""
    for name in settings.features.off:
        if name not in entries():
            way_out = f"no such feature; installed: {', '.join(entries())}"
            raise SettingsError("features.off", name, way_out)
    without = {one.name for one in settings.enabled.on if not one.settings}
    given = dict.fromkeys(sorted(tree.keys() - core_sections()), "")
    known = [*core_sections(), *(entries().keys() - without)]
    for name in given:
        if name not in known:
            raise SettingsError(name, "...", f"unknown setting; known: {', '.join(known)}")
    kinds = {name: settings.enabled.section(name) for name in given}
    made = [converted(name, kind, tree) for name, kind in kinds.items() if kind is not None]
    further = tuple(one for one in made if one != type(one)())
    return msgspec.structs.replace(settings, further=further)


def _overlay(tree: dict[str, Any], environment: Mapping[str, str]) -> dict[str, str]:
    """Put variables like ``HUBWATCH_FETCH_CONTACT`` into *tree*; lists are comma-separated.

    Returns the variable that set each ``section.name``.
    """
    sources, core = dict[str, str](), core_sections()
    given = {key for key in environment if key.startswith(ENVIRONMENT_PREFIX)}
    # What says which features are off comes first.
    for key in sorted(given - {f"{ENVIRONMENT_PREFIX}CONFIG"}, key=lambda key: "_OFF" not in key):
        said = key.removeprefix(ENVIRONMENT_PREFIX).lower()
        section = _begins(said, core)
        if said.removeprefix(f"{section}_") not in getattr(
            core.get(section), "__struct_fields__", ()
        ):
            # Looked for here alone, which takes a while; store_extra is not a setting of store.
            section = _begins(said, [*core, *entries()])
        kind = core.get(section) or found(_off(tree)).section(section)
        name = said.removeprefix(f"{section}_")
        if section and kind is None:
            # Of one that is off or broken nobody knows the names.
            continue
        if kind is None or entry_of(kind) is not None or name not in kind.__struct_fields__:
            way_out = "unknown setting; names are HUBWATCH_SECTION_FIELD"
            raise SettingsError(key, "...", way_out)
        if isinstance(tree.setdefault(section, {}), dict):
            several = isinstance(getattr(kind(), name), tuple | frozenset)
            text = environment[key]
            tree[section][name] = text.replace(",", " ").split() if several else text
            sources[f"{section}.{name}"] = key
    return sources


def _begins(said: str, sections: Iterable[str]) -> str:
    """Return the section that a variable names; empty = none of these."""
    return max((one for one in sections if said.startswith(f"{one}_")), key=len, default="")


def _off(tree: Mapping[str, Any]) -> frozenset[str]:
    given = tree.get("features")
    off = given.get("off") if isinstance(given, Mapping) else None
    return frozenset(map(str, off)) if isinstance(off, list | tuple) else frozenset()

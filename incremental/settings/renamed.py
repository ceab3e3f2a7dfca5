"""Renamed settings: an old name still works, with a warning that gives the new one."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from incremental.errors import SettingsError

logger = logging.getLogger("hubwatch.settings")

SECTIONS = {"history": "refresh"}
NAMES = {
    ("news", "look_share"): "verify_share",
    ("revisit", "whole_requests_per_day"): "total_requests_per_day",
}


def with_new_names(tree: dict[str, Any], where: str) -> dict[str, Any]:
    """Return *tree* with current names; the file itself is not changed.

    Raises:
        SettingsError: a setting is given under both names.
    """
    for old, new in SECTIONS.items():
        if isinstance(tree.get(old), dict):
            _refuse_both(tree, old, new, "")
            tree = {new if name == old else name: value for name, value in tree.items()}
            logger.warning("%s: [%s] is now [%s]; please rename it", where, old, new)
    for (section, old), new in NAMES.items():
        fields = tree.get(section)
        if isinstance(fields, dict) and old in fields:
            _refuse_both(fields, old, new, f"{section}.")
            tree |= {section: {new if name == old else name: fields[name] for name in fields}}
            logger.warning("%s: %s in [%s] is now %s; please rename it", where, old, section, new)
    return tree


def with_new_variables(environment: Mapping[str, str], prefix: str) -> dict[str, str]:
    """Return the environment with current names of settings.

    Raises:
        SettingsError: a setting is given under both names.
    """
    found = dict(environment)
    for name in environment:
        new = _variable(name.removeprefix(prefix)) if name.startswith(prefix) else None
        if new is not None:
            _refuse_both(environment, name, prefix + new, "")
            found[prefix + new] = found.pop(name)
            logger.warning("%s is now %s; please rename it", name, prefix + new)
    return found


def _variable(name: str) -> str | None:
    """Return the new name of ``SECTION_FIELD``; None = not renamed."""
    for (section, old), new in NAMES.items():
        if name == f"{section}_{old}".upper():
            return f"{section}_{new}".upper()
    section, _, field = name.partition("_")
    new_section = SECTIONS.get(section.lower())
    return f"{new_section.upper()}_{field}" if new_section else None


def _refuse_both(names: Mapping[str, object], old: str, new: str, where: str) -> None:
    if new in names:
        way_out = f"is the old name of {where}{new}, which is also set; remove {where}{old}"
        raise SettingsError(f"{where}{old}", "...", way_out)

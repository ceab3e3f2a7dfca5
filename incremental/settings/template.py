"""The settings file that ``hubwatch init`` writes, and ``docs/settings.md``."""

import json
import textwrap
from enum import StrEnum

from incremental.settings.reference import Section, Setting, reference

_WIDTH = 100
_HEAD = """\
# Hubwatch settings. Remove the "# " before a name to change its value; until then it is the default.
# Lines that begin with ## explain. A variable in the environment outranks this file:
# HUBWATCH_REVISIT_REQUESTS_PER_DAY is requests_per_day in [revisit].
# `hubwatch settings` shows what is in force.
"""
_INTRO = (
    "# Settings\n\nEnglish | [简体中文](zh/settings.md)\n\n"
    "Everything has a default. `hubwatch init` writes `hubwatch.toml` with every setting "
    "below, commented out at its default; `hubwatch settings` shows what is in force and where each value "
    "comes from.\nA variable in the environment outranks the file: `HUBWATCH_REVISIT_REQUESTS_PER_DAY` is "
    "`requests_per_day` in `[revisit]`; lists are separated by commas. An error names the setting, its value "
    "and what it takes.\n\nThis page is written from the types in `incremental/settings/`: "
    "`python -m incremental.settings.template > docs/settings.md`.\n"
)


def settings_template() -> str:
    """Return TOML with every setting explained and commented out at its default."""
    return "\n".join([_HEAD, *map(_table, reference())])


def _table(section: Section) -> str:
    # A list is empty by default, so its heading is commented out as well.
    lines = [
        *([] if section.several else [section.heading]),
        f"## {_plain(section.says)}",
        *([f"# {section.heading}"] if section.several else []),
    ]
    for one in section.settings:
        about = f" ({one.kind})" if one.kind != "text" else ""
        explained = _plain(one.says) + about
        lines += textwrap.wrap(explained, _WIDTH, initial_indent="## ", subsequent_indent="## ")
        lines.append(_line(one))
    return "\n".join(lines) + "\n"


def _line(one: Setting) -> str:
    if one.default is None and not one.several:
        return f"## Not set; for example {one.name} = {_toml(one.example)}"
    return f"# {one.name} = {_toml(one.example)}"


def settings_document() -> str:
    """Return the reference in Markdown."""
    parts = [_INTRO]
    for section in reference():
        rows = [f"## {section.heading}", "", section.says, ""]
        rows += ["| setting | default | takes | meaning |", "| --- | --- | --- | --- |"]
        rows += [_row(one) for one in section.settings]
        parts.append("\n".join(rows) + "\n")
    return "\n".join(parts)


def _row(one: Setting) -> str:
    default = "not set" if one.default is None else f"`{_toml(one.default)}`"
    cells = (f"`{one.name}`", "required" if one.required else default, one.kind, one.says)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _plain(text: str) -> str:
    return text.replace("`", "")


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple | set | frozenset):
        return f"[{', '.join(_toml(one) for one in value)}]"
    if isinstance(value, dict):
        pairs = ", ".join(f'"{name}" = {_toml(one)}' for name, one in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, StrEnum):
        return json.dumps(value.value)
    if isinstance(value, float):
        return f"{value:.12g}"
    # TOML basic strings share JSON's escapes.
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else f"{value}"


if __name__ == "__main__":
    print(settings_document(), end="")  # noqa: T201 - a program

"""What is set: ``settings``."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import msgspec
import typer

from incremental.base.errors import without_credentials
from incremental.interfaces.cli.common import print_list, say, wants_json
from incremental.settings import Settings, settings_path
from incremental.settings.loading import load_with_sources
from incremental.settings.reference import Section, reference

_HIDDEN = "..."


def settings(
    context: typer.Context,
    *,
    changed: Annotated[
        bool, typer.Option("--changed", help="Only what differs from the defaults.")
    ] = False,
) -> None:
    """Show the settings in force, and where each value comes from: file, environment or default.

    Passwords, keys and addresses that hold one are not shown.
    """
    loaded, _, sources = load_with_sources(context.obj)
    rows = [
        row
        for one in reference(frozenset(loaded.features.off))
        for row in _rows(one, _values(loaded, one.name), sources)
        if not changed or row["source"] != "default"
    ]
    path = settings_path(context.obj)
    if not wants_json(context):
        shown = f"file: {path.resolve()}" if path.is_file() else f"there is no file {path}"
        say(f"{shown}; every setting is explained in docs/settings.md and by: hubwatch init")
    facts = {"file": str(path) if path.is_file() else None, "settings": rows}
    table = [(row["setting"], _text(row["value"]), row["source"]) for row in rows]
    columns = ("setting", "value", "from")
    print_list(context, facts, "Settings", columns, table, empty="every setting is at its default")


def _values(loaded: Settings, section: str) -> Any:  # noqa: ANN401 - plain values
    head, _, array = section.partition(".")
    own = getattr(loaded, head, None)
    values = msgspec.to_builtins(loaded.of(loaded.enabled.section(head)) if own is None else own)
    return values[array] if array else values


def _rows(section: Section, values: Any, sources: Mapping[str, str]) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - likewise
    """Yield the settings of a section; of an entry of an array, those that are set."""
    for number, entry in enumerate(values if section.several else [values]):
        where = f"{section.name}[{number}]" if section.several else section.name
        for one in section.settings:
            value = entry[one.name]
            source = sources.get(f"{where}.{one.name}", "default")
            if section.several:
                if not one.required and value == msgspec.to_builtins(one.default):
                    continue
                source = "file"
            shown = _HIDDEN if value and one.secret else without_credentials(value)
            yield {"setting": f"{where}.{one.name}", "value": shown, "source": source}


def _text(value: Any) -> str:  # noqa: ANN401 - likewise
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "(none)"
    if isinstance(value, float):
        return f"{value:,g}" if abs(value) < 1 else f"{value:,.10g}"
    return "(not set)" if value in (None, "", {}) else str(value)

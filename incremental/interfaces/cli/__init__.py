"""The command line: ``hubwatch COMMAND``.

Exit codes, the same for every command::

    0    success
    1    partial failure; details on stderr
    2    usage error, invalid settings, or an unusable file, folder or model; nothing was done
    3    the store is locked, damaged or from a later version
    4    not found
    130  stopped by a second signal

:data:`PURPOSES` maps each command of the core to its function; features add theirs. A module is imported only
when one of its commands runs, so modules import what they need at their top and ``--help`` stays quick.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from hubwatch.errors import HubwatchError
from incremental.base.attempts import Bug, attempt
from incremental.base.errors import NotFoundError
from incremental.base.features import found, imported, switched_off, target_of
from store.errors import StoreError, StorePlaceError

EXIT_USAGE = 2
EXIT_STORE = 3
EXIT_NOT_FOUND = 4

# Key of a group's help text.
HELP = ""
# By purpose, in the order of the help: ``module:function`` below this package, or a group of commands.
PURPOSES: dict[str, dict[str, Any]] = {
    "Start": {
        "init": "sites:init",
        "add": "sites:add",
        "run": "running:run",
        "status": "status:status",
    },
    "Read": {
        "new": "new:new",
        "search": "searching:search",
        "show": "one_page:show",
        "check": "explaining:check",
        "history": "one_page:history",
        "diff": "one_page:diff",
        "searches": {
            HELP: "Saved searches.",
            "save": "searching:save",
            "list": "searching:list_searches",
            "run": "searching:run",
            "remove": "searching:remove",
        },
    },
    "Follow": {
        "backfills": "backfills:backfills",
        "copies": "one_page:copies",
    },
    "Mark and correct": {
        "read": "searching:read",
        "unread": "searching:unread",
        "star": "searching:star",
        "unstar": "searching:unstar",
        "relevant": "topic:relevant",
        "irrelevant": "topic:irrelevant",
        "label": "labelling:label",
        "labels": {
            HELP: "Export and import labels.",
            "export": "labelling:export_file",
            "import": "labelling:import_file",
        },
        "models": {
            HELP: "Versions of the hub classifier.",
            "list": "hub_models:list_versions",
            "learn": "hub_models:learn",
            "use": "hub_models:use",
            "rollback": "hub_models:rollback",
        },
    },
    "Topics": {
        "topic": {
            HELP: "Topics: what you want, from example pages and keywords.",
            "add": "topic:add",
            "list": "topic:list_topics",
            "show": "topic:show",
            "edit": "topic:edit",
            "forget": "topic:forget",
            "test": "trying:try_out",
            "pause": "topic:pause",
            "resume": "topic:resume",
            "remove": "topic:remove",
        },
    },
    "Operate": {
        "serve": "serving:serve",
        "doctor": "doctor:doctor",
        "list": "sites:list_sites",
        "hubs": "explaining:hubs",
        "edit": "editing:edit",
        "visit": "editing:visit",
        "pause": "sites:pause",
        "resume": "sites:resume",
        "remove": "sites:remove",
        "settings": "settings_shown:settings",
        "token": {
            HELP: "Access tokens for the web page, the API and feed readers.",
            "add": "tokens:add",
            "list": "tokens:list_tokens",
            "remove": "tokens:remove",
        },
        "compact": "compacting:compact",
    },
}
_ROOM = "incremental.interfaces.cli."


def commands(off: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return all commands, those of features included, but for features that are *off*."""
    return {name: target for table in _by_purpose(off).values() for name, target in table.items()}


def _by_purpose(off: frozenset[str]) -> dict[str, dict[str, Any]]:
    tables = {purpose: dict(table) for purpose, table in PURPOSES.items()}
    for feature in found(off).on:
        for purpose, table in feature.commands.items():
            tables.setdefault(purpose, {}).update(table)
    return tables


class LazyGroup(TyperGroup):
    """A group of commands, each imported only when called."""

    def __init__(self, *, table: Mapping[str, Any] | None = None, **attributes: Any) -> None:  # noqa: ANN401 - Typer's own
        super().__init__(**attributes)
        self.table: dict[str, Any] = {}
        for purpose, commands in PURPOSES.items() if table is None else [(None, table)]:
            self._add(commands, purpose)

    def _add(self, table: Mapping[str, Any], purpose: str | None) -> None:
        self.table |= table
        for name, target in table.items():
            about: dict[str, Any] = {"name": name, "rich_help_panel": purpose}
            if isinstance(target, Mapping):
                group = LazyGroup(table=target, help=target[HELP], no_args_is_help=True, **about)
                self.commands[name] = group
            elif name != HELP:
                self.commands[name] = TyperCommand(callback=None, **about)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:  # noqa: ANN401 - Typer has a Click of its own
        """Load the called command."""
        if args[0] not in self.table:
            self.add_features(ctx)
        target = self.table.get(args[0])
        if args[0] and isinstance(target, str):
            self.commands[args[0]] = loaded(args[0], target)
        return super().resolve_command(ctx, args)

    def add_features(self, _ctx: Any) -> None:  # noqa: ANN401 - likewise
        """Add the commands of features; a group below the top has none."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - likewise
        """Fill in the summaries of the commands."""
        self.add_features(ctx)
        for name, target in self.table.items():
            if name and isinstance(target, str):
                self.commands[name].help = summary(target)
        super().format_help(ctx, formatter)


class _Top(LazyGroup):
    def add_features(self, ctx: Any) -> None:  # noqa: ANN401 - likewise
        for purpose, table in _by_purpose(switched_off(ctx.params.get("config"))).items():
            self._add({n: target for n, target in table.items() if n not in self.table}, purpose)


def loaded(name: str, target: str) -> Any:  # noqa: ANN401 - a command of Click's
    """Return a command, with its module imported.

    Raises:
        FeatureError: it cannot be imported.
    """
    found = imported(name, target) if "." in target else target_of(_whole(target))
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    single.command(name)(found)
    return typer.main.get_command(single)


def _whole(target: str) -> str:
    """Return a target with the name of its package."""
    return target if "." in target else _ROOM + target


def summary(target: str) -> str:
    """Return the first paragraph of a command's docstring, read without importing its module."""
    module, _, function = _whole(target).partition(":")
    return _docstrings(module).get(function, "").partition("\n\n")[0]


@cache
def _docstrings(module: str) -> dict[str, str]:
    done = attempt(lambda: find_spec(module))
    if isinstance(done, Bug) or done is None or done.origin is None:
        return {}
    tree = ast.parse(Path(done.origin).read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {node.name: ast.get_docstring(node) or "" for node in functions}


app = typer.Typer(
    name="hubwatch",
    cls=_Top,
    help="Watches the hub pages of many sites and announces new pages.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.callback()
def options(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            "-c",
            metavar="FILE",
            help="Settings file (default: ./hubwatch.toml).",
            # It says whose commands the help lists.
            is_eager=True,
        ),
    ] = None,
) -> None:
    """Store the global options."""
    context.obj = config


def main() -> None:
    """Run the command line and exit with its code.

    A closed pipe (head, a pager that was quit) is no failure, although Typer exits with 1.
    """
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except (BrokenPipeError, SystemExit) as ending:
        if not isinstance(ending, BrokenPipeError) and not isinstance(
            ending.__context__, BrokenPipeError
        ):
            raise
        # Flushing the rest at exit would hit the broken pipe again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except NotFoundError as error:
        _leave(error, EXIT_NOT_FOUND)
    except HubwatchError as error:
        of_store = isinstance(error, StoreError) and not isinstance(error, StorePlaceError)
        _leave(error, EXIT_STORE if of_store else EXIT_USAGE)


def _leave(error: Exception, code: int) -> None:
    # Only who fails needs it.
    from incremental.interfaces.cli.logs import say_error  # noqa: PLC0415

    say_error(f"hubwatch: {error}")
    sys.exit(code)

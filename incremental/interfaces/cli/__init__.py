"""The command line: ``hubwatch COMMAND``.

Exit codes, the same for every command::

    0    success
    1    partial failure; details on stderr
    2    usage error, invalid settings, or an unusable file, folder or model; nothing was done
    3    the store is locked, damaged or from a later version
    4    not found
    130  stopped by a second signal

:data:`COMMANDS` maps each command to its function. A module is imported only when one of its commands
runs, so modules import what they need at their top and ``--help`` stays quick.
"""

from __future__ import annotations

import ast
import os
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from hubwatch.errors import HubwatchError
from incremental.base.errors import NotFoundError
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
        "changes": "watching:changes",
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
        "watch-page": {
            HELP: "Pages and patterns watched for changes of their text.",
            "add": "watching:add",
            "list": "watching:list_watches",
            "show": "watching:show",
            "pause": "watching:pause",
            "resume": "watching:resume",
            "check": "watching:check",
            "remove": "watching:remove",
        },
        "notify": {
            HELP: "Message channels for new pages.",
            "list": "messages:list_channels",
            "add": "messages:add",
            "remove": "messages:remove",
            "test": "messages:try_channel",
            "outbox": "messages:outbox",
            "retry": "messages:retry",
        },
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
        "discover": {
            HELP: "Find further sites for a topic.",
            "run": "discovering:run",
            "status": "discovering:status",
            "proposals": "discovering:proposals",
            "accept": "discovering:accept",
            "reject": "discovering:reject",
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
        "mcp": "assistants:mcp",
        "compact": "compacting:compact",
    },
    "Move data": {
        "import": "transferring:import_list",
        "export": "transferring:export",
        "backup": "transferring:backup",
        "restore": "transferring:restore",
        "migrate-store": "transferring:migrate_store",
    },
}
COMMANDS: dict[str, Any] = {
    name: target for commands in PURPOSES.values() for name, target in commands.items()
}
_PURPOSE = {name: purpose for purpose, commands in PURPOSES.items() for name in commands}


class LazyGroup(TyperGroup):
    """A group of commands, each imported only when called."""

    def __init__(self, *, table: dict[str, Any] = COMMANDS, **attributes: Any) -> None:  # noqa: ANN401 - Typer's own
        super().__init__(**attributes)
        self.table = table
        purposes = _PURPOSE if table is COMMANDS else {}
        for name, target in table.items():
            about: dict[str, Any] = {"name": name, "rich_help_panel": purposes.get(name)}
            if isinstance(target, dict):
                group = LazyGroup(table=target, help=target[HELP], no_args_is_help=True, **about)
                self.commands[name] = group
            elif name != HELP:
                self.commands[name] = TyperCommand(callback=None, **about)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:  # noqa: ANN401 - Typer has a Click of its own
        """Load the called command."""
        target = self.table.get(args[0])
        if args[0] and isinstance(target, str):
            self.commands[args[0]] = loaded(args[0], target)
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - likewise
        """Fill in the summaries of the commands."""
        for name, target in self.table.items():
            if name and isinstance(target, str):
                self.commands[name].help = summary(target)
        super().format_help(ctx, formatter)


def loaded(name: str, target: str) -> Any:  # noqa: ANN401 - a command of Click's
    """Return a command, with its module imported."""
    module, _, function = target.partition(":")
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    single.command(name)(getattr(import_module(f"incremental.interfaces.cli.{module}"), function))
    return typer.main.get_command(single)


def summary(target: str) -> str:
    """Return the first paragraph of a command's docstring, read without importing its module."""
    module, _, function = target.partition(":")
    return _docstrings(module)[function].partition("\n\n")[0]


@cache
def _docstrings(module: str) -> dict[str, str]:
    tree = ast.parse(Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {node.name: ast.get_docstring(node) or "" for node in functions}


app = typer.Typer(
    name="hubwatch",
    cls=LazyGroup,
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
            "--config", "-c", metavar="FILE", help="Settings file (default: ./hubwatch.toml)."
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

"""The command line: ``hubwatch COMMAND``.

Exit codes, the same for every command::

    0    done
    1    done in part: something that was asked for failed, and was said on stderr
    2    wrong usage, wrong settings, or a file, folder or model that cannot be used; nothing was done
    3    the store is locked, damaged or from a later version
    4    nothing is known by that name
    130  ended at once by a second signal

:data:`COMMANDS` names each command and the function that carries it out. Its module is imported when the
command runs, so modules of commands import what they need at their top, and ``--help`` is quick.
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

from hubwatch_errors import HubwatchError
from incremental.errors import NotFoundError
from store.errors import StoreError, StorePlaceError

EXIT_USAGE = 2
EXIT_STORE = 3
EXIT_NOT_FOUND = 4

# The key of what the help page says of a group.
HELP = ""
# Every command: ``module:function`` below this package, or a group of commands.
COMMANDS: dict[str, Any] = {
    "init": "sites:init",
    "add": "sites:add",
    "remove": "sites:remove",
    "pause": "sites:pause",
    "resume": "sites:resume",
    "list": "sites:list_sites",
    "check": "explaining:check",
    "new": "new:new",
    "search": "searching:search",
    "hubs": "explaining:hubs",
    "status": "explaining:status",
    "read": "searching:read",
    "unread": "searching:unread",
    "star": "searching:star",
    "unstar": "searching:unstar",
    "searches": {
        HELP: "Searches with a name.",
        "save": "searching:save",
        "list": "searching:list_searches",
        "run": "searching:run",
        "remove": "searching:remove",
    },
    "history": "one_page:history",
    "diff": "one_page:diff",
    "show": "one_page:show",
    "copies": "one_page:copies",
    "label": "labelling:label",
    "labels": {
        HELP: "Take labels from one machine to another, or train with them.",
        "export": "labelling:export_file",
        "import": "labelling:import_file",
    },
    "models": {
        HELP: "The versions of the hub classifier.",
        "list": "hub_models:list_versions",
        "learn": "hub_models:learn",
        "use": "hub_models:use",
        "rollback": "hub_models:rollback",
    },
    "topic": {
        HELP: "What you want: topics by example pages and key words.",
        "add": "topic:add",
        "list": "topic:list_topics",
        "show": "topic:show",
        "test": "topic:try_out",
        "pause": "topic:pause",
        "resume": "topic:resume",
        "remove": "topic:remove",
    },
    "relevant": "topic:relevant",
    "irrelevant": "topic:irrelevant",
    "discover": {
        HELP: "Find further sites of a topic, beginning from its pages.",
        "run": "discovering:run",
        "status": "discovering:status",
        "proposals": "discovering:proposals",
        "accept": "discovering:accept",
        "reject": "discovering:reject",
    },
    "notify": {
        HELP: "Announce what is new by message, over the channels of the settings.",
        "list": "messages:list_channels",
        "test": "messages:try_channel",
        "outbox": "messages:outbox",
        "retry": "messages:retry",
    },
    "run": "running:run",
    "doctor": "doctor:doctor",
    "serve": "serving:serve",
    "token": {
        HELP: "Tokens for programs and feed readers that ask the web page or the API.",
        "add": "tokens:add",
        "list": "tokens:list_tokens",
        "remove": "tokens:remove",
    },
    "import": "transferring:import_list",
    "export": "transferring:export",
    "backup": "transferring:backup",
    "restore": "transferring:restore",
}


class LazyGroup(TyperGroup):
    """Commands of a table, each imported when it is called; until then only its summary is read."""

    def __init__(self, *, table: dict[str, Any] = COMMANDS, **attributes: Any) -> None:  # noqa: ANN401 - Typer's own
        super().__init__(**attributes)
        self.table = table
        self.commands = {
            name: LazyGroup(name=name, table=target, help=target[HELP], no_args_is_help=True)
            if isinstance(target, dict)
            else TyperCommand(name, callback=None)
            for name, target in table.items()
            if name != HELP
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:  # noqa: ANN401 - Typer has a Click of its own
        """Load the command that is called."""
        target = self.table.get(args[0])
        if args[0] and isinstance(target, str):
            self.commands[args[0]] = loaded(args[0], target)
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - likewise
        """Write the help page with the summaries of the commands."""
        for name, target in self.table.items():
            if name and isinstance(target, str):
                self.commands[name].help = summary(target)
        super().format_help(ctx, formatter)


def loaded(name: str, target: str) -> Any:  # noqa: ANN401 - a command of Click's
    """Return the command of a table's entry, with its module imported."""
    module, _, function = target.partition(":")
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    single.command(name)(getattr(import_module(f"incremental.cli.{module}"), function))
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
    help="Finds new pages: watches the hub pages of many sites and announces what is new.",
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
            "--config", "-c", metavar="FILE", help="Settings (default: ./hubwatch.toml if present)."
        ),
    ] = None,
) -> None:
    """Remember the options that stand before the command."""
    context.obj = config


def main() -> None:
    """Run the command line and leave with its exit code.

    A reader that has had enough (head, a pager that was quit) is no failure; Typer says 1 to that.
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
        # What is still buffered would break the pipe once more when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except NotFoundError as error:
        _leave(error, EXIT_NOT_FOUND)
    except HubwatchError as error:
        of_store = isinstance(error, StoreError) and not isinstance(error, StorePlaceError)
        _leave(error, EXIT_STORE if of_store else EXIT_USAGE)


def _leave(error: Exception, code: int) -> None:
    # Only who fails needs it.
    from incremental.cli.logs import say_error  # noqa: PLC0415

    say_error(f"hubwatch: {error}")
    sys.exit(code)

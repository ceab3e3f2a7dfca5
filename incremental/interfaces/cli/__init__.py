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

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from hubwatch.errors import HubwatchError
from incremental.base.errors import NotFoundError
from incremental.base.features import found, imported, switched_off, target_of
from store.driver import put_off_driver
from store.errors import StoreError, StorePlaceError

EXIT_USAGE = 2
EXIT_STORE = 3
EXIT_NOT_FOUND = 4

# Key of a group's help text.
HELP = ""
# By purpose, in the order of the help: ``module:function`` below this package and a line of help, or a group.
PURPOSES: dict[str, dict[str, Any]] = {
    "Start": {
        "init": "sites:init Write a commented settings file to start from.",
        "add": "sites:add Watch the sites of these URLs, or change their options.",
        "run": "running:run Run the daemon: visit hubs when worthwhile, and print new pages.",
        "status": "status:status Show what the daemon does, what is wrong, and how each site fares.",
    },
    "Read": {
        "new": "new:new List new pages, newest first.",
        "search": "new:search Search announced pages by words, or by meaning.",
        "show": "one_page:show Show the stored facts and text of a page, now or at a given time.",
        "check": "explaining:check Explain how a URL is treated, and why it was (not) found.",
        "history": "one_page:history Show the history of a page: changes, sightings, visits.",
        "diff": "one_page:diff Show what changed in the text of a page, without noise.",
        "searches": {
            HELP: "Saved searches.",
            "save": "new:save Save a search; the web page, feeds and messages can use it.",
            "list": "new:list_searches List the saved searches.",
            "remove": "new:remove Delete a saved search.",
        },
    },
    "Mark and correct": {
        "relevant": "topic:relevant Mark pages as relevant to a topic; it learns within seconds.",
        "irrelevant": "topic:irrelevant Mark pages as irrelevant to a topic; it learns within seconds.",
        "label": "editing:label Label pages as hubs or articles, at once and for training.",
        "models": {
            HELP: "Versions of the hub classifier.",
            "list": "hub_models:list_versions List the versions, oldest first, and the one in use.",
            "learn": "hub_models:learn Train on all labels now: yours, and those from page behaviour.",
            "labels": "hub_models:labels Write all labels to a file, for the training scripts.",
            "use": "hub_models:use Switch to a version, or to the one before; a running daemon picks it up.",
        },
    },
    "Topics": {
        "topic": {
            HELP: "Topics: what you want, from a sentence, example pages or keywords.",
            "add": "topic:add Create a topic, or add examples to an existing one.",
            "list": "topic:list_topics List the topics with their state and page counts.",
            "show": "topic:show Show a topic's examples, its top terms, and what is missing.",
            "edit": "topic:edit Change a topic: its name, words, sentence, method or tags; pause it.",
            "forget": "topic:forget Remove pages from what a topic learns from.",
            "remove": "topic:remove Delete a topic with its examples and corrections; pages stay.",
        },
    },
    "Operate": {
        "serve": "running:serve Serve the web page, the API and the feeds; fetch nothing.",
        "doctor": "doctor:doctor Check the installation, the settings and the store; change nothing.",
        "list": "sites:list_sites List the watched sites.",
        "hubs": "explaining:hubs List hubs: new pages, next visit and the reason.",
        "edit": "editing:edit Change a site, or show what can be changed.",
        "visit": "editing:visit Visit pages, hubs or sites now, even over the budget.",
        "pause": "sites:pause Pause sites: nothing is fetched from them until they are resumed.",
        "resume": "sites:resume Resume paused sites.",
        "remove": "sites:remove Stop watching sites and delete everything found on them.",
        "settings": "settings_shown:settings Show the settings in force, and where each comes from.",
        "token": {
            HELP: "Access tokens for the web page, the API and feed readers.",
            "add": "tokens:add Create a token, shown only once.",
            "list": "tokens:list_tokens List the tokens, without their secrets.",
            "remove": "tokens:remove Remove tokens and end the browser sessions started with them.",
        },
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
                line = target.partition(" ")[2]
                self.commands[name] = TyperCommand(callback=None, help=line, **about)

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
        """List the commands of features as well."""
        self.add_features(ctx)
        super().format_help(ctx, formatter)


class _Top(LazyGroup):
    def add_features(self, ctx: Any) -> None:  # noqa: ANN401 - likewise
        for purpose, table in _by_purpose(switched_off(ctx.params.get("config"))).items():
            self._add({n: target for n, target in table.items() if n not in self.table}, purpose)


def loaded(name: str, listed: str) -> Any:  # noqa: ANN401 - a command of Click's
    """Return a command, with its module imported.

    Raises:
        FeatureError: it cannot be imported.
    """
    put_off_driver()
    # Rich takes its time, which help and version do without.
    from incremental.interfaces.cli.common import JSON  # noqa: PLC0415

    target = listed.partition(" ")[0]
    found = imported(name, target) if "." in target else target_of(_ROOM + target)
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    single.command(name)(found)
    command: Any = typer.main.get_command(single)
    as_json = TyperOption(
        param_decls=["--json"],
        is_flag=True,
        help="Print JSON instead of a table.",
        expose_value=False,
        callback=lambda context, _, value: context.meta.__setitem__(JSON, value),
    )
    command.params.append(as_json)
    return command


app = typer.Typer(
    name="hubwatch",
    cls=_Top,
    help="Watches the hub pages of many sites and announces new pages.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _show_version(asked: bool) -> None:
    if asked:
        from importlib import metadata  # noqa: PLC0415 - quick --help

        typer.echo(f"hubwatch {metadata.version('hubwatch')}")
        raise typer.Exit


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
    version: Annotated[  # noqa: ARG001 - its callback shows it
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version)
    ] = False,
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

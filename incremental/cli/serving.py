"""The web page, the API and the feeds: ``serve``, ``token add list remove``."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incremental.cli.common import Json, State, now, print_json, print_table, say, utc, when
from incremental.errors import NotFoundError, SettingsError

if TYPE_CHECKING:
    from incremental.clock import Clock
    from incremental.settings import Settings
    from incremental.websub.callback import CallbackAnswer, CallbackRequest
    from store import Store

    Receive = Callable[[CallbackRequest, float], CallbackAnswer]

token = typer.Typer(
    help="Tokens for programs and feed readers that ask the web page or the API.",
    no_args_is_help=True,
)
_EXTRA = "the web page needs an extra: pip install 'hubwatch[web]'"


class Scope(StrEnum):
    """What a token allows."""

    READ = "read"
    WRITE = "write"


def serve(context: typer.Context, *, as_json: Json = False) -> None:
    """Serve the web page, the API and the feeds without fetching anything; Ctrl-C ends.

    `hubwatch run` serves them by itself. This is for reading a store while no daemon runs, or from a
    process of its own beside one whose settings say `enabled = false` under *web*.
    """
    from incremental.clock import SystemClock  # noqa: PLC0415 - quick --help
    from incremental.storage import (  # noqa: PLC0415
        keep_private,
        open_configured_store,
        same_settings,
    )

    state: State = context.obj
    settings, folder = state.settings()
    same_settings(settings, folder, state.file())
    keep_private(settings, folder, state.file())
    try:
        from incremental.web.context import Web  # noqa: PLC0415 - an extra, and half a second
        from incremental.web.server import Listener  # noqa: PLC0415
    except ImportError:
        raise SettingsError("web", "serve", _EXTRA) from None
    with open_configured_store(settings, folder) as store:
        web = Web(settings, folder, SystemClock(), store, crawling=False)
        listener = Listener(web)
        if as_json:
            print_json({"url": listener.url})
        else:
            say(f"the web page is at {listener.url}; nothing is fetched; Ctrl-C ends")
        listener.serve()


@contextlib.contextmanager
def web_beside(
    store: Store, settings: Settings, folder: Path, clock: Clock, *, receive: Receive | None = None
) -> Iterator[str | None]:
    """Serve the store while the block runs; give the address, or None after saying why there is none.

    *receive* takes in what WebSub hubs send. A port that is taken, or an extra that is not installed,
    is no reason not to crawl.

    Raises:
        SettingsError: others could reach the page, and nothing would be asked of them.
    """
    try:
        from incremental.web.context import Web  # noqa: PLC0415 - an extra, and half a second
        from incremental.web.server import ListenError, served  # noqa: PLC0415
    except ImportError:
        say(f"hubwatch: {_EXTRA}")
        yield None
        return
    web = Web(settings, folder, clock, store, receive=receive)
    with contextlib.ExitStack() as stack:
        try:
            address = stack.enter_context(served(web))
        except ListenError as error:
            say(f"hubwatch: no web page this time: {error}")
            address = None
        yield address


@token.command()
def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is for.")],
    *,
    scope: Annotated[Scope, typer.Option(help="write allows changes as well.")] = Scope.READ,
    as_json: Json = False,
) -> None:
    """Make a token. It is shown this once; from then on everybody needs one, or the password."""
    from incremental.web.access import new_token  # noqa: PLC0415 - quick --help

    state: State = context.obj
    with state.open() as store:
        secret = new_token(store, name, scope.value, now=now())
    if as_json:
        print_json({"name": name, "scope": scope.value, "token": secret})
        return
    say(f"a token to {scope.value}, for {name}; it is shown only now:")
    print(secret)  # noqa: T201 - this is what was asked for


@token.command("list")
def list_(context: typer.Context, *, as_json: Json = False) -> None:
    """List the tokens; the secrets themselves are not kept."""
    state: State = context.obj
    with state.open() as store:
        rows = store.access.tokens()
    if as_json:
        facts = [
            {"id": row.id, "name": row.name, "scope": row.scope, "created": utc(row.created_at)}
            for row in rows
        ]
        print_json(facts)
    elif not rows:
        say("no tokens; make one: hubwatch token add NAME")
    else:
        table = [(row.id, row.name, row.scope, when(row.created_at)) for row in rows]
        print_table("Tokens", ("id", "name", "scope", "made"), table)


@token.command()
def remove(
    context: typer.Context,
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Names or ids.")],
    *,
    as_json: Json = False,
) -> None:
    """Remove tokens, and end the sessions that were begun with them."""
    state: State = context.obj
    with state.open() as store:
        rows = store.access.tokens()
        gone = [row for row in rows if row.name in names or str(row.id) in names]
        known = {row.name for row in gone} | {str(row.id) for row in gone}
        if unknown := [name for name in names if name not in known]:
            raise NotFoundError(f"no token is called {', '.join(unknown)}")
        for row in gone:
            store.access.remove(row.id)
    if as_json:
        print_json({"removed": [row.name for row in gone]})
    else:
        say(f"removed {', '.join(row.name for row in gone)}")

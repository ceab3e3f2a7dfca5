"""Access tokens: ``token add list remove``."""

from typing import Annotated, Literal

import typer

from incremental.base.errors import InputError, NotFoundError
from incremental.base.tagging import checked_name
from incremental.interfaces.cli.common import (
    now,
    open_store,
    print_list,
    printed_json,
    report,
    say,
    settings_of,
)
from incremental.interfaces.results.schema import utc, when
from incremental.interfaces.web.access import new_token


def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is for.")],
    *,
    scope: Annotated[
        Literal["read", "write"], typer.Option(help="read, or write for changes as well.")
    ] = "read",
) -> None:
    """Create a token, shown only once; from then on all access needs a token or the password."""
    name = checked_name("name", name)
    with open_store(context) as store:
        before = store.access.tokens()
        if any(row.name == name for row in before):
            raise InputError("token", name, "is the name of another token; choose another")
        secret = new_token(store, name, scope, now=now())
        writes = any(row.scope == "write" for row in store.access.tokens())
    if printed_json(context, {"name": name, "scope": scope, "token": secret}):
        return
    say(f"{scope} token for {name}; it is shown only once:")
    print(secret)  # noqa: T201 - the result
    if settings_of(context)[0].web.password:
        return
    if not before:
        say("The web page was open to this machine; from now on it asks for a token.")
    if not writes:
        say(
            "No token may change anything yet, nor is there a password: hubwatch token add NAME "
            "--scope write"
        )


def list_tokens(context: typer.Context) -> None:
    """List the tokens, without their secrets."""
    with open_store(context) as store:
        rows = store.access.tokens()
    facts = [
        {"id": row.id, "name": row.name, "scope": row.scope, "created": utc(row.created_at)}
        for row in rows
    ]
    table = [(row.id, row.name, row.scope, when(row.created_at)) for row in rows]
    columns = ("id", "name", "scope", "created")
    empty = "no tokens; create one: hubwatch token add NAME"
    print_list(context, facts, "Tokens", columns, table, empty=empty)


def remove(
    context: typer.Context,
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Names or ids.")],
) -> None:
    """Remove tokens and end the browser sessions started with them."""
    with open_store(context) as store:
        rows = store.access.tokens()
        gone = [row for row in rows if row.name in names or str(row.id) in names]
        known = {row.name for row in gone} | {str(row.id) for row in gone}
        if unknown := [name for name in names if name not in known]:
            raise NotFoundError(f"no token is called {', '.join(unknown)}")
        for row in gone:
            store.access.remove(row.id)
    names = [row.name for row in gone]
    report(context, {"removed": names}, f"removed {', '.join(names)}")

"""Tools for assistants: ``mcp``."""

import typer

from incremental.base.errors import InputError
from incremental.interfaces.cli.common import now, settings_of
from incremental.settings.storage import open_configured_store

_EXTRA = "its packages are not installed yet: pip install 'hubwatch[mcp]'"


def mcp(context: typer.Context) -> None:
    """Serve tools to an assistant over standard input and output (Model Context Protocol).

    An assistant starts this itself: give it the command `hubwatch -c FILE mcp`. Nothing is fetched or
    changed.
    """
    settings, folder = settings_of(context)
    try:
        from incremental.features.assistants.server import make_server  # noqa: PLC0415 - an extra, and a second
    except ImportError:
        raise InputError("hubwatch mcp", "", _EXTRA) from None
    with open_configured_store(settings, folder) as store:
        make_server(store, settings, folder, now).run()

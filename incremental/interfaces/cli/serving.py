"""The web page, the API and the feeds: ``serve``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import typer

from incremental.base.clock import Clock, SystemClock
from incremental.base.errors import InputError
from incremental.daemon.health import Health
from incremental.interfaces.cli.common import printed_json, settings_file, settings_of
from incremental.interfaces.cli.logs import begin_log, say
from incremental.settings import Settings
from incremental.settings.storage import (
    keep_private,
    note_settings,
    open_configured_store,
    same_settings,
)
from store import Store

_EXTRA = "its packages are not installed yet: pip install 'hubwatch[web]'"


def serve(context: typer.Context) -> None:
    """Serve the web page, the API and the feeds without fetching anything.

    `hubwatch run` serves them as well. Use this while no daemon runs, or in a separate process beside a
    daemon with `enabled = false` under [web].
    """
    settings, folder = settings_of(context)
    begin_log(settings)
    same_settings(settings, folder, settings_file(context))
    keep_private(settings, folder, settings_file(context))
    try:
        from incremental.interfaces.web.context import Web  # noqa: PLC0415 - an extra, and half a second
        from incremental.interfaces.web.server import Listener  # noqa: PLC0415
    except ImportError:
        raise InputError("the web page", "", _EXTRA) from None
    with open_configured_store(settings, folder) as store:
        note_settings(settings, folder, settings_file(context))
        web = Web(settings, folder, SystemClock(), store, crawling=False)
        listener = Listener(web)
        if not printed_json(context, {"url": listener.url}):
            say(f"web page at {listener.url}; nothing is fetched; Ctrl-C to stop")
        listener.serve()


@contextlib.contextmanager
def web_beside(
    store: Store,
    settings: Settings,
    folder: Path,
    clock: Clock,
    *,
    health: Health | None = None,
) -> Iterator[str | None]:
    """Serve the store while the block runs; yield the address, or None after printing why not.

    *health* is the daemon's. A busy port or a missing extra does not stop the crawler.

    Raises:
        SettingsError: the page would be reachable by others without any credential.
    """
    try:
        from incremental.interfaces.web.context import Web  # noqa: PLC0415 - an extra, and half a second
        from incremental.interfaces.web.server import ListenError, served  # noqa: PLC0415
    except ImportError:
        say(f"hubwatch: the web page: {_EXTRA}")
        yield None
        return
    web = Web(settings, folder, clock, store, health=health)
    with contextlib.ExitStack() as stack:
        try:
            address = stack.enter_context(served(web))
        except ListenError as error:
            say(f"hubwatch: running without the web page: {error}")
            address = None
        yield address

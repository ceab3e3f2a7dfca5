"""The command line: ``hubwatch COMMAND``.

Exit codes, the same for every command::

    0    done
    1    done in part: something that was asked for failed, and was said on stderr
    2    wrong usage, wrong settings, or a file, folder or model that cannot be used; nothing was done
    3    the store is locked, damaged or from a later version
    4    nothing is known by that name
    130  ended at once by a second signal

Commands live in rooms: :mod:`sites` (what is watched), :mod:`reading` (what was found),
:mod:`searching` (the reading list), :mod:`pages` (one page and its past), :mod:`labelling` (what
you say of it) and :mod:`running` (the daemon). What they need is imported when they run, so that
``--help`` is quick.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from hubwatch_errors import HubwatchError
from incremental.errors import NotFoundError
from store.errors import StoreError, StorePlaceError

EXIT_PARTIAL = 1
EXIT_USAGE = 2
EXIT_STORE = 3
EXIT_NOT_FOUND = 4


def main() -> None:
    """Run the command line and leave with its exit code."""
    from incremental.cli.app import app  # noqa: PLC0415 - Typer and Rich are the slow part of a help page

    try:
        _run(app)
    except HubwatchError as error:
        print(f"hubwatch: {error}", file=sys.stderr)  # noqa: T201 - a command line prints
        sys.exit(_exit_code(error))


def _exit_code(error: HubwatchError) -> int:
    if isinstance(error, NotFoundError):
        return EXIT_NOT_FOUND
    in_store = isinstance(error, StoreError) and not isinstance(error, StorePlaceError)
    return EXIT_STORE if in_store else EXIT_USAGE


def _run(app: Callable[[], object]) -> None:
    """Run *app*, which ends by SystemExit, and see its output out.

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

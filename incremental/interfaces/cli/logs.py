"""The log of long-running commands: lines for people, or one JSON object a line for machines.

::

    {"time": "2026-11-22T14:44:54.123Z", "level": "warning", "logger": "hubwatch.daemon",
     "message": "...", "exception": "Traceback ..."}     the last only where there is one

Where the lines go, and how long they are kept, is the platform's affair: they are written to stderr.
"""

import json
import logging
import sys
import threading
from datetime import UTC, datetime
from typing import Any

import typer

from incremental.settings import Settings

_TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_RUN = logging.getLogger("hubwatch.run")


class JsonFormatter(logging.Formatter):
    """Writes a record as one JSON object on one line.

    Whatever a site put into it: JSON escapes line feeds, and all but ASCII is escaped, because some
    readers end a line at other characters, too.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its end."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {
            "time": moment.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        if record.stack_info:
            line["stack"] = record.stack_info
        return json.dumps(line)


def begin_log(settings: Settings) -> None:
    """Send the log of this process to stderr in the form of the settings.

    In JSON nothing is written around it: what is said to people, what a library warns of and the
    trace of a bug become lines of the log as well.
    """
    # The reports of a run speak for it.
    name = "warning" if settings.daemon.log_level == "info" else settings.daemon.log_level
    level = logging.getLevelNamesMapping()[name.upper()]
    if settings.daemon.log_format == "text":
        logging.basicConfig(level=level, format=_TEXT)
        return
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    _RUN.setLevel(min(level, logging.INFO))
    logging.captureWarnings(capture=True)
    sys.excepthook = _log_bug
    threading.excepthook = lambda ended: _log_bug(*ended[:3])


def is_structured() -> bool:
    """Return whether this process writes its log as JSON."""
    return any(isinstance(one.formatter, JsonFormatter) for one in logging.getLogger().handlers)


def say(message: str) -> None:
    """Print a message on stderr, or in a structured log."""
    _print(message, err=True)


def tell(line: str) -> None:
    """Print a finding on stdout, or in a structured log."""
    _print(line)


def say_error(message: str) -> None:
    """Print on stderr why a command ends, or log it as an error."""
    _print(message, err=True, level=logging.ERROR)


def _print(line: str, *, err: bool = False, level: int = logging.INFO) -> None:
    if is_structured():
        _RUN.log(level, "%s", line)
        return
    # A terminal's file on a full disk stops nobody; a pipe that was closed is the reader's wish to end.
    try:
        typer.echo(line, err=err)
    except BrokenPipeError:
        raise
    except OSError as error:
        _RUN.debug("cannot print: %s", error)


def _log_bug(kind: Any, error: Any, trace: Any, /) -> None:  # noqa: ANN401 - as hooks of threads have them
    _RUN.critical("ended by a bug", exc_info=(kind, error, trace))

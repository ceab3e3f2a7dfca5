"""Calling a hook with one JSON object, bounded in time and output.

A program gets it on standard input: exit code 0 is success. Anything else is a failure, and the last line
that it printed the error. An address gets it by POST, signed, and answers with a status of 200 to 299.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from typing import Any

from incremental.base.clock import SystemClock
from incremental.base.plain_text import one_line
from incremental.base.texts import Text
from incremental.features.messages.delivery import MAX_ERROR, Delivered, without_secrets
from incremental.features.messages.settings import HookChannel
from incremental.fetch.guard import ForbiddenAddressError
from incremental.fetch.libraries import LibraryGate
from incremental.interfaces.explain.backfill import address, subject
from incremental.interfaces.results.schema import change_result, page_json, plain, utc
from store.answers.announced import AnnouncedPage
from store.crawl.backfills import BackfillEvent
from store.watched_changes import WatchedChangeRow

# Of what a program prints, the end is kept for its error.
MAX_OUTPUT_BYTES = 4_000
# As much as a pipe holds.
_PIECE = 65_536
_TICK_SECONDS = 0.05
_VERSION = 1
_SUCCESS = 2
_monotonic = SystemClock().monotonic


def call_for_page(channel: HookChannel, page: AnnouncedPage, key: str, kind: str = "page") -> bytes:
    """Return the JSON object about a new page; *kind* is ``test`` for a test call."""
    return _object(channel, kind, key, {"page": page_json(page)})


def call_for_backfill(
    channel: HookChannel, event: BackfillEvent, pages: Sequence[AnnouncedPage], key: str
) -> bytes:
    """Return the JSON object about older pages that a list gained."""
    facts = {
        "title": subject(event),
        "url": address(event),
        "site": event.site,
        "found_at": utc(event.found_at // 1),
        "articles": [{"title": one.name, "url": one.url} for one in pages],
        "pages": event.pages,
    }
    return _object(channel, "backfill", key, {"backfill": facts})


def call_for_change(channel: HookChannel, change: WatchedChangeRow, key: str) -> bytes:
    """Return the JSON object about a change of a watched page's text."""
    return _object(channel, "changed", key, {"change": plain(change_result(change))})


def _object(channel: HookChannel, kind: str, key: str, more: dict[str, Any]) -> bytes:
    fields = {"version": _VERSION, "kind": kind, "key": key, "hook": channel.name, **more}
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def call(gate: LibraryGate, channel: HookChannel, given: bytes, key: str) -> Delivered:
    """Call a hook; a failure is returned, never raised."""
    return _post(gate, channel, given, key) if channel.address else _run(channel, given)


def _post(gate: LibraryGate, channel: HookChannel, given: bytes, key: str) -> Delivered:
    """Send the object to the address of a hook, through the address guard; redirects are not followed."""
    headers = {"Content-Type": "application/json", "Idempotency-Key": key}
    if channel.secret:
        digest = hmac.new(channel.secret.encode(), given, "sha256").hexdigest()
        headers["X-Hubwatch-Signature"] = f"sha256={digest}"
    try:
        status = gate.post(channel.address, given, headers, channel.timeout_seconds)
    except ForbiddenAddressError:
        return Delivered(ok=False, error=Text("messages.not_public"))
    except (OSError, ValueError) as error:
        said = f"{type(error).__name__}: {error}"
        return Delivered(ok=False, error=without_secrets(said, channel.address))
    taken = status // 100 == _SUCCESS
    return Delivered(taken, "" if taken else f"answered with status {status}")


def _run(channel: HookChannel, given: bytes) -> Delivered:
    """Run the program of a hook."""
    with tempfile.TemporaryFile() as file:
        # A file, because a program that does not read would block a pipe.
        file.write(given)
        file.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own program, and no shell
                channel.command,
                stdin=file,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=_environment(),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            said = f"cannot be started: {channel.command[0]}: {why}"
            return Delivered(ok=False, error=one_line(said, MAX_ERROR))
        with process:
            code, said = _followed(process, channel.timeout_seconds)
    if code is None:
        said = f"ended after {channel.timeout_seconds:g} s ([[messages.hook]] timeout_seconds)"
    elif code:
        how = f"exit code {code}" if code > 0 else f"ended by signal {-code}"
        said = f"{how}: {said}" if said else how
    return Delivered(ok=code == 0, error="" if code == 0 else one_line(said, MAX_ERROR))


def _environment() -> dict[str, str]:
    """Return the environment without Hubwatch's settings, which may be secrets."""
    return {name: value for name, value in os.environ.items() if not name.startswith("HUBWATCH_")}


def _followed(process: subprocess.Popen[bytes], seconds: float) -> tuple[int | None, str]:
    """Return a program's exit code, None = its time was up, and the last line with text that it printed."""
    assert process.stdout is not None
    stream, kept = process.stdout.fileno(), b""
    ends_at = _monotonic() + seconds
    while (code := process.poll()) is None and _monotonic() < ends_at:
        if select.select([stream], [], [], _TICK_SECONDS)[0]:
            piece = os.read(stream, _PIECE)
            kept = (kept + piece)[-MAX_OUTPUT_BYTES:]
            if not piece:  # it prints no more
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(max(ends_at - _monotonic(), 0))
    # The end of its output is no sign that it has ended: what it left running may hold that open.
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    if select.select([stream], [], [], 0)[0]:
        kept += os.read(stream, _PIECE)
    lines = kept[-MAX_OUTPUT_BYTES:].decode("utf-8", "replace").splitlines()
    return code, next((line for line in reversed(lines) if line.strip()), "")

"""A process and all that it has started: what memory they take, and how they end."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_ROUNDS = 5


def family(pid: int) -> list[int]:
    """Return *pid* and the processes that it and they have started; empty where the system has no /proc."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            # The name in parentheses may hold anything.
            fields = path.read_text("utf-8", "replace").rpartition(")")[2].split()
            if fields[0] != "Z":
                children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found = [pid]
    for one in found:
        found += children.get(one, ())
    return found


def private_bytes(pids: list[int]) -> int:
    """Return the memory of processes that they share with no other."""
    total = 0
    for pid in pids:
        with suppress(OSError, ValueError, IndexError):
            _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text("ascii").split()
            total += (int(resident) - int(shared)) * _PAGE_BYTES
    return total


def kill_family(pid: int) -> None:
    """Kill *pid* and all that it has started; what they start meanwhile as well."""
    # Read before the first ends: orphans belong to nobody.
    for _ in range(_ROUNDS):
        members = family(pid)
        for one in members:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(one, signal.SIGSTOP)
        if family(pid) == members:
            break
    for one in reversed(members):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(one, signal.SIGKILL)

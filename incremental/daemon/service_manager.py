"""Talking to systemd: ready, alive, stopping (sd_notify(3)).

One datagram to a socket of this machine, named in the environment; nothing leaves the machine.
"""

from __future__ import annotations

import contextlib
import os
import socket


class ServiceManager:
    """The service manager that started this process, if any."""

    def __init__(self) -> None:
        # Taken out of the environment, so that programs started from here do not report in our name.
        self._address = os.environ.pop("NOTIFY_SOCKET", "")
        micros = os.environ.pop("WATCHDOG_USEC", "")
        own = os.environ.pop("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        self.watchdog_seconds = int(micros) / 1e6 if own and micros.isdigit() else None
        """Longest time between two signs of life; None = none is wanted."""

    def tell(self, **state: object) -> None:
        """Send assignments, like ``READY=1``; names are written in capitals."""
        if not self._address:
            return
        # A leading @ stands for the abstract namespace.
        address = self._address.replace("@", "\0", 1) if self._address[0] == "@" else self._address
        text = "\n".join(f"{name.upper()}={value}" for name, value in state.items())
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock,
        ):
            sock.sendto(text.encode(), address)

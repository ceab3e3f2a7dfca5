"""The HTTP server: in a thread beside the daemon, or alone. The one web module with sockets."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import uvicorn

from incremental.base.errors import SettingsError
from incremental.interfaces.web.app import make_app
from incremental.interfaces.web.connections import CONNECTIONS, HEADER_BYTES, protocol_for
from incremental.interfaces.web.context import Web
from incremental.interfaces.web.guard import names_for_others
from incremental.settings import Settings

_IDLE_SECONDS = 10


class ListenError(SettingsError):
    """The address cannot be bound: in use, not local, or not allowed."""

    def __str__(self) -> str:
        """Name the address; which part of it is to blame is not known."""
        return f"{self.value} {self.way_out}"


class Listener:
    """A bound socket with the application, not yet serving.

    Raises:
        SettingsError: others could reach the address, and neither a password nor a token is set.
        ListenError: the address cannot be listened on.
    """

    def __init__(self, web: Web) -> None:
        refuse_unguarded(web)
        self._socket = _bind(web.settings.web.host, web.settings.web.port)
        config = uvicorn.Config(
            make_app(web, warm=True),
            http=protocol_for(web.settings.web.trusted_proxies),
            ws="none",
            loop="asyncio",
            lifespan="off",
            access_log=False,
            log_level="warning",
            log_config=None,
            server_header=False,
            # The application has its own, which believes those of the settings.
            proxy_headers=False,
            limit_concurrency=CONNECTIONS,
            h11_max_incomplete_event_size=HEADER_BYTES,
            timeout_keep_alive=_IDLE_SECONDS,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)

    @property
    def url(self) -> str:
        """The URL of the web page, with the actual port if the settings say 0."""
        host, port = self._socket.getsockname()[:2]
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - shown, not bound
        return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"

    def serve(self) -> None:
        """Serve until :meth:`stop`; in the main thread also until SIGINT or SIGTERM."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()

    def stop(self) -> None:
        """Ask the server to stop; thread-safe."""
        self._server.should_exit = True


@contextlib.contextmanager
def served(web: Web) -> Iterator[str]:
    """Serve in a thread while the block runs; yields the URL.

    Raises:
        SettingsError: see :class:`Listener`.
    """
    listener = Listener(web)
    thread = threading.Thread(target=listener.serve, name="web", daemon=True)
    thread.start()
    try:
        yield listener.url
    finally:
        listener.stop()
        thread.join(timeout=5)


def refuse_unguarded(web: Web) -> None:
    """Raise SettingsError if others could reach a server without password or token."""
    with web.store() as store:
        check_guarded(web.settings, has_tokens=store.access.has_tokens())


def check_guarded(given: Settings, *, has_tokens: bool) -> None:
    """Refuse settings by which others reach what nothing guards; see :func:`refuse_unguarded`."""
    settings = given.web
    if settings.password or has_tokens:
        return
    way_out = (
        "others could reach it; set a password in [web] or HUBWATCH_WEB_PASSWORD, or make a "
        "token: hubwatch token add NAME --scope write"
    )
    if not _is_loopback(settings.host):
        raise SettingsError("web.host", settings.host, way_out)
    reached_by = {
        "web.allowed_hosts": names_for_others(settings.allowed_hosts),
        "web.public_url": names_for_others(filter(None, [urlsplit(settings.public_url).netloc])),
        "web.trusted_proxies": settings.trusted_proxies,
    }
    for field, names in reached_by.items():
        if names:
            raise SettingsError(field, ", ".join(names), way_out)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bind(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server(address[:2], family=family, backlog=128)
    except (OSError, UnicodeError) as error:
        taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
        why = "is in use" if taken else f"cannot be listened on ({error})"
        way_out = f"{why}; set another [web] port or host"
        raise ListenError("web.port", f"{host}:{port}", way_out) from error

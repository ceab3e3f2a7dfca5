"""Third-party libraries with their own requests or smtplib, sent through the same guard.

A message library knows a hundred services and calls ``requests.post`` or ``smtplib.SMTP`` itself. Inside
:meth:`LibraryGate.opened` both connect as the fetcher does: to checked addresses, within limits of time
and bytes. Sockets opened any other way are refused (:mod:`incremental.fetch.egress`)::

    library -> requests.Session -> HTTPAdapter   = guarded, metered
            -> smtplib.SMTP     -> _get_socket   = the first checked address that answers
"""

import contextlib
import smtplib
import socket
import threading
from collections.abc import Iterator, Mapping

import requests
import requests.sessions

from incremental.base.clock import Clock
from incremental.fetch.egress import Watch, ours, watched
from incremental.fetch.guard import AddressGuard, Resolver
from incremental.fetch.options import MEGABYTE, FetchSettings
from incremental.fetch.transport import Allowance, GuardedAdapter

_ANSWER_BYTES = 4 * MEGABYTE
_patching = threading.RLock()


class _GatedAdapter(GuardedAdapter):
    """The guarded transport with limits for each request."""

    def __init__(self, guard: AddressGuard, clock: Clock, settings: FetchSettings) -> None:
        self._allowance = Allowance(clock)
        self.seconds = settings.total_timeout_seconds
        super().__init__(guard, self._allowance, settings.ca_file)

    def send(  # noqa: PLR0913, PLR0917 - the signature of requests
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: object = None,
        verify: bool | str = True,
        cert: object = None,
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """Send within the limits; a library without a timeout gets ours."""
        self._allowance.start(self.seconds, _ANSWER_BYTES)
        limit = timeout or self.seconds
        return super().send(request, stream, limit, verify, cert, proxies)  # type: ignore[arg-type]  # as requests passes them on


class LibraryGate:
    """Where such libraries may connect, by the fetch settings."""

    def __init__(
        self, settings: FetchSettings, clock: Clock, resolver: Resolver | None = None
    ) -> None:
        self._clock, self._settings = clock, settings
        self._guard = AddressGuard(settings.allowed_hosts, settings.allowed_networks, resolver)
        self._adapter = _GatedAdapter(self._guard, clock, settings)

    @contextlib.contextmanager
    def opened(self) -> Iterator[Watch]:
        """Run the block with requests and smtplib behind the guard, process-wide.

        Yields the watch that refuses and counts connections opened any other way.
        """
        adapter, get_socket = requests.sessions.HTTPAdapter, smtplib.SMTP._get_socket  # type: ignore[attr-defined]  # noqa: SLF001 - the one place where smtplib connects
        # Process-wide, but the fetcher creates no sessions, so our own code is unaffected.
        with _patching:
            requests.sessions.HTTPAdapter = lambda: self._adapter  # type: ignore[assignment,misc]  # made once
            smtplib.SMTP._get_socket = self._smtp_socket()  # type: ignore[attr-defined]  # noqa: SLF001 - likewise
            try:
                with watched() as watch:
                    yield watch
            finally:
                requests.sessions.HTTPAdapter = adapter  # as it was
                smtplib.SMTP._get_socket = get_socket  # type: ignore[attr-defined]  # noqa: SLF001 - likewise

    def post(self, url: str, body: bytes, headers: Mapping[str, str], seconds: float) -> int:
        """Send *body* by POST; return the status of the answer. Redirects are not followed.

        Raises:
            ForbiddenAddressError: the address is not public.
            OSError: no answer within *seconds*, or none at all.
            ValueError: no address that a request can be sent to.
        """
        request = requests.Request("POST", url, data=body, headers=dict(headers)).prepare()
        # One of its own: a slow receiver holds up no message.
        with contextlib.closing(_GatedAdapter(self._guard, self._clock, self._settings)) as adapter:
            adapter.seconds = seconds
            with contextlib.closing(adapter.send(request, stream=True, timeout=seconds)) as answer:
                return answer.status_code

    def _smtp_socket(self) -> object:
        guard = self._guard

        def get_socket(_smtp: smtplib.SMTP, host: str, port: int, timeout: float) -> socket.socket:
            failure: OSError = OSError("no address")
            with ours():
                found = guard.endpoints(host, port)
            for endpoint in found:
                try:
                    with ours():
                        return socket.create_connection(endpoint.address[:2], timeout)
                except OSError as error:
                    failure = error
            raise failure

        return get_socket

"""Handing a message over: Apprise, behind the address guard, and never a secret in what it says.

Services that were not seen to connect through the guard are refused (:mod:`incremental.notify.services`).
"""

from __future__ import annotations

import base64
import logging
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, unquote_plus

from incremental.errors import SettingsError
from incremental.fetch.guard import ForbiddenAddressError
from incremental.fetch.libraries import LibraryGate
from incremental.notify.message import Message
from incremental.notify.services import GUARDED, name_of
from incremental.plain_text import one_line

MAX_ERROR = 300
_BETWEEN_PARTS = re.compile(r"[/@:?&=;,#]")
_MISSING = "sending messages needs the extra: pip install 'hubwatch[notify]'"


@dataclass(frozen=True, slots=True)
class Delivered:
    """What came of handing a message over."""

    ok: bool
    error: str = ""
    """One line for people, without the service's key."""


def check_service(url: str, field: str) -> None:
    """Refuse an address that Apprise does not know, or that cannot be guarded.

    Raises:
        SettingsError: names the field; the address itself is a secret.
    """
    _service(url, field)


def deliver(gate: LibraryGate, url: str, message: Message, key: str) -> Delivered:
    """Hand *message* to the service at *url*; *key* is the same when it is repeated.

    Web hooks get the key as the header ``Idempotency-Key``. Never raises for what a service does.
    """
    try:
        service = _service(url, "url")
    except SettingsError as error:
        return Delivered(ok=False, error=str(error))
    if isinstance(getattr(service, "headers", None), dict):
        service.headers["Idempotency-Key"] = key
    words = _Words()
    logger = logging.getLogger("apprise")
    logger.addHandler(words)
    try:
        with gate.opened() as watch:
            taken = service.notify(title=message.title, body=message.body, body_format="text")
    except ForbiddenAddressError:
        return Delivered(
            ok=False, error="its address is not public; allow it in fetch.allowed_hosts"
        )
    except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
        return Delivered(ok=False, error=without_secrets(f"{type(error).__name__}: {error}", url))
    finally:
        logger.removeHandler(words)
    if watch.refused:
        scheme = url.partition("://")[0]
        return Delivered(ok=False, error=f"{scheme}:// tried to open a connection of its own")
    return Delivered(
        bool(taken), "" if taken else without_secrets(words.last or "it was not taken", url)
    )


def _service(url: str, field: str) -> Any:  # noqa: ANN401 - Apprise has no types
    try:
        import apprise  # noqa: PLC0415 - an extra, and heavy
    except ImportError:
        raise SettingsError(field, "...", _MISSING) from None
    # What it prints on a wrong address quotes it, and so does its transport for each request.
    logging.getLogger("apprise").propagate = False
    logging.getLogger("urllib3").setLevel(logging.INFO)
    service = apprise.Apprise.instantiate(url)
    if service is None:
        raise SettingsError(field, "...", "is no address that Apprise understands")
    if name_of(type(service)) not in GUARDED:
        scheme = url.partition("://")[0]
        way_out = (
            f"{service.service_name} may open connections of its own; only services over HTTP or mail "
            "are supported, of which it is known that they keep to the address guard"
        )
        raise SettingsError(field, f"{scheme}://...", way_out)
    return service


class _Words(logging.Handler):
    """Keeps the last complaint of the library."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.last = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Take one."""
        self.last = record.getMessage()


def without_secrets(text: str, url: str) -> str:
    """Return an error without any part of the address that may be a key."""
    rest = url.partition("://")[2]
    credentials = rest.rpartition("@")[0]
    # What is sent as a password is sent in base64 (RFC 7617).
    coded = base64.b64encode(unquote(credentials).encode("utf-8", "replace")).decode()
    parts = {*_BETWEEN_PARTS.split(rest), credentials, coded}
    parts |= {decode(part) for part in parts for decode in (unquote_plus, unquote)}
    # The longest first: a part of another would leave the rest of that one standing.
    for part in sorted(parts, key=len)[::-1]:
        if len(part) > 3:  # noqa: PLR2004 - shorter parts are words and ports
            text = text.replace(part, "...")
    # But one that stands where a password stands is none, however short.
    for part in filter(None, credentials.split(":")):
        text = re.sub(rf"(?<!\w){re.escape(unquote(part))}(?!\w)", "...", text)
    return one_line(text, MAX_ERROR)

"""Authentication: passwords, tokens, sessions, and what each may do.

::

    Authorization: Bearer TOKEN      programs
    Authorization: Basic ANY:SECRET  feed readers; the secret is a token or the password
    ?token=TOKEN                     feeds only, for readers that send no headers
    cookie                           browsers logged in with the password or a token
    nothing                          while neither password nor token is set; loopback only

Tokens hold 256 random bits, so an unsalted SHA-256 is stored and guesses are not throttled. The password
is compared in constant time, and guesses are throttled. Sessions end with the token that started them
and with any password change.

Throttle password guesses: each wrong guess makes the next wait longer.

Kept in memory and bounded: many addresses push out the oldest entries, but a counter of all addresses
together makes that no advantage. A client that has logged in with the password before is exempt from
that counter, so strangers cannot lock the owner out. Tokens and sessions are not throttled: 256 bits
cannot be guessed.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import ipaddress
import secrets
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from classifier.words.latest import Latest
from store import Store
from store.enums import TokenKind, TokenScope

if TYPE_CHECKING:
    from starlette.requests import Request

FREE_GUESSES = 5
LONGEST_WAIT_SECONDS = 900.0
FORGET_SECONDS = 3_600.0
# All clients together; with twenty times the free guesses of one.
EVERYBODY = "*"
_MOST_CLIENTS = 2_000
_SUBSCRIBER_BITS = 64
READ, WRITE = TokenScope.READ, TokenScope.WRITE
SESSION_SECONDS = 30 * 86_400
SESSION_COOKIE = "hubwatch_session"
# Lets secret scanners recognise a leaked token.
_PREFIX = "hubwatch_"
# Characters of a form token that differ in each answer.
_SALT = 16


class Throttle:
    """Wrong guesses by client address. Times are seconds of a monotonic clock."""

    def __init__(self) -> None:
        self._failures: Latest[str, tuple[int, float]] = Latest(_MOST_CLIENTS)
        """How many of each client, and when the last."""
        self._welcome: Latest[str, None] = Latest(_MOST_CLIENTS)
        self._lock = threading.Lock()

    def wait_seconds(self, client: str, now: float) -> float:
        """Return the seconds until *client* may guess again."""
        with self._lock:
            client = network_of(client)
            one = self._wait(client, FREE_GUESSES, now)
            if client in self._welcome:
                return one
            return max(one, self._wait(EVERYBODY, FREE_GUESSES * 20, now))

    def failed(self, client: str, now: float) -> None:
        """Count a wrong guess."""
        with self._lock:
            for name in (network_of(client), EVERYBODY):
                failures, last_at = self._failures.get(name, (0, now))
                self._failures[name] = (1 if now - last_at > FORGET_SECONDS else failures + 1, now)

    def succeeded(self, client: str) -> None:
        """Reset *client*, which gave the right password."""
        with self._lock:
            client = network_of(client)
            self._failures.pop(client, None)
            self._welcome[client] = None

    def _wait(self, name: str, free: int, now: float) -> float:
        failures, last_at = self._failures.get(name, (0, now))
        if failures < free or now - last_at > FORGET_SECONDS:
            return 0.0
        # Bound the exponent: 2.0 ** n overflows.
        wait = min(2.0 ** min(failures - free, 20), LONGEST_WAIT_SECONDS)
        return max(last_at + wait - now, 0.0)


def network_of(client: str) -> str:
    """Return one client's key: the IPv4 address, or the /64 that one IPv6 subscriber controls."""
    try:
        address = ipaddress.IPv6Address(client)
    except ValueError:
        return client
    mapped = address.ipv4_mapped
    return str(mapped or ipaddress.IPv6Network((address, _SUBSCRIBER_BITS), strict=False))


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated caller."""

    scope: TokenScope
    """read or write; write includes read."""
    token_id: int | None = None
    ambient: bool = True
    """Whether browsers send the credential by themselves, which allows CSRF."""

    @property
    def may_write(self) -> bool:
        """Whether the caller may change things."""
        return self.scope == WRITE


class Gate:
    """Checks credentials: the password is held here, tokens and sessions are in the store."""

    def __init__(self, password: str, throttle: Throttle) -> None:
        self._password = password
        self.throttle = throttle

    def identify(self, store: Store, request: Request, now: float) -> Caller | None:
        """Return who asks, or None; wrong credentials count as none."""
        kind, _, value = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self._token(store, value.strip(), now)
        if kind.lower() == "basic":
            return self._basic(store, value.strip(), client_of(request), now)
        in_feed = request.url.path.startswith("/feeds/")
        if in_feed and (token := request.query_params.get("token")):
            # URLs end up in logs and bookmarks, so a token in one is read-only.
            caller = self._token(store, token, now)
            return caller and replace(caller, scope=READ)
        session = request.cookies.get(SESSION_COOKIE)
        caller = self._session(store, session, now) if session else None
        # Neither a password nor a token is set.
        if caller is None and not self._password and not store.access.has_tokens():
            return Caller(WRITE)
        return caller

    def log_in(self, store: Store, secret: str, client: str, *, now: float) -> str | None:
        """Return the secret of a new session, or None if *secret* is neither password nor token."""
        caller = self._by_secret(store, secret, client, now)
        if caller is None:
            return None
        session = secrets.token_urlsafe(32)
        store.access.add(
            "browser",
            TokenKind.SESSION,
            caller.scope,
            self._session_digest(session),
            now=now,
            expires_at=now + SESSION_SECONDS,
            parent=caller.token_id,
        )
        return session

    def log_out(self, store: Store, session: str, *, now: float) -> None:
        """End a session."""
        row = store.access.find(self._session_digest(session), now=now)
        if row is not None and row.kind == TokenKind.SESSION:
            store.access.remove(row.id)

    def _token(self, store: Store, secret: str, now: float) -> Caller | None:
        row = store.access.find(digest_of(secret), now=now)
        if row is None or row.kind != TokenKind.TOKEN:
            return None
        return Caller(row.scope, row.id, ambient=False)

    def _session(self, store: Store, secret: str, now: float) -> Caller | None:
        row = store.access.find(self._session_digest(secret), now=now)
        return Caller(row.scope) if row and row.kind == TokenKind.SESSION else None

    def _basic(self, store: Store, encoded: str, client: str, now: float) -> Caller | None:
        try:
            text = base64.b64decode(encoded, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return None
        caller = self._by_secret(store, text.partition(":")[2], client, now)
        # Browsers resend Basic credentials with cross-site requests.
        return caller and replace(caller, ambient=True)

    def _by_secret(self, store: Store, secret: str, client: str, now: float) -> Caller | None:
        """Check *secret* as a token, then as the password unless *client* is throttled.

        Tokens come first, so strangers' wrong guesses lock no token holder out.
        """
        caller = self._token(store, secret, now)
        if caller is not None or not self._password:
            return caller
        if self.throttle.wait_seconds(client, now) > 0:
            return None
        if not same_secret(secret, self._password):
            self.throttle.failed(client, now)
            return None
        self.throttle.succeeded(client)
        return Caller(WRITE)

    def _session_digest(self, secret: str) -> str:
        # Includes the password, so changing it ends all sessions.
        return digest_of(f"{secret}\0{self._password}")


def client_of(request: Request) -> str:
    """Return the client's IP address, empty if unknown."""
    return request.client.host if request.client else ""


def new_token(store: Store, name: str, scope: str, *, now: float) -> str:
    """Create a token and return it; only its digest is stored."""
    token = _PREFIX + secrets.token_urlsafe(32)
    store.access.add(name, TokenKind.TOKEN, TokenScope(scope), digest_of(token), now=now)
    return token


def digest_of(secret: str) -> str:
    """Return the SHA-256 of a secret in hexadecimal."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def same_secret(given: str, right: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(digest_of(given), digest_of(right))


def form_token(cookie: str) -> str:
    """Return a CSRF token for a browser's cookie; a digest, so a leaked page does not leak the cookie.

    It differs in each answer: the size of a compressed answer tells nothing of it (BREACH, 2013).
    """
    return _salted(cookie, secrets.token_hex(_SALT // 2))


def is_form_token(given: str, cookie: str) -> bool:
    """Return whether :func:`form_token` made a token for this cookie."""
    return same_secret(given, _salted(cookie, given[:_SALT]))


def _salted(cookie: str, salt: str) -> str:
    return salt + digest_of(f"form\0{salt}\0{cookie}")[:32]

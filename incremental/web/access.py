"""Who asks, and what they may do.

::

    Authorization: Bearer TOKEN          programs
    Authorization: Basic ANY:SECRET      feed readers; the secret is a token or the password
    ?token=TOKEN                         feeds alone, for readers that can do no better
    cookie                               browsers that have logged in with the password or a token
    nothing                              only while neither a password nor a token is set, which
                                         the server refuses on any address but loopback

Tokens hold 256 random bits, so their SHA-256 is kept and guessing is hopeless; the password is
compared in constant time, and guesses of it alone are slowed down. A session ends with the token that began
it, and with any change of the password.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from dataclasses import dataclass, replace

from incremental.web.throttle import Throttle
from store import Store
from store.enums import TokenKind, TokenScope

READ, WRITE = TokenScope.READ, TokenScope.WRITE
SESSION_SECONDS = 30 * 86_400.0
SESSION_COOKIE = "hubwatch_session"
# Lets scanners of leaked secrets tell what a token opens.
_PREFIX = "hubwatch_"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who was recognised."""

    scope: TokenScope
    """read or write; write holds read."""
    by: str
    """open, token, basic, password or session."""
    token_id: int | None = None

    @property
    def ambient(self) -> bool:
        """Whether a browser sends what proves it unasked, so that other sites could use it."""
        return self.by != "token"

    def may(self, scope: str) -> bool:
        """Return whether the caller holds *scope*."""
        return self.scope == WRITE or scope == READ


@dataclass(frozen=True, slots=True)
class Presented:
    """The credentials of one request, as they came."""

    authorization: str = ""
    session: str = ""
    query_token: str = ""
    """Empty on all paths but those of feeds."""
    client: str = ""


class Gate:
    """Knows the password and the throttle; tokens and sessions are in the store."""

    def __init__(self, password: str, throttle: Throttle) -> None:
        self._password = password
        self._throttle = throttle

    def is_open(self, store: Store) -> bool:
        """Return whether no credential is set at all."""
        return not self._password and not store.access.has_tokens()

    def identify(self, store: Store, given: Presented, *, now: float) -> Caller | None:
        """Return who asks, or None. What was presented and is wrong counts as nothing."""
        kind, _, value = given.authorization.partition(" ")
        if kind.lower() == "bearer":
            return self._token(store, value.strip(), now)
        if kind.lower() == "basic":
            return self._basic(store, value.strip(), given.client, now)
        if given.query_token:
            return self._token(store, given.query_token, now)
        session = self._session(store, given.session, now) if given.session else None
        if session is None and self.is_open(store):
            return Caller(WRITE, "open")
        return session

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

    def wait_seconds(self, client: str, now: float) -> float:
        """Return how long *client* has to wait before it may try the password."""
        return self._throttle.wait_seconds(client, now)

    def _token(self, store: Store, secret: str, now: float) -> Caller | None:
        row = store.access.find(digest_of(secret), now=now)
        return Caller(row.scope, "token", row.id) if row and row.kind == TokenKind.TOKEN else None

    def _session(self, store: Store, secret: str, now: float) -> Caller | None:
        row = store.access.find(self._session_digest(secret), now=now)
        return Caller(row.scope, "session") if row and row.kind == TokenKind.SESSION else None

    def _basic(self, store: Store, encoded: str, client: str, now: float) -> Caller | None:
        try:
            text = base64.b64decode(encoded, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return None
        caller = self._by_secret(store, text.partition(":")[2], client, now)
        # A browser that was given them once sends them along with what other sites ask it for.
        return caller and replace(caller, by="basic")

    def _by_secret(self, store: Store, secret: str, client: str, now: float) -> Caller | None:
        """Return whom a token or the password means; for the password no answer while *client* has to wait.

        Wrong guesses of strangers keep nobody with a token out.
        """
        caller = self._token(store, secret, now)
        if caller is not None or not self._password:
            return caller
        if self._throttle.wait_seconds(client, now) > 0:
            return None
        if not same_secret(secret, self._password):
            self._throttle.failed(client, now)
            return None
        self._throttle.succeeded(client)
        return Caller(WRITE, "password")

    def _session_digest(self, secret: str) -> str:
        # With the password in it, all sessions end when the password changes.
        return digest_of(f"{secret}\0{self._password}")


def new_token(store: Store, name: str, scope: str, *, now: float) -> str:
    """Make a token and return it; it is not kept and cannot be shown again."""
    token = _PREFIX + secrets.token_urlsafe(32)
    store.access.add(name, TokenKind.TOKEN, TokenScope(scope), digest_of(token), now=now)
    return token


def digest_of(secret: str) -> str:
    """Return what is kept of a secret: its SHA-256, hexadecimal."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def same_secret(given: str, right: str) -> bool:
    """Compare in a time that depends on neither."""
    return hmac.compare_digest(digest_of(given), digest_of(right))


def form_token(cookie: str) -> str:
    """Return what forms of a browser with this cookie carry, to prove that they are from our pages.

    Derived from it and not the same, so that a page that leaks does not hand out the cookie.
    """
    return digest_of(f"form\0{cookie}")

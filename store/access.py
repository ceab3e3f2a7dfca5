"""Tokens and browser sessions of the web page and the API."""

from dataclasses import dataclass

from peewee import fn

from store.database import writing
from store.database.repository import Repository, Shape
from store.database.texts import storable
from store.enums import TokenKind, TokenScope
from store.models import AccessToken

# Number of sessions kept, newest first.
_MOST_SESSIONS = 1_000


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A stored token or session. Times are unix seconds, UTC."""

    id: int
    name: str
    kind: TokenKind
    scope: TokenScope
    created_at: float
    expires_at: float | None
    """None = never."""


_ROW = Shape(TokenRow, AccessToken)
_TOKENS = AccessToken.kind == TokenKind.TOKEN
_SESSIONS = AccessToken.kind == TokenKind.SESSION


class Access(Repository):
    """The tokens and sessions of one database."""

    def tokens(self) -> list[TokenRow]:
        """Return the tokens, without sessions, in order of creation."""
        query = _ROW.select().where(_TOKENS)
        return self._all(_ROW, query.order_by(AccessToken.id))

    def has_tokens(self) -> bool:
        """Return whether any token exists."""
        return bool(self._rows(AccessToken.select(AccessToken.id).where(_TOKENS).limit(1)))

    def add(  # noqa: PLR0913 - the columns of a row
        self,
        name: str,
        kind: TokenKind,
        scope: TokenScope,
        digest: str,
        *,
        now: float,
        expires_at: float | None = None,
        parent: int | None = None,
    ) -> int:
        """Store the digest of a new secret and return its id; deletes expired sessions."""
        # Only the digest: incremental.interfaces.web.access creates and checks the secrets.
        row = {
            "name": storable(name, 100),
            "kind": kind,
            "scope": scope,
            "digest": digest,
            "created_at": now,
            "expires_at": expires_at,
            "parent": parent,
        }
        with writing(self._db, self._where):
            if kind is TokenKind.SESSION:
                self._forget_old_sessions(now)
            return int(AccessToken.insert(row).execute(self._db))

    def _forget_old_sessions(self, now: float) -> None:
        ended = _SESSIONS & (AccessToken.expires_at <= now)
        AccessToken.delete().where(ended).execute(self._db)
        newest = AccessToken.select(fn.MAX(AccessToken.id)).where(_SESSIONS).scalar(self._db)
        surplus = _SESSIONS & (AccessToken.id <= (newest or 0) - _MOST_SESSIONS)
        AccessToken.delete().where(surplus).execute(self._db)

    def find(self, digest: str, *, now: float) -> TokenRow | None:
        """Return the token or session with this digest unless it expired by *now*."""
        valid = AccessToken.expires_at.is_null() | (AccessToken.expires_at > now)
        query = _ROW.select().where((AccessToken.digest == digest) & valid)
        return self._first(_ROW, query)

    def remove(self, token_id: int) -> bool:
        """Remove a session, or a token with its sessions; return whether it existed."""
        with writing(self._db, self._where):
            AccessToken.delete().where(AccessToken.parent == token_id).execute(self._db)
            return bool(AccessToken.delete().where(AccessToken.id == token_id).execute(self._db))

"""Who may come in through the web page and the API: digests of tokens and of browser sessions.

The store keeps digests, never the secrets; :mod:`incremental.web.access` makes and checks those.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from peewee import fn

from store.database import storage_errors, writing
from store.models import AccessToken
from store.reader import Reader
from store.texts import storable

_MOST_SESSIONS = 1_000
"""Sessions that are kept, the youngest first."""


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token or session as it stands in the store. Times are unix seconds, UTC."""

    id: int
    name: str
    kind: str
    """token or session."""
    scope: str
    """read or write."""
    created_at: float
    expires_at: float | None
    """None = never."""


_COLUMNS = [getattr(AccessToken, field.name) for field in fields(TokenRow)]


class Access(Reader):
    """The tokens and sessions of one database."""

    def tokens(self) -> list[TokenRow]:
        """Return the tokens, sessions apart, in the order in which they were made."""
        query = AccessToken.select(*_COLUMNS).where(AccessToken.kind == "token")
        with storage_errors(self._where):
            rows = query.order_by(AccessToken.id).tuples().execute(self._db)
            return [TokenRow(*row) for row in rows]

    def has_tokens(self) -> bool:
        """Tell whether there is any token."""
        with storage_errors(self._where):
            query = AccessToken.select().where(AccessToken.kind == "token")
            return bool(query.exists(self._db))

    def add(  # noqa: PLR0913 - the columns of a row
        self,
        name: str,
        kind: str,
        scope: str,
        digest: str,
        *,
        now: float,
        expires_at: float | None = None,
        parent: int | None = None,
    ) -> int:
        """Keep the digest of a new secret; return the row's id. Sessions that have ended go."""
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
            if kind == "session":
                self._forget_old_sessions(now)
            return int(AccessToken.insert(row).execute(self._db))

    def _forget_old_sessions(self, now: float) -> None:
        sessions = AccessToken.kind == "session"
        AccessToken.delete().where(sessions & (AccessToken.expires_at <= now)).execute(self._db)
        newest = AccessToken.select(fn.MAX(AccessToken.id)).where(sessions).scalar(self._db)
        oldest_kept = (newest or 0) - _MOST_SESSIONS
        AccessToken.delete().where(sessions & (AccessToken.id <= oldest_kept)).execute(self._db)

    def find(self, digest: str, *, now: float) -> TokenRow | None:
        """Return what has this digest and has not ended at *now*."""
        query = AccessToken.select(*_COLUMNS).where(AccessToken.digest == digest)
        with storage_errors(self._where):
            rows = [TokenRow(*row) for row in query.tuples().execute(self._db)]
        valid = [row for row in rows if row.expires_at is None or now < row.expires_at]
        return valid[0] if valid else None

    def remove(self, token_id: int) -> bool:
        """Remove a token with the sessions begun with it, or a session; tell whether it was there."""
        with writing(self._db, self._where):
            children = AccessToken.delete().where(AccessToken.parent == token_id)
            children.execute(self._db)
            gone = AccessToken.delete().where(AccessToken.id == token_id)
            return bool(gone.execute(self._db))

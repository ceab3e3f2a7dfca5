"""A subscription: the request to a hub, and how its messages are recognized. Pure."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from urllib.parse import urlencode

from incremental.base.times import DAY, HOUR
from incremental.fetch.status import Request
from incremental.schedule.state import HubState

# How long before its end a lease is renewed.
RENEW_SECONDS = DAY
# After an unconfirmed request; doubled each time, up to a week.
ASK_AGAIN_SECONDS = 6 * HOUR
MAX_ASK_AGAIN_SECONDS = 7 * DAY
_TOKEN_CHARS = 32
_MAX_TOKEN_CHARS = 64


@dataclass(frozen=True, slots=True)
class Keys:
    """All secrets, derived from one key.

    *master*: at least 32 random bytes, kept beside the store.
    """

    master: bytes

    def token(self, page_id: int) -> str:
        """Return the last segment of a page's callback address, which cannot be guessed."""
        return f"{page_id}.{self._mac('callback', page_id)[:_TOKEN_CHARS]}"

    def page_of(self, token: str) -> int | None:
        """Return the page of a token, or None if it is not ours."""
        number, _, _ = token.partition(".")
        if len(token) > _MAX_TOKEN_CHARS or not (number.isascii() and number.isdigit()):
            return None
        same = hmac.compare_digest(token.encode(), self.token(int(number)).encode())
        return int(number) if same else None

    def secret(self, page_id: int) -> str:
        """Return the secret with which the page's hub signs messages."""
        return self._mac("secret", page_id)

    def _mac(self, use: str, page_id: int) -> str:
        # What one page's hub knows reveals nothing of another page's.
        return hmac.new(self.master, f"{use} {page_id}".encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True, slots=True)
class Subscription:
    """A page's subscription, confirmed or requested. Times are unix seconds, 0 = never."""

    page_id: int
    topic_url: str
    """The page's own URL (rel=self), else its address: the hub must name the same."""
    hub_url: str
    asked_at: float = 0.0
    asked: int = 0
    """Requests since one was confirmed."""
    until: float = 0.0
    """End of the confirmed lease."""

    @classmethod
    def of(cls, page_id: int, url: str, state: HubState) -> Subscription:
        """Restore from the stored state of the hub page at *url*."""
        return cls(
            page_id=page_id,
            topic_url=state.push_topic or url,
            hub_url=state.push_hub,
            asked_at=state.push_asked_at,
            asked=state.push_asked,
            until=state.push_until,
        )

    def ask_at(self) -> float:
        """Return when to send the next request."""
        renewal = self.until - RENEW_SECONDS if self.until else 0.0
        if not self.asked:
            return renewal
        wait = min(ASK_AGAIN_SECONDS * 2.0 ** min(self.asked - 1, 20), MAX_ASK_AGAIN_SECONDS)
        return max(renewal, self.asked_at + wait)

    def request(self, callback_url: str, keys: Keys, lease_seconds: float) -> Request:
        """Return the subscription request (WebSub, section 5.1)."""
        form = {
            "hub.mode": "subscribe",
            "hub.topic": self.topic_url,
            "hub.callback": f"{callback_url.rstrip('/')}/{keys.token(self.page_id)}",
            "hub.secret": keys.secret(self.page_id),
            "hub.lease_seconds": str(int(lease_seconds)),
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return Request(self.hub_url, headers=headers, post=urlencode(form).encode())

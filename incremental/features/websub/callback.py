"""Answers to requests of WebSub hubs, and what they mean. Pure: request values in, answer out.

::

    GET  hub.mode=subscribe, requested, right topic     200 and the challenge   Confirmed
    GET  hub.mode=unsubscribe                           404: we never request that
    GET  hub.mode=denied                                200                     Refused
    POST signed with the page's secret                  202                     Ping
    POST not signed, or wrongly                         202, as the standard says; it is dropped
    a token that is not ours                            404

W3C Recommendation of 23 January 2018, sections 5.2, 5.3, 7 and 8.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field

from incremental.base.times import DAY
from incremental.features.websub.subscription import Keys, Subscription

MAX_CHALLENGE_CHARS = 4_096
# Larger messages are dropped unread: the next visit finds what is new anyway.
MAX_BODY_BYTES = 5_000_000
DEFAULT_LEASE_SECONDS = 10 * DAY
MIN_LEASE_SECONDS = 300.0
MAX_LEASE_SECONDS = 60 * DAY
# Later verifications are refused: they belong to no request of ours.
ASKED_LATELY_SECONDS = DAY
# X-Hub-Signature, W3C section 8.
_METHODS = ("sha1", "sha256", "sha384", "sha512")
_MAX_REASON_CHARS = 200


@dataclass(frozen=True, slots=True)
class CallbackRequest:
    """A request at the callback address."""

    method: str
    token: str
    """Last segment of the address."""
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The hub will announce the page's changes until then."""

    page_id: int
    until: float


@dataclass(frozen=True, slots=True)
class Refused:
    """The hub denied the subscription."""

    page_id: int
    reason: str


@dataclass(frozen=True, slots=True)
class Ping:
    """The hub says that the page changed."""

    page_id: int


Event = Confirmed | Refused | Ping


@dataclass(frozen=True, slots=True)
class CallbackAnswer:
    """A plain-text response, and an event for the crawler."""

    code: int
    text: str = ""
    event: Event | None = None


_UNKNOWN = CallbackAnswer(404, "no such subscription")


def answer(
    request: CallbackRequest, subscription: Subscription | None, keys: Keys, now: float
) -> CallbackAnswer:
    """Answer one request. *subscription* is that of the token's page, if any."""
    page_id = keys.page_of(request.token)
    # A message about a removed page is answered like any stranger's.
    if page_id is None or subscription is None or subscription.page_id != page_id:
        return _UNKNOWN
    if request.method == "GET":
        return _verification(request.query, subscription, now)
    if request.method == "POST":
        return _message(request, page_id, keys)
    return CallbackAnswer(405, "GET and POST only")


def _verification(
    query: Mapping[str, str], subscription: Subscription, now: float
) -> CallbackAnswer:
    mode, page_id = query.get("hub.mode", ""), subscription.page_id
    if query.get("hub.topic") != subscription.topic_url:
        return _UNKNOWN
    if mode == "denied":
        reason = query.get("hub.reason", "")[:_MAX_REASON_CHARS]
        return CallbackAnswer(200, event=Refused(page_id, reason))
    challenge = query.get("hub.challenge", "")
    asked_lately = subscription.asked and now - subscription.asked_at < ASKED_LATELY_SECONDS
    if mode != "subscribe" or not asked_lately or not 0 < len(challenge) <= MAX_CHALLENGE_CHARS:
        return _UNKNOWN
    until = now + _lease_seconds(query.get("hub.lease_seconds", ""))
    return CallbackAnswer(200, challenge, Confirmed(page_id, until))


def _lease_seconds(text: str) -> float:
    """Return the hub's lease, clamped."""
    if not (text.isascii() and text.isdigit() and len(text) < 12):  # noqa: PLR2004 - no lease of 3,000 years
        return DEFAULT_LEASE_SECONDS
    # A stranger wrote it.
    return min(max(float(text), MIN_LEASE_SECONDS), MAX_LEASE_SECONDS)


def _message(request: CallbackRequest, page_id: int, keys: Keys) -> CallbackAnswer:
    # The standard asks for success, so that nobody learns whether a signature was right.
    if len(request.body) > MAX_BODY_BYTES or not _is_signed(request, keys.secret(page_id)):
        return CallbackAnswer(202)
    return CallbackAnswer(202, event=Ping(page_id))


def _is_signed(request: CallbackRequest, secret: str) -> bool:
    """Return whether *secret* signs the body (section 8, ``X-Hub-Signature: method=hex``)."""
    method, _, given = request.headers.get("x-hub-signature", "").strip().partition("=")
    if method not in _METHODS or not given.isascii():
        return False
    expected = hmac.new(secret.encode(), request.body, getattr(hashlib, method)).hexdigest()
    return hmac.compare_digest(given.lower().encode(), expected.encode())

"""The WebSub callback: what hubs ask and send, what strangers try."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incremental.features.websub.callback import CallbackRequest, Confirmed, Ping, Refused, answer
from incremental.features.websub.subscription import Keys, Subscription
from incremental.schedule.state import HubState

NOW = 1_760_000_000.0
HOUR, DAY = 3600.0, 86_400.0
KEYS = Keys(b"k" * 32)
FEED = "https://example.org/feed.xml"
ASKED = Subscription(7, FEED, "https://hub.example/", asked_at=NOW - 60, asked=1)
TOKEN = KEYS.token(7)
QUESTION = {
    "hub.mode": "subscribe",
    "hub.topic": FEED,
    "hub.challenge": "c4b8",
    "hub.lease_seconds": "864000",
}


def _signed(body: bytes, method: str = "sha256", secret: str = KEYS.secret(7)) -> CallbackRequest:
    digest = hmac.new(secret.encode(), body, getattr(hashlib, method)).hexdigest()
    return CallbackRequest(
        "POST", TOKEN, headers={"x-hub-signature": f"{method}={digest}"}, body=body
    )


def test_a_hub_that_asks_whether_we_meant_it_gets_its_challenge_back() -> None:
    answered = answer(CallbackRequest("GET", TOKEN, QUESTION), ASKED, KEYS, NOW)
    assert (answered.code, answered.text) == (200, "c4b8")
    assert answered.event == Confirmed(7, NOW + 10 * DAY)


@pytest.mark.parametrize(
    ("change", "subscription"),
    [
        ({"hub.topic": "https://example.org/other.xml"}, ASKED),
        ({"hub.mode": "unsubscribe"}, ASKED),
        ({"hub.challenge": ""}, ASKED),
        ({"hub.challenge": "x" * 5_000}, ASKED),
        ({}, replace(ASKED, asked=0)),
        ({}, replace(ASKED, asked_at=NOW - 2 * DAY)),
        ({}, None),
        ({}, replace(ASKED, page_id=8)),
    ],
)
def test_what_we_did_not_ask_for_is_not_confirmed(
    change: dict[str, str], subscription: Subscription | None
) -> None:
    answered = answer(CallbackRequest("GET", TOKEN, QUESTION | change), subscription, KEYS, NOW)
    assert (answered.code, answered.event) == (404, None)


@pytest.mark.parametrize(
    ("lease", "days"), [("", 10), ("-5", 10), ("9" * 30, 10), ("1", 300 / DAY), ("99999999", 60)]
)
def test_a_lease_is_kept_within_bounds_whatever_the_hub_says(lease: str, days: float) -> None:
    question = QUESTION | {"hub.lease_seconds": lease}
    event = answer(CallbackRequest("GET", TOKEN, question), ASKED, KEYS, NOW).event
    assert isinstance(event, Confirmed)
    assert event.until == pytest.approx(NOW + days * DAY)


def test_a_refusal_is_taken_in_with_its_reason() -> None:
    said = {"hub.mode": "denied", "hub.topic": FEED, "hub.reason": "no " * 500}
    answered = answer(CallbackRequest("GET", TOKEN, said), ASKED, KEYS, NOW)
    assert answered.code == 200
    assert isinstance(answered.event, Refused)
    assert len(answered.event.reason) == 200


@pytest.mark.parametrize("method", ["sha1", "sha256", "sha384", "sha512"])
def test_a_signed_message_wakes_the_page(method: str) -> None:
    answered = answer(_signed(b"<feed/>", method), ASKED, KEYS, NOW)
    assert (answered.code, answered.event) == (202, Ping(7))


@pytest.mark.parametrize(
    "request_",
    [
        CallbackRequest("POST", TOKEN, body=b"<feed/>"),
        _signed(b"<feed/>", secret="guessed"),
        _signed(b"<feed/>", "md5"),
        replace(_signed(b"<feed/>"), body=b"<other/>"),
        _signed(b"x" * 5_000_001),
    ],
)
def test_an_unsigned_message_is_taken_politely_and_dropped(request_: CallbackRequest) -> None:
    """The standard asks for success, so that nobody learns whether a signature was right."""
    assert answer(request_, ASKED, KEYS, NOW) == answer(
        CallbackRequest("POST", TOKEN), ASKED, KEYS, NOW
    )
    assert answer(request_, ASKED, KEYS, NOW).event is None


@settings(deadline=None)
@given(st.text(max_size=80) | st.from_regex(r"\A[0-9]{1,9}\.[0-9a-f]{32}\Z"))
def test_no_token_can_be_guessed(token: str) -> None:
    assert KEYS.page_of(token) is None
    assert answer(CallbackRequest("POST", token), ASKED, KEYS, NOW).code == 404


def test_secrets_differ_by_page_and_use() -> None:
    assert KEYS.page_of(KEYS.token(12)) == 12
    assert len({KEYS.secret(1), KEYS.secret(2), KEYS.token(1), KEYS.token(2)}) == 4
    assert answer(CallbackRequest("PUT", TOKEN), ASKED, KEYS, NOW).code == 405


def test_a_lease_is_renewed_a_day_before_it_ends_and_silence_is_asked_less_and_less() -> None:
    offered = HubState(push_hub="https://hub.example/")
    assert Subscription.of(7, FEED, offered).ask_at() == 0
    assert replace(ASKED, asked=0, until=NOW + 10 * DAY).ask_at() == NOW + 9 * DAY
    waits = [replace(ASKED, asked=n).ask_at() - ASKED.asked_at for n in (1, 2, 3, 40)]
    assert waits == [6 * HOUR, 12 * HOUR, DAY, 7 * DAY]

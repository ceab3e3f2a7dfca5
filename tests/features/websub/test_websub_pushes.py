"""WebSub from end to end: offered, asked for at a hub on loopback, confirmed, and a page woken."""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import msgspec
import pytest
from fake_web import DAY, HOUR, MINUTE, SPARING, FakeWeb, Reply, Watch
from fake_web import START as BEGIN

from incremental.base.clock import SimulatedClock
from incremental.daemon.assembly import make_fetcher
from incremental.features.websub.callback import CallbackRequest
from incremental.features.websub.pushes import Pushes, load_keys
from incremental.features.websub.settings import WebSubSettings
from incremental.fetch.options import FetchSettings
from incremental.schedule.state import HubState
from incremental.settings import Settings
from incremental.settings.sections import PolicyName

HOME, FEED = "https://news.example/", "https://news.example/feed.xml"
CALLBACK = "https://watch.example/websub"


class LocalHub:
    """A WebSub hub that writes down what it is asked."""

    def __init__(self, code: int = 202) -> None:
        self.forms: list[dict[str, str]] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                hub.forms.append({name: values[0] for name, values in parse_qs(body).items()})
                self.send_response(code)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"


@pytest.fixture
def hub() -> Iterator[LocalHub]:
    one = LocalHub()
    threading.Thread(target=one.server.serve_forever, daemon=True).start()
    yield one
    one.server.shutdown()
    one.server.server_close()


def _feed(hub_url: str, *urls: str) -> Reply:
    items = "".join(f"<item><title>{u}</title><link>{u}</link></item>" for u in urls)
    atom = 'xmlns:atom="http://www.w3.org/2005/Atom"'
    text = (
        f'<?xml version="1.0"?><rss version="2.0" {atom}><channel><title>F</title>'
        f'<atom:link rel="hub" href="{hub_url}"/>{items}</channel></rss>'
    )
    return Reply(text.encode(), headers={"Content-Type": "application/rss+xml"})


def _watched(folder: Path, hub: LocalHub) -> tuple[Watch, Pushes]:
    """Watch a site for a day whose feed offers *hub*, and changes two hours after."""
    old, new = HOME + "old.html", HOME + "new.html"
    head = (
        f'<html><head><link rel="alternate" type="application/rss+xml" href="{FEED}"></head></html>'
    )
    feed = [(0.0, _feed(hub.url, old)), (BEGIN + DAY + 2 * HOUR, _feed(hub.url, new, old))]
    pages: dict[str, Any] = {HOME: head, FEED: feed, old: "<p>old</p>", new: "<p>new</p>"}
    crawl = Watch(folder, FakeWeb(SimulatedClock(BEGIN), pages), HOME, settings=_settings())
    crawl.run(DAY)
    fetcher = make_fetcher(_settings(), crawl.clock)
    pushes = Pushes(
        crawl.store,
        _settings().of(WebSubSettings),
        load_keys(folder),
        fetch=fetcher.fetch,
        note=crawl.crawler.frontier.note,
    )
    return crawl, pushes


def _settings() -> Settings:
    revisit = msgspec.structs.replace(
        SPARING.revisit, requests_per_day=12, min_interval_minutes=15, policy=PolicyName.FIXED
    )
    return msgspec.structs.replace(
        SPARING,
        revisit=revisit,
        fetch=FetchSettings(allowed_networks=("127.0.0.0/8",)),
        further=(WebSubSettings(callback_url=CALLBACK),),
    )


def _state(crawl: Watch) -> HubState:
    feed = crawl.hub(FEED)
    assert feed is not None
    return HubState.from_text(feed.revisit)


def _confirm(pushes: Pushes, form: dict[str, str], now: float) -> int:
    question = {
        "hub.mode": "subscribe",
        "hub.topic": form["hub.topic"],
        "hub.challenge": "abc",
        "hub.lease_seconds": form["hub.lease_seconds"],
    }
    token = form["hub.callback"].rsplit("/", 1)[1]
    return pushes.receive(CallbackRequest("GET", token, question), now).code


def _ping(pushes: Pushes, form: dict[str, str], body: bytes, now: float) -> int:
    digest = hmac.new(form["hub.secret"].encode(), body, hashlib.sha256).hexdigest()
    headers = {"x-hub-signature": f"sha256={digest}"}
    token = form["hub.callback"].rsplit("/", 1)[1]
    return pushes.receive(CallbackRequest("POST", token, headers=headers, body=body), now).code


def test_a_feed_that_offers_a_hub_is_subscribed_to_and_read_when_the_hub_says_so(
    tmp_path: Path, hub: LocalHub
) -> None:
    crawl, pushes = _watched(tmp_path, hub)
    with crawl:
        now = crawl.clock.now()
        pushes.step(now)
        (form,) = hub.forms
        assert (form["hub.mode"], form["hub.topic"]) == ("subscribe", FEED)
        assert form["hub.callback"].startswith(CALLBACK + "/")
        assert _confirm(pushes, form, now + 1) == 200
        pushes.step(now + 2)
        assert _state(crawl).push_until == pytest.approx(now + 10 * DAY, abs=5)

        crawl.run(2 * HOUR + MINUTE)
        pinged_at, feed = crawl.clock.now(), crawl.hub(FEED)
        assert feed is not None
        assert feed.due_at > pinged_at + 35 * MINUTE
        assert _ping(pushes, form, b"<rss/>", pinged_at) == 202
        pushes.step(pinged_at)
        crawl.run(30 * MINUTE)
        assert crawl.new() == ["/new.html"]


def test_a_hub_that_says_no_is_asked_again_much_later(tmp_path: Path) -> None:
    deaf = LocalHub(code=500)
    threading.Thread(target=deaf.server.serve_forever, daemon=True).start()
    crawl, pushes = _watched(tmp_path, deaf)
    with crawl:
        now = crawl.clock.now()
        for minute in range(0, 13 * 60, 15):
            pushes.step(now + minute * MINUTE)
        assert len(deaf.forms) == 2  # at once, and after six hours; the next would be after twelve
    deaf.server.shutdown()
    deaf.server.server_close()


def test_the_key_stays_the_same_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    assert load_keys(tmp_path) == load_keys(tmp_path)
    assert (tmp_path / "websub.key").stat().st_mode & 0o077 == 0

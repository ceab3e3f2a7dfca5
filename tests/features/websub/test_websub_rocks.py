"""The fourteen subscriber cases of websub.rocks, and the verification of intent, by their numbers.

A publisher and a hub on loopback; everything from the fetch to the wake-up of the page is real.
"""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
from empty_store import open_in
from fake_web import DAY, HOUR, SPARING
from fake_web import START as BEGIN

from incremental.base.clock import SimulatedClock
from incremental.base.threads import InlineExecutor
from incremental.daemon.assembly import make_crawler, make_fetcher
from incremental.features.websub.callback import CallbackRequest
from incremental.features.websub.pushes import Pushes, load_keys
from incremental.features.websub.settings import WebSubSettings
from incremental.fetch.headers import link_targets
from incremental.fetch.options import FetchSettings
from incremental.schedule.state import HubState
from incremental.settings.seeds import add_seed
from store.values import HubRow

CALLBACK = "https://watch.example/websub"
SETTINGS = msgspec.structs.replace(
    SPARING,
    fetch=FetchSettings(allowed_networks=("127.0.0.0/8",)),
    further=(WebSubSettings(callback_url=CALLBACK),),
)
RSS, ATOM = "application/rss+xml", "application/atom+xml"


@dataclass
class Reply:
    body: str = ""
    kind: str = "text/html"
    code: int = 200
    headers: list[tuple[str, str]] = field(default_factory=list)


class Publisher:
    """Pages by path, and hubs at ``/hub``, which write down what they are asked."""

    def __init__(self) -> None:
        self.pages: dict[str, Reply] = {}
        self.hubs: dict[str, Reply] = {"/hub": Reply(code=202)}
        self.asked: list[tuple[str, dict[str, str]]] = []
        publisher = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._send(publisher.pages.get(self.path, Reply(code=404)))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                form = {name: values[0] for name, values in parse_qs(body).items()}
                publisher.asked.append((self.path, form))
                self._send(publisher.hubs.get(self.path, Reply(code=404)))

            def _send(self, reply: Reply) -> None:
                body = reply.body.encode()
                self.send_response(reply.code)
                self.send_header("Content-Type", reply.kind)
                self.send_header("Content-Length", str(len(body)))
                for name, value in reply.headers:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def site() -> Iterator[Publisher]:
    one = Publisher()
    threading.Thread(target=one.server.serve_forever, daemon=True).start()
    yield one
    one.server.shutdown()
    one.server.server_close()


class Subscriber:
    """Watches ``/blog`` of a publisher from its first visit on."""

    def __init__(self, folder: Path, site: Publisher, *, path: str = "/blog") -> None:
        self.clock, self.site = SimulatedClock(BEGIN), site
        self.store = open_in(folder, SETTINGS)
        add_seed(self.store, site.url + path, now=BEGIN, fetch=SETTINGS.fetch)
        fetch = make_fetcher(SETTINGS, self.clock).fetch
        self.crawler = make_crawler(self.store, SETTINGS, fetch=fetch, executor=InlineExecutor())
        self.crawler.load(BEGIN)
        note = self.crawler.frontier.note
        keys = load_keys(folder)
        self.pushes = Pushes(self.store, SETTINGS.of(WebSubSettings), keys, fetch=fetch, note=note)
        self.run(HOUR)

    def run(self, seconds: float) -> None:
        end = self.clock.now() + seconds
        while (now := self.clock.now()) < end:
            self.clock.advance_to(min(max(self.crawler.step(now), now + 1), end))

    def ask(self) -> dict[str, str]:
        """Let the daemon's step ask hubs; return the last form that one received."""
        self.pushes.step(self.clock.now())
        return self.site.asked[-1][1] if self.site.asked else {}

    def answer(self, method: str, form: Mapping[str, str], **given: Any) -> tuple[int, str]:
        token = form["hub.callback"].rsplit("/", 1)[1]
        answered = self.pushes.receive(CallbackRequest(method, token, **given), self.clock.now())
        self.pushes.step(self.clock.now())
        return answered.code, answered.text

    def verify(self, form: Mapping[str, str], **change: str) -> tuple[int, str]:
        query = {
            "hub.mode": "subscribe",
            "hub.topic": form["hub.topic"],
            "hub.challenge": "c4b8",
            "hub.lease_seconds": form["hub.lease_seconds"],
        }
        return self.answer("GET", form, query={**query, **change})

    def hub(self) -> HubRow:
        """Return the page that offers a hub."""
        (one,) = (hub for hub in self.store.read.hubs() if self._state(hub).push_hub)
        return one

    def state(self) -> HubState:
        return self._state(self.hub())

    @staticmethod
    def _state(hub: HubRow) -> HubState:
        return HubState.from_text(hub.revisit)


Subscribe = Callable[..., Subscriber]


@pytest.fixture
def subscribe(tmp_path: Path, site: Publisher) -> Iterator[Subscribe]:
    made: list[Subscriber] = []

    def make(**options: Any) -> Subscriber:
        made.append(Subscriber(tmp_path, site, **options))
        return made[-1]

    yield make
    for one in made:
        one.store.close()


def html(*links: str) -> str:
    shown = "".join(f'<li><a href="/post-{n}.html">A headline of some length</a>' for n in range(9))
    return f"<html><head><title>Blog</title>{''.join(links)}</head><body><ul>{shown}</ul></body></html>"


def rss(url: str, *links: str) -> str:
    return (
        '<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>'
        f"<title>Blog</title><link>{url}/blog</link>{''.join(links)}"
        f"<item><title>A post</title><link>{url}/post-1.html</link></item></channel></rss>"
    )


def atom(url: str, *links: str) -> str:
    return (
        f'<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Blog</title>'
        f"{''.join(links)}<entry><title>A post</title><id>{url}/post-1.html</id>"
        f'<link href="{url}/post-1.html"/></entry></feed>'
    )


def element(rel: str, url: str, name: str = "link") -> str:
    return f'<{name} rel="{rel}" href="{url}"/>'


def header(rel: str, url: str) -> tuple[str, str]:
    return "Link", f'<{url}>; rel="{rel}"'


def offered(url: str, self_path: str = "/blog") -> list[tuple[str, str]]:
    """The two headers with which a page offers the hub."""
    return [header("hub", f"{url}/hub"), header("self", url + self_path)]


def test_100_http_header_discovery(site: Publisher, subscribe: Subscribe) -> None:
    site.pages["/blog"] = Reply(html(), headers=offered(site.url, "/blog?header"))
    form = subscribe().ask()
    assert (form["hub.mode"], form["hub.topic"]) == ("subscribe", site.url + "/blog?header")


def test_101_html_tag_discovery(site: Publisher, subscribe: Subscribe) -> None:
    links = element("hub", f"{site.url}/hub"), element("self", f"{site.url}/blog?tag")
    site.pages["/blog"] = Reply(html(*links))
    assert subscribe().ask()["hub.topic"] == site.url + "/blog?tag"


def test_102_atom_feed_discovery(site: Publisher, subscribe: Subscribe) -> None:
    links = element("hub", f"{site.url}/hub"), element("self", f"{site.url}/atom")
    site.pages["/blog"] = Reply(atom(site.url, *links), ATOM)
    assert subscribe().ask()["hub.topic"] == site.url + "/atom"


def test_103_rss_feed_discovery(site: Publisher, subscribe: Subscribe) -> None:
    links = (
        element("hub", f"{site.url}/hub", "atom:link"),
        element("self", f"{site.url}/rss", "atom:link"),
    )
    site.pages["/blog"] = Reply(rss(site.url, *links), RSS)
    assert subscribe().ask()["hub.topic"] == site.url + "/rss"


def test_104_headers_come_before_the_page(site: Publisher, subscribe: Subscribe) -> None:
    wrong = element("hub", f"{site.url}/wrong"), element("self", f"{site.url}/wrong")
    site.pages["/blog"] = Reply(html(*wrong), headers=offered(site.url, "/right"))
    assert subscribe().ask()["hub.topic"] == site.url + "/right"
    assert [path for path, _ in site.asked] == ["/hub"]


def test_200_a_page_that_calls_itself_by_another_address(
    site: Publisher, subscribe: Subscribe
) -> None:
    site.pages["/blog"] = Reply(html(), headers=offered(site.url, "/elsewhere"))
    subscriber = subscribe()
    form = subscriber.ask()
    assert form["hub.topic"] == site.url + "/elsewhere"
    assert subscriber.verify(form) == (200, "c4b8")
    assert subscriber.verify(form, **{"hub.topic": site.url + "/blog"})[0] == 404


@pytest.mark.parametrize("code", [302, 307, 301, 308], ids=["201", "201b", "202", "202b"])
def test_201_202_a_topic_that_redirects(site: Publisher, subscribe: Subscribe, code: int) -> None:
    site.pages["/old"] = Reply(code=code, headers=[("Location", "/blog")])
    site.pages["/blog"] = Reply(html(), headers=offered(site.url))
    assert subscribe(path="/old").ask()["hub.topic"] == site.url + "/blog"


@pytest.mark.parametrize("code", [302, 307, 308, 301], ids=["203", "203b", "204", "204b"])
def test_203_204_a_hub_that_redirects(site: Publisher, subscribe: Subscribe, code: int) -> None:
    site.pages["/blog"] = Reply(html(), headers=offered(site.url))
    site.hubs |= {"/hub": Reply(code=code, headers=[("Location", "/new")]), "/new": Reply(code=202)}
    subscriber = subscribe()
    form = subscriber.ask()
    assert [path for path, _ in site.asked] == ["/hub", "/new"]
    assert site.asked[0][1] == form
    assert subscriber.verify(form) == (200, "c4b8")


def test_a_hub_that_redirects_for_ever_is_left(site: Publisher, subscribe: Subscribe) -> None:
    site.pages["/blog"] = Reply(html(), headers=offered(site.url))
    site.hubs["/hub"] = Reply(code=307, headers=[("Location", "/hub")])
    subscribe().ask()
    assert len(site.asked) == 4


@pytest.fixture
def subscribed(site: Publisher, subscribe: Subscribe) -> tuple[Subscriber, dict[str, str]]:
    """A subscription that its hub has verified."""
    site.pages["/blog"] = Reply(html(), headers=offered(site.url))
    subscriber = subscribe()
    form = subscriber.ask()
    assert subscriber.verify(form) == (200, "c4b8")
    assert subscriber.state().push_until == pytest.approx(subscriber.clock.now() + 10 * DAY, abs=5)
    subscriber.run(HOUR)
    return subscriber, form


def signed(form: Mapping[str, str], body: bytes, method: str) -> dict[str, str]:
    digest = hmac.new(form["hub.secret"].encode(), body, getattr(hashlib, method)).hexdigest()
    return {"x-hub-signature": f"{method}={digest}"}


@pytest.mark.parametrize("method", ["sha1", "sha256", "sha384", "sha512"])
def test_300_a_signed_message_is_answered_with_success_and_wakes_the_page(
    subscribed: tuple[Subscriber, dict[str, str]], method: str
) -> None:
    subscriber, form = subscribed
    body = b"<rss/>"
    code, _ = subscriber.answer("POST", form, body=body, headers=signed(form, body, method))
    assert 200 <= code < 300
    assert subscriber.state().pinged_at == subscriber.clock.now()
    assert subscriber.hub().due_at <= subscriber.clock.now() + HOUR


def test_301_a_message_with_an_invalid_signature_is_dropped(
    subscribed: tuple[Subscriber, dict[str, str]],
) -> None:
    subscriber, form = subscribed
    headers = signed(form, b"another body", "sha256")
    assert subscriber.answer("POST", form, body=b"<rss/>", headers=headers)[0] == 202
    assert subscriber.state().pinged_at == 0


def test_302_a_message_without_a_signature_is_dropped(
    subscribed: tuple[Subscriber, dict[str, str]],
) -> None:
    subscriber, form = subscribed
    assert subscriber.answer("POST", form, body=b"<rss/>")[0] == 202
    assert subscriber.state().pinged_at == 0


def test_a_page_that_changes_its_hub_is_subscribed_to_again(
    site: Publisher, subscribed: tuple[Subscriber, dict[str, str]]
) -> None:
    subscriber, _ = subscribed
    site.hubs["/other"] = Reply(code=202)
    links = [header("hub", f"{site.url}/other"), header("self", f"{site.url}/blog")]
    site.pages["/blog"] = Reply(html("<meta name=changed>"), headers=links)
    subscriber.run(DAY)
    subscriber.ask()
    assert site.asked[-1][0] == "/other"


def test_what_was_never_asked_for_is_not_confirmed(site: Publisher, subscribe: Subscribe) -> None:
    site.pages["/blog"] = Reply(html(), headers=offered(site.url))
    subscriber = subscribe()
    form = subscriber.ask()
    assert subscriber.verify(form, **{"hub.mode": "unsubscribe"})[0] == 404
    assert subscriber.verify(form, **{"hub.topic": "https://evil.example/"})[0] == 404
    assert subscriber.state().push_until == 0


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ('<https://h.example/>; rel="hub", </self>; rel=self', {"hub": 0, "self": "/self"}),
        ('<https://h.example/>; rel="hub self"', {"hub": 0, "self": 0}),
        ('</a>; rel="hub"; anchor="/other", <https://h.example/>; rel=HUB', {"hub": 0}),
        ("garbage, <>; rel=hub;;, <https://h.example/>", {}),
        (None, {}),
    ],
)
def test_a_link_header_is_read_by_relation(value: str | None, found: dict[str, Any]) -> None:
    base = "https://p.example"
    wanted = {rel: f"{base}{path}" if path else "https://h.example/" for rel, path in found.items()}
    assert link_targets(f"{base}/page", value) == wanted
    assert all(urlsplit(url).scheme for url in link_targets(base, value).values())

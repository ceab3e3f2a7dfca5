"""What a fetch brings when a site plays by the rules."""

from __future__ import annotations

import gzip
import ssl
import zlib
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING

import brotli  # type: ignore[import-untyped] # ships no types
import pytest
import trustme
import urllib3
from backports import zstd
from fetch_server import LOCAL, LocalServer, answer, fetcher, names, read_request, redirect
from lab.clocks import SimulatedClock
from msgspec.structs import replace
from requests.adapters import BaseAdapter, HTTPAdapter

from incremental.base.errors import SettingsError
from incremental.fetch.options import FetchSettings, SiteAccess
from incremental.fetch.session import Fetcher
from incremental.fetch.status import FetchStatus, Request
from incremental.settings import build_settings

if TYPE_CHECKING:
    import socket
    import threading
    from pathlib import Path

    import requests

PAGE = "<title>Nachrichten – 新闻</title>".encode() * 50


def test_a_page_comes_with_body_and_headers() -> None:
    with LocalServer({"/": answer(PAGE, content_type="Text/HTML; charset=utf-8")}) as server:
        response = fetcher().fetch(Request(server.url()))
    assert response.status is FetchStatus.FETCHED
    assert (response.body, response.http_code, response.url) == (PAGE, 200, server.url())
    assert (response.content_type, response.redirects, response.detail) == ("text/html", (), "")


def test_the_site_learns_who_asks_and_how_to_reach_them() -> None:
    with LocalServer({"/": answer(PAGE)}) as server:
        asking = fetcher(replace(LOCAL, user_agent="hubwatch/9", contact="mailto:me@example.org"))
        asking.fetch(Request(server.url()))
    assert "User-Agent: hubwatch/9 (+mailto:me@example.org)" in server.requests[0]


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(PAGE, mtime=0)),
        ("deflate", zlib.compress(PAGE)),
        ("deflate", zlib.compress(PAGE, wbits=-15)),
        ("br", brotli.compress(PAGE)),
        ("zstd", zstd.compress(PAGE)),
        ("gzip, br", brotli.compress(gzip.compress(PAGE, mtime=0))),
    ],
    ids=["gzip", "deflate", "raw deflate", "br", "zstd", "two"],
)
def test_every_encoding_that_we_accept_is_decoded(encoding: str, packed: bytes) -> None:
    with LocalServer({"/": answer(packed, content_encoding=encoding)}) as server:
        response = fetcher().fetch(Request(server.url()))
    assert response.body == PAGE
    assert all(each in server.requests[0] for each in ("gzip", "deflate", "br", "zstd"))


def test_validators_are_sent_back_and_304_is_not_modified() -> None:
    with LocalServer({"/": answer(b"", "304 Not Modified", etag='"2"')}) as server:
        request = Request(server.url(), '"1"', "Mon, 02 Mar 2026 10:00:00 GMT")
        response = fetcher().fetch(request)
    assert response.status is FetchStatus.NOT_MODIFIED
    assert 'If-None-Match: "1"' in server.requests[0]
    assert "If-Modified-Since: Mon, 02 Mar 2026 10:00:00 GMT" in server.requests[0]


@pytest.mark.parametrize("etag", ['"a\r\nX: y"', "é", "\0", "e" * 2000, " ", ""])
def test_a_validator_that_would_break_the_request_is_not_sent(etag: str) -> None:
    with LocalServer({"/": answer(PAGE)}) as server:
        response = fetcher().fetch(Request(server.url(), etag=etag))
    assert response.body == PAGE
    assert "X: y" not in server.requests[0]
    assert "e" * 2000 not in server.requests[0]


def test_304_that_nobody_asked_for_is_an_error() -> None:
    with LocalServer({"/": answer(b"", "304 Not Modified")}) as server:
        assert fetcher().fetch(Request(server.url())).status is FetchStatus.HTTP_ERROR


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("204 No Content", FetchStatus.HTTP_ERROR),
        ("206 Partial Content", FetchStatus.HTTP_ERROR),
        ("401 Unauthorized", FetchStatus.BLOCKED),
        ("403 Forbidden", FetchStatus.BLOCKED),
        ("404 Not Found", FetchStatus.GONE),
        ("410 Gone", FetchStatus.GONE),
        ("418 I'm a teapot", FetchStatus.HTTP_ERROR),
        ("429 Too Many Requests", FetchStatus.RATE_LIMITED),
        ("451 Unavailable", FetchStatus.BLOCKED),
        ("500 Internal Server Error", FetchStatus.SERVER_ERROR),
        ("503 Service Unavailable", FetchStatus.SERVER_ERROR),
        ("999 No", FetchStatus.SERVER_ERROR),
    ],
)
def test_each_status_code_means_one_status_and_brings_no_body(
    status: str, expected: FetchStatus
) -> None:
    with LocalServer({"/": answer(b"sorry", status)}) as server:
        response = fetcher().fetch(Request(server.url()))
    assert (response.status, response.body) == (expected, b"")
    assert response.detail == f"HTTP {status[:3]}"


def test_retry_after_turns_503_into_a_request_to_wait() -> None:
    busy = answer(b"", "503 Service Unavailable", retry_after="120")
    with LocalServer({"/": busy}) as server:
        response = fetcher().fetch(Request(server.url()))
    assert response.status is FetchStatus.RATE_LIMITED
    assert response.retry_after_seconds == 120


def test_redirects_within_the_host_are_followed() -> None:
    answers = {
        "/": redirect("/a b", "301 Moved Permanently"),
        "/a%20b": redirect("c?d#e", "308 Permanent Redirect"),
        "/c?d": answer(PAGE),
    }
    with LocalServer(answers) as server:
        response = fetcher().fetch(Request(server.url()))
    assert (response.body, response.url) == (PAGE, server.url("/c?d"))
    assert response.redirects == (server.url(), server.url("/a%20b"))
    assert response.permanent


def test_one_temporary_redirect_makes_the_whole_way_temporary() -> None:
    moved = redirect("/new", "301 Moved Permanently")
    with LocalServer({"/": moved, "/new": redirect("/now"), "/now": answer()}) as server:
        response = fetcher().fetch(Request(server.url()))
    assert (response.status, response.permanent) == (FetchStatus.FETCHED, False)


def test_a_redirect_to_another_port_stays_with_the_host() -> None:
    with (
        LocalServer({"/": answer(PAGE)}) as new,
        LocalServer({"/": redirect(new.url())}) as old,
    ):
        assert fetcher().fetch(Request(old.url())).url == new.url()


def test_a_redirect_to_another_host_is_left_to_the_caller() -> None:
    with LocalServer({"/": redirect("https://www.example.org/x")}) as server:
        response = fetcher().fetch(Request(server.url()))
    assert response.status is FetchStatus.REDIRECTED
    assert response.location == "https://www.example.org/x"
    assert (response.url, response.redirects) == (server.url(), (server.url(),))


def test_a_location_in_utf8_is_understood() -> None:
    target = "/新闻".encode().decode("latin-1")
    with LocalServer({"/": redirect(target), "/%E6%96%B0%E9%97%BB": answer(PAGE)}) as server:
        assert fetcher().fetch(Request(server.url())).body == PAGE


def test_a_cookie_wall_is_passed_and_the_cookie_forgotten() -> None:
    """A page that redirects to itself until it has seen its cookie."""
    shown: list[bool] = []

    def wall(connection: socket.socket, _over: threading.Event) -> None:
        shown.append("Cookie: seen=1" in server.requests[-1])
        page = answer(PAGE) if shown[-1] else redirect("/", set_cookie="seen=1; Path=/")
        connection.sendall(page)

    with LocalServer({"/": wall}) as server:
        once = fetcher()
        assert [once.fetch(Request(server.url())).body for _ in "ab"] == [PAGE, PAGE]
    assert shown == [False, True, False, True]


def test_malformed_cookies_are_no_trouble() -> None:
    """Python's own cookie jar warns, with a stack trace, of each of these."""
    cookies = "a=b; expires=Mon, 02 Dar 2026 10:00:00 GMT; max-age; version"
    with LocalServer({"/": redirect("/x", set_cookie=cookies), "/x": answer(PAGE)}) as server:
        assert fetcher().fetch(Request(server.url())).body == PAGE
    assert "Cookie: a=b\r\n" in server.requests[1]


def test_cookies_from_the_server_are_not_handed_on() -> None:
    with LocalServer({"/": answer(PAGE, set_cookie="session=secret")}) as server:
        response = fetcher().fetch(Request(server.url()))
    assert "set-cookie" not in response.headers


SECRETS = SiteAccess(
    cookies={"login": "c00kie"},
    headers={"X-Key": "h3ader"},
    username="ann",
    password="pässword",
)
BASIC = b64encode("ann:pässword".encode()).decode()


def test_a_site_is_shown_what_was_configured_for_it() -> None:
    with LocalServer({"/": answer(PAGE)}) as server:
        asking = fetcher(sites={server.url(): SECRETS})
        assert asking.fetch(Request(server.url())).status is FetchStatus.FETCHED
    assert "Cookie: login=c00kie" in server.requests[0]
    assert "X-Key: h3ader" in server.requests[0]
    assert f"Authorization: Basic {BASIC}" in server.requests[0]


def test_secrets_stay_with_their_origin() -> None:
    """Neither another port of the same host nor another name of the same server sees them."""
    with (
        LocalServer({"/": answer(PAGE)}) as other,
        LocalServer({"/": redirect(other.url()), "/robots.txt": answer()}) as site,
    ):
        asking = fetcher(sites={site.url(): SECRETS}, resolver=names(localhost="127.0.0.1"))
        assert asking.fetch(Request(site.url())).body == PAGE
        asking.fetch(Request(site.url("/robots.txt")))
        asking.fetch(Request(site.url(host="localhost")))
    unseen = other.requests[0] + site.requests[1] + site.requests[2]
    assert not any(secret in unseen for secret in ("c00kie", "h3ader", "Authorization"))


def test_secrets_are_in_no_repr_and_no_response() -> None:
    proxied = SiteAccess(proxy="http://ann:t0psecret@127.0.0.1:1")
    asking = fetcher(sites={"http://news.example": proxied})
    failed = asking.fetch(Request("http://news.example/"))
    refused = asking.fetch(Request("http://ann:t0psecret@news.example/"))
    assert failed.status is FetchStatus.CONNECT_FAILED
    assert refused.status is FetchStatus.INVALID_URL
    assert "t0psecret" not in repr((proxied, SECRETS, failed, refused))
    assert "pässword" not in repr(SECRETS)


def test_a_proxy_is_asked_for_its_origin_only_and_only_it_learns_the_password() -> None:
    with LocalServer({"/": answer(b"direct")}) as site:
        with LocalServer({"http://news.example/": answer(b"by proxy")}) as proxy:
            access = SiteAccess(proxy=proxy.url().replace("//", "//ann:secret@"))
            asking = fetcher(sites={"http://news.example": access})
            assert asking.fetch(Request("http://news.example/")).body == b"by proxy"
        assert asking.fetch(Request(site.url())).body == b"direct"
    assert "Proxy-Authorization: Basic" in proxy.requests[0]
    assert "Proxy-Authorization" not in site.requests[0]


def test_a_tunnel_through_a_proxy_checks_the_certificate_of_the_site(tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ends = datetime(2036, 5, 4, tzinfo=UTC)
    authority.issue_cert("news.example", not_after=ends).configure_cert(tls)

    def tunnel(connection: socket.socket, _over: threading.Event) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        with tls.wrap_socket(connection, server_side=True) as inside:
            read_request(inside)
            inside.sendall(answer(b"tunnelled"))

    with LocalServer({f"{host}.example:443": tunnel for host in ("news", "fake")}) as proxy:
        hosts = ("https://news.example", "https://fake.example")
        settings = replace(LOCAL, ca_file=str(tmp_path / "ca.pem"))
        asking = fetcher(settings, sites={each: SiteAccess(proxy=proxy.url()) for each in hosts})
        right, wrong = (asking.fetch(Request(each)) for each in hosts)
    assert (right.body, wrong.status) == (b"tunnelled", FetchStatus.TLS_FAILED)
    assert (right.certificate_until, wrong.certificate_until) == (ends.timestamp(), None)


def test_the_environment_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere")
    with LocalServer({"/": answer(PAGE)}) as server:
        assert fetcher().fetch(Request(server.url())).body == PAGE


def test_a_kept_connection_that_the_server_closed_is_no_failure() -> None:
    """The server answers once, keeps the connection, and hangs up on the second request."""

    def fickle(connection: socket.socket, _over: threading.Event) -> None:
        connection.sendall(answer(PAGE))
        if len(server.requests) == 1:
            read_request(connection)

    with LocalServer({"/": fickle}) as server:
        asking = fetcher()
        assert [asking.fetch(Request(server.url())).body for _ in "ab"] == [PAGE, PAGE]


def test_an_answer_without_a_body_leaves_the_connection_open() -> None:
    def twice(connection: socket.socket, _: threading.Event) -> None:
        connection.sendall(answer(b"", "304 Not Modified"))
        served.append(read_request(connection))
        connection.sendall(answer(PAGE))

    served: list[str] = []
    with LocalServer({"/": twice}) as server:
        asking = fetcher()
        first = asking.fetch(Request(server.url(), etag='"1"'))
        second = asking.fetch(Request(server.url()))
    assert (first.status, second.body) == (FetchStatus.NOT_MODIFIED, PAGE)
    assert (len(served), len(server.requests)) == (1, 1), "a connection is counted once"


def test_one_fetcher_serves_many_threads() -> None:
    answers = {f"/{n}": answer(str(n).encode() * 1000) for n in range(30)}
    with LocalServer(answers) as server, ThreadPoolExecutor(8) as threads:
        urls = [Request(server.url(path)) for path in answers]
        bodies = [response.body for response in threads.map(fetcher().fetch, urls)]
    assert bodies == [str(n).encode() * 1000 for n in range(30)]


class Recorded(BaseAdapter):
    """A transport below requests that answers from memory, as a replay does."""

    def send(
        self, request: requests.PreparedRequest, *_: object, **__: object
    ) -> requests.Response:
        raw = urllib3.HTTPResponse(
            body=BytesIO(gzip.compress((request.url or "").encode())),
            headers={"Content-Encoding": "gzip", "Content-Type": "text/html"},
            status=200,
            preload_content=False,
        )
        return HTTPAdapter().build_response(request, raw)

    def close(self) -> None:
        """Nothing to close."""


def test_a_transport_of_ones_own_needs_no_network() -> None:
    replay = Fetcher(FetchSettings(), clock=SimulatedClock(0.0), adapter=Recorded())
    response = replay.fetch(Request("https://no.such.host/x"))
    assert response.body == b"https://no.such.host/x"
    assert response.elapsed_seconds == 0
    private = replay.fetch(Request("http://10.0.0.1/"))
    assert private.status is FetchStatus.FORBIDDEN_ADDRESS
    replay.close()


class Passing(Recorded):
    """Answers from memory; each answer takes so many *seconds* of a clock."""

    def __init__(self, clock: SimulatedClock, seconds: float) -> None:
        super().__init__()
        self._clock, self._seconds = clock, seconds
        self.asked = 0

    def send(
        self, request: requests.PreparedRequest, *_: object, **__: object
    ) -> requests.Response:
        self.asked += 1
        self._clock.advance_to(self._clock.monotonic() + self._seconds)
        return super().send(request)


def test_all_fetches_of_a_visit_end_by_one_moment() -> None:
    clock = SimulatedClock(0.0)
    slow = Passing(clock, 40.0)
    asking = Fetcher(FetchSettings(total_timeout_seconds=60.0), clock=clock, adapter=slow)
    page = Request("https://news.example/")
    with asking.until(100.0):
        statuses = [asking.fetch(page).status for _ in range(5)]
    assert statuses == [*[FetchStatus.FETCHED] * 2, *[FetchStatus.TIMED_OUT] * 3]
    assert slow.asked == 3, "nothing is sent after the end, though a connection is open"
    assert asking.fetch(page).status is FetchStatus.FETCHED, "the end was that of the visit"


def test_wrong_settings_name_the_field_and_the_way_out() -> None:
    with pytest.raises(SettingsError, match="read_timeout_seconds = 0: must be a number above 0"):
        build_settings({"fetch": {"read_timeout_seconds": 0}})
    with pytest.raises(SettingsError, match=r"like https://example\.org"):
        fetcher(sites={"example.org": SiteAccess()})
    with pytest.raises(SettingsError, match=r"127\.0\.0\.0/8"):
        fetcher(FetchSettings(allowed_networks=("loopback",)))
    with pytest.raises(SettingsError, match="ca_file"):
        fetcher(FetchSettings(ca_file="/no/such/file"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"headers": {"Host": "elsewhere"}},
        {"headers": {"X": "a\r\nY: b"}},
        {"cookies": {"a": "b\nc"}},
        {"proxy": "socks5://127.0.0.1:9050"},
    ],
)
def test_what_would_break_out_of_a_request_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(SettingsError):
        SiteAccess(**wrong)  # type: ignore[arg-type] # each case names a real field


def test_a_key_goes_to_no_other_port_of_the_host() -> None:
    with LocalServer({"/": answer(PAGE)}) as other:
        with LocalServer({"/": redirect(other.url())}) as server:
            request = Request(server.url(), headers={"X-Key": "secret"})
            assert "secret" not in repr(request)
            fetcher().fetch(request)
        assert "X-Key: secret" in server.requests[0]
        assert "X-Key" not in other.requests[0]

"""What a fetch makes of sites that break the rules: a status each, never an exception."""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import brotli  # type: ignore[import-untyped] # ships no types
import pytest
import trustme
from backports import zstd
from fetch_server import (
    LOCAL,
    LocalServer,
    Script,
    answer,
    drip,
    fetcher,
    hang,
    names,
    redirect,
)
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from msgspec.structs import replace

from incremental.fetch.options import ROBOTS_MAX_BYTES, FetchSettings
from incremental.fetch.status import FetchStatus, Request

if TYPE_CHECKING:
    from pathlib import Path

    from incremental.fetch.guard import Endpoint

MEGABYTE = 1024 * 1024
HURRY = replace(LOCAL, read_timeout_seconds=0.3, connect_timeout_seconds=0.3)
SHORT = replace(LOCAL, total_timeout_seconds=0.4)


def status_of(raw: bytes, max_body_bytes: int = MEGABYTE) -> FetchStatus:
    asking = fetcher(replace(LOCAL, max_body_bytes=max_body_bytes))
    with LocalServer({"/": raw}) as server:
        return asking.fetch(Request(server.url())).status


NOWHERE = fetcher(resolver=names())


# --- what is no address of a page -----------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "",
        "news",
        "http://",
        "http:///path",
        "//news.example/",
        "mailto:a@b.example",
        "file:///etc/passwd",
        "ftp://news.example/",
        "javascript:alert(1)",
        "http://[::1/",
        "http://news.example:99999/",
        "http://news..example/",
        f"http://{'a' * 70}.example/",
        f"http://news.example/{'a' * 9000}",
        "http://news.example/a b",
        "http://news.example\\@127.0.0.1/",
        "http://news.example/\r\nX: y",
        "http://user@news.example/",
        "http://①②③.example/",
    ],
)
def test_what_is_no_url_is_reported_without_a_request(url: str) -> None:
    assert NOWHERE.fetch(Request(url)).status is FetchStatus.INVALID_URL


@examples(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.text(max_size=60), st.sampled_from(["", "http://", "https://[", "http://a.example:"]))
def test_no_text_makes_a_fetch_raise(text: str, start: str) -> None:
    response = NOWHERE.fetch(Request(start + text))
    assert response.status in {
        FetchStatus.INVALID_URL,
        FetchStatus.DNS_FAILED,
        FetchStatus.CONNECT_FAILED,
        FetchStatus.FORBIDDEN_ADDRESS,
    }


# --- no connection --------------------------------------------------------------------------


def test_an_unknown_host() -> None:
    response = fetcher().fetch(Request("http://news.invalid/"))
    assert response.status is FetchStatus.DNS_FAILED


def test_a_refused_connection() -> None:
    with LocalServer({}) as server:
        url = server.url()
    assert fetcher().fetch(Request(url)).status is FetchStatus.CONNECT_FAILED


def test_a_connection_that_ends_before_the_answer() -> None:
    assert status_of(b"") is FetchStatus.CONNECT_FAILED


def test_a_resolver_that_never_answers() -> None:
    over = threading.Event()

    def asleep(_host: str, _port: int) -> list[Endpoint]:
        over.wait()
        return []

    asking = fetcher(HURRY, resolver=asleep)
    assert asking.fetch(Request("http://news.example/")).status is FetchStatus.TIMED_OUT
    over.set()


def test_a_host_that_does_not_answer_the_connection() -> None:
    """A full queue of connections: the system of the other side stays silent."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        address = listener.getsockname()
        crowd = [socket.socket() for _ in range(4)]
        for waiting in crowd:
            waiting.setblocking(False)
            waiting.connect_ex(address)
        response = fetcher(HURRY).fetch(Request(f"http://127.0.0.1:{address[1]}/"))
        for waiting in crowd:
            waiting.close()
    assert response.status is FetchStatus.TIMED_OUT


def test_a_server_that_never_answers() -> None:
    with LocalServer({"/": hang}) as server:
        assert fetcher(HURRY).fetch(Request(server.url())).status is FetchStatus.TIMED_OUT


def test_a_server_that_takes_the_connection_but_never_speaks_tls() -> None:
    with LocalServer({"/": hang}) as server:
        url = server.url().replace("http:", "https:")
        assert fetcher(HURRY).fetch(Request(url)).status is FetchStatus.TIMED_OUT


def test_a_server_that_stops_in_the_middle_of_the_body() -> None:
    def half(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(answer(b"half", content_length="8"))
        over.wait()

    with LocalServer({"/": half}) as server:
        assert fetcher(HURRY).fetch(Request(server.url())).status is FetchStatus.TIMED_OUT


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nX-Slow: ",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n",
    ],
    ids=["status line", "header", "body", "chunk"],
)
def test_a_drip_ends_with_the_time_for_the_whole_fetch(head: bytes) -> None:
    """Every byte comes within the read time-out, but there is no end to them."""
    with LocalServer({"/": drip(head)}) as server:
        response = fetcher(SHORT).fetch(Request(server.url()))
    assert response.status is FetchStatus.TIMED_OUT


# --- TLS ------------------------------------------------------------------------------------


@pytest.fixture(name="authority", scope="module")
def _authority() -> trustme.CA:
    return trustme.CA()


def tls_server(certificate: trustme.LeafCert) -> LocalServer:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return LocalServer({"/": answer(b"safe"), "/drip": drip(answer(content_length="99"))}, context)


def trusting(
    authority: trustme.CA, folder: Path, total_timeout_seconds: float = 20.0
) -> FetchSettings:
    path = str(folder / "ca.pem")
    authority.cert_pem.write_to_path(path)
    return replace(LOCAL, ca_file=path, total_timeout_seconds=total_timeout_seconds)


def test_the_certificate_is_checked_against_the_name_though_we_connect_to_a_checked_address(
    authority: trustme.CA, tmp_path: Path
) -> None:
    with tls_server(authority.issue_cert("news.example")) as server:
        known = names(news="127.0.0.1", other="127.0.0.1")
        asking = fetcher(trusting(authority, tmp_path), resolver=known)
        right = asking.fetch(Request(server.url(host="news.example")))
        wrong = asking.fetch(Request(server.url(host="other.example")))
    assert right.body == b"safe"
    assert wrong.status is FetchStatus.TLS_FAILED
    assert "other.example" in wrong.detail


def test_a_certificate_of_an_unknown_authority(authority: trustme.CA) -> None:
    with tls_server(authority.issue_cert("127.0.0.1")) as server:
        response = fetcher().fetch(Request(server.url()))
    assert response.status is FetchStatus.TLS_FAILED
    assert "certificate" in response.detail


def test_a_server_that_speaks_no_tls() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as thread:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/"
        response = thread.submit(fetcher().fetch, Request(url))
        with listener.accept()[0] as connection:
            connection.recv(1)
            connection.sendall(answer(b"plain"))
            assert response.result().status is FetchStatus.TLS_FAILED


def test_a_drip_over_tls_ends_too(authority: trustme.CA, tmp_path: Path) -> None:
    with tls_server(authority.issue_cert("127.0.0.1")) as server:
        asking = fetcher(trusting(authority, tmp_path, total_timeout_seconds=0.4))
        response = asking.fetch(Request(server.url("/drip")))
    assert response.status is FetchStatus.TIMED_OUT


# --- bodies without measure -----------------------------------------------------------------


def endless(piece: bytes, **headers: str) -> Script:
    def script(connection: socket.socket, over: threading.Event) -> None:
        head = answer(**headers).replace(b"content-length: 0\r\n", b"")
        connection.sendall(head)
        while not over.is_set():
            connection.sendall(piece)

    return script


@pytest.mark.parametrize(
    ("piece", "headers"),
    [
        (b"x" * 65_536, {}),
        (b"10000\r\n" + b"x" * 65_536 + b"\r\n", {"transfer_encoding": "chunked"}),
        (b"1\r\nx\r\n" * 1000, {"transfer_encoding": "chunked"}),
        (b"-1\r\n" + b"x" * 65_536, {"transfer_encoding": "chunked"}),
        (gzip.compress(b"") * 1000, {"content_encoding": "gzip"}),
    ],
    ids=["plain", "chunked", "tiny chunks", "negative chunk", "compressed nothing"],
)
def test_an_endless_body(piece: bytes, headers: dict[str, str]) -> None:
    with LocalServer({"/": endless(piece, **headers)}) as server:
        response = fetcher(replace(LOCAL, max_body_bytes=100_000)).fetch(Request(server.url()))
    assert (response.status, response.body) == (FetchStatus.TOO_LARGE, b"")


ZEROS = bytes(60 * MEGABYTE)


@pytest.mark.parametrize(
    ("encoding", "bomb"),
    [
        ("gzip", gzip.compress(ZEROS)),
        ("br", brotli.compress(ZEROS, quality=1)),
        ("zstd", zstd.compress(ZEROS)),
        ("gzip, gzip", gzip.compress(gzip.compress(ZEROS))),
        ("br, gzip, zstd", zstd.compress(gzip.compress(brotli.compress(ZEROS, quality=1)))),
    ],
    ids=["gzip", "br", "zstd", "twice", "three layers"],
)
@pytest.mark.parametrize("chunked", [False, True])
def test_a_decompression_bomb_meets_the_limit_of_decoded_bytes(
    encoding: str, bomb: bytes, *, chunked: bool
) -> None:
    raw = answer(bomb, content_encoding=encoding)
    if chunked:
        head = answer(content_encoding=encoding, transfer_encoding="chunked")
        head = head.replace(b"content-length: 0\r\n", b"")
        raw = head + f"{len(bomb):x}\r\n".encode() + bomb + b"\r\n0\r\n\r\n"
    assert len(bomb) < MEGABYTE
    assert status_of(raw) is FetchStatus.TOO_LARGE


def test_more_encodings_than_anyone_needs() -> None:
    assert status_of(answer(b"x", content_encoding="gzip," * 9)) is FetchStatus.BROKEN_RESPONSE


def test_an_announced_length_above_the_limit_is_believed() -> None:
    raw = answer(b"x", content_length=str(10**12))
    assert status_of(raw, 1000) is FetchStatus.TOO_LARGE


def test_headers_without_measure() -> None:
    raw = answer(x="y" * 60_000, z="y" * 60_000)
    assert status_of(raw) is FetchStatus.BROKEN_RESPONSE
    assert status_of(answer(set_cookie="y" * 65_500, z="z" * 99)) is FetchStatus.BROKEN_RESPONSE
    assert status_of(answer(x="y" * 70_000)) is FetchStatus.BROKEN_RESPONSE
    assert status_of(answer(**{f"x{n}": "y" for n in range(200)})) is FetchStatus.BROKEN_RESPONSE


# --- broken answers -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nx\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nabcde\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nshort",
        answer(b"no gzip at all", content_encoding="gzip"),
        answer(b"no brotli at all", content_encoding="br"),
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"\0" * 100,
    ],
)
def test_an_answer_that_breaks_the_rules(raw: bytes) -> None:
    assert status_of(raw) is FetchStatus.BROKEN_RESPONSE


def test_a_content_length_below_the_truth_cuts_the_body() -> None:
    with LocalServer({"/": answer(b"12345678", content_length="4")}) as server:
        assert fetcher().fetch(Request(server.url())).body == b"1234"


QUICK = fetcher(HURRY)


@examples(max_examples=60, deadline=None)
@given(
    st.binary(max_size=300), st.sampled_from([b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 302 x\r\n"])
)
def test_no_bytes_make_a_fetch_raise(noise: bytes, start: bytes) -> None:
    with LocalServer({"/": start + noise}) as server:
        response = QUICK.fetch(Request(server.url()))
    assert bool(response.body) <= (response.status is FetchStatus.FETCHED)


# --- redirects ------------------------------------------------------------------------------


def test_a_redirect_to_itself_is_noticed_at_once() -> None:
    with LocalServer({"/": redirect("/")}) as server:
        response = fetcher().fetch(Request(server.url()))
    assert response.status is FetchStatus.TOO_MANY_REDIRECTS
    assert len(server.requests) == 1


def test_redirects_without_end_are_counted() -> None:
    answers = {f"/{n}": redirect(f"/{n + 1}") for n in range(9)}
    with LocalServer(answers) as server:
        response = fetcher(replace(LOCAL, max_redirects=3)).fetch(Request(server.url("/0")))
    assert response.status is FetchStatus.TOO_MANY_REDIRECTS
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    "location",
    ["file:///etc/passwd", "data:text/html,x", "javascript:0", "http://[", "", "a:b:c"],
)
def test_a_redirect_to_what_is_no_page(location: str) -> None:
    assert status_of(redirect(location)) is FetchStatus.BAD_REDIRECT


def test_a_redirect_without_a_target() -> None:
    assert status_of(answer(b"", "302 Found")) is FetchStatus.BAD_REDIRECT


# --- odd, but allowed -----------------------------------------------------------------------


def test_an_empty_body_is_a_body() -> None:
    with LocalServer({"/": answer()}) as server:
        response = fetcher().fetch(Request(server.url()))
    assert (response.status, response.body) == (FetchStatus.FETCHED, b"")


def test_a_binary_body_comes_as_it_is() -> None:
    noise = bytes(range(256)) * 100
    with LocalServer({"/": answer(noise, content_type="image/png")}) as server:
        assert fetcher().fetch(Request(server.url())).body == noise


def test_of_a_robots_txt_of_50_megabytes_only_the_beginning_is_read() -> None:
    rules = b"User-agent: *\nDisallow: /private\n" + b"#" * (50 * MEGABYTE)
    with LocalServer({"/robots.txt": answer(rules)}) as server:
        response = fetcher().fetch(Request(server.url("/robots.txt")))
    assert response.status is FetchStatus.FETCHED
    assert response.body == rules[:ROBOTS_MAX_BYTES]

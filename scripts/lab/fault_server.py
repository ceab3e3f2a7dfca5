"""Servers that behave badly, each in its own way and at its own address of loopback.

A behaviour writes raw bytes, because libraries refuse to send most of this. ``robots.txt`` is missing at
all hosts but those whose fault it is, so that their pages are asked for. Addresses are 127.0.1.1 and on:
for the politeness of a crawler each is a host of its own.
"""

import gzip
import itertools
import random
import socket
import socketserver
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

_NETWORK = "127.0.1."
_LONGEST_SECONDS = 300.0
_MEGABYTE = 1_000_000
_REQUEST_BYTES = 65_536


@dataclass
class Asked:
    """One request, and the way to answer it."""

    path: str
    count: int
    """How often this host was asked for a page before."""
    host: str
    wire: socket.socket

    def send(self, *pieces: bytes) -> None:
        """Send bytes as they are."""
        for piece in pieces:
            self.wire.sendall(piece)

    def drip(self, pieces: Iterable[bytes], every: float) -> None:
        """Send one piece after another until the other side is gone, or for five minutes."""
        end = time.monotonic() + _LONGEST_SECONDS
        for piece in pieces:
            if time.monotonic() > end:
                return
            self.wire.sendall(piece)
            time.sleep(every)

    def hold(self) -> None:
        """Say nothing until the other side is gone."""
        self.wire.settimeout(_LONGEST_SECONDS)
        with suppress(OSError):
            self.wire.recv(1)


Behaviour = Callable[[Asked], None]


def _answer(
    asked: Asked,
    body: bytes | str,
    *headers: str,
    kind: str = "text/html; charset=utf-8",
    status: str = "200 OK",
) -> None:
    content = body.encode() if isinstance(body, str) else body
    lines = [
        f"HTTP/1.1 {status}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(content)}",
        "Connection: close",
        *headers,
    ]
    asked.send("\r\n".join(lines).encode("utf-8", "surrogateescape"), b"\r\n\r\n", content)


def _page(links: Iterable[str], title: str = "News", more: str = "") -> str:
    rows = "".join(f'<li><a href="{link}">Story of {link}</a></li>' for link in links)
    head = f"<!doctype html><html><head><title>{title}</title>{more}</head>"
    return f"{head}<body><ul>{rows}</ul></body></html>"


def _stories(count: int = 12) -> list[str]:
    return [f"/story-{number}.html" for number in range(count)]


def _head(*headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", "Content-Type: text/html", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _sitemap(addresses: Iterable[str]) -> str:
    rows = "".join(f"<url><loc>{one}</loc></url>" for one in addresses)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'


def _rss(items: str, head: str = "") -> str:
    channel = f"<channel><title>Feed</title>{items}</channel>"
    return f'<?xml version="1.0"?>{head}<rss version="2.0">{channel}</rss>'


_FEED = "application/rss+xml"


# Silence and slowness.


def _dripping_body(asked: Asked) -> None:
    asked.send(_head("Content-Length: 100000"))
    asked.drip(itertools.repeat(b"x"), 0.5)


def _dripping_chunks(asked: Asked) -> None:
    asked.send(_head("Transfer-Encoding: chunked"))
    asked.drip(itertools.repeat(b"1\r\nx\r\n"), 0.5)


def _slow_but_right(asked: Asked) -> None:
    time.sleep(5)
    _answer(asked, _page(_stories()))


def _early_hints_then_silence(asked: Asked) -> None:
    asked.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n")
    asked.hold()


# Without end.


def _endless_body(asked: Asked) -> None:
    asked.send(_head())
    while True:
        asked.send(b"<p>more and more</p>" * 4_000)


def _endless_headers(asked: Asked) -> None:
    asked.send(b"HTTP/1.1 200 OK\r\n")
    for number in itertools.count():
        asked.send(f"X-{number}: {'y' * 200}\r\n".encode() * 50)


def _continue_flood(asked: Asked) -> None:
    while True:
        asked.send(b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000)


def _cookies_without_end(asked: Asked) -> None:
    cookies = [f"Set-Cookie: c{asked.count}-{n}={'v' * 40}" for n in range(800)]
    _answer(asked, _page(_stories()), *cookies)


def _link_farm(asked: Asked) -> None:
    """Three hundred links that were never there before, at each visit."""
    dice = random.Random(f"{asked.path}{asked.count}")
    _answer(asked, _page(f"/{dice.getrandbits(60):x}.html" for _ in range(300)))


def _calendar(asked: Asked) -> None:
    month = int(asked.path.rpartition("=")[2]) if "month=" in asked.path else asked.count
    links = [f"/calendar?month={month + 1}", f"/calendar?month={month + 2}"]
    days = [f"/day/{month}/{day}" for day in range(30)]
    _answer(asked, _page([*links, *days], f"Month {month}"))


def _session_ids(asked: Asked) -> None:
    session = random.Random(time.monotonic()).getrandbits(64)
    _answer(asked, _page(f"{link}?PHPSESSID={session:x}" for link in _stories(30)))


def _next_pages(asked: Asked) -> None:
    number = int(asked.path.rpartition("/")[2] or 0) if asked.path[1:].isdecimal() else 0
    links = [f"/item-{number}-{n}-{asked.count}" for n in range(40)]
    further = f'<link rel="next" href="/{number + 1}">'
    _answer(asked, _page(links, more=further))


# Sizes.


@cache
def _zeros() -> bytes:
    """Return two gigabytes of spaces, compressed to two megabytes."""
    return b"".join(gzip.compress(b" " * 100 * _MEGABYTE, 9) for _ in range(20))


def _many_attributes(asked: Asked) -> None:
    many = " ".join(f"a{n}={n}" for n in range(200_000))
    _answer(asked, f"<p {many}>one paragraph</p>{_page(_stories())}")


# Framing.


def _reset_in_body(asked: Asked) -> None:
    asked.send(_head("Content-Length: 100000"), b"x" * 5_000)
    # A linger of zero makes the closing a reset (RST).
    asked.wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _half_closed(asked: Asked) -> None:
    asked.send(_head("Content-Length: 100000"), b"x" * 5_000)
    asked.wire.shutdown(socket.SHUT_WR)
    asked.hold()


def _nothing_at_all(asked: Asked) -> None:
    """Close without an answer."""


# Redirects.


def _redirect(asked: Asked, target: str, status: str = "302 Found") -> None:
    _answer(asked, "", f"Location: {target}", status=status)


def _redirect_inside(asked: Asked) -> None:
    """To addresses that are not public: a metadata service, a router, loopback outside what is allowed."""
    targets = ("http://169.254.169.254/latest/", "http://10.0.0.1/", "http://127.9.9.9:22/")
    _redirect(asked, targets[asked.count % len(targets)])


def _meta_refresh_loop(asked: Asked) -> None:
    target = "/x" if asked.path == "/" else "/"
    _answer(asked, f'<meta http-equiv="refresh" content="0; url={target}">')


# Politeness and caching.


def _retry_after_in_the_past(asked: Asked) -> None:
    past = "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT"
    _answer(asked, "", past, status="503 Service Unavailable")


# Text.


def _wrong_charset(asked: Asked) -> None:
    body = _page(_stories(), "Новости").encode("utf-16-le")
    _answer(asked, body, kind="text/html; charset=shift_jis")


def _iso_2022_jp(asked: Asked) -> None:
    body = b"\x1b$B" * 50_000 + _page(_stories()).encode() + b"\x1b(B~{\x1b$)C"
    _answer(asked, body, kind="text/html; charset=iso-2022-jp")


def _utf_16(asked: Asked) -> None:
    body = _page([f"/{n}.html" for n in range(20_000)]).encode("utf-16-be")
    _answer(asked, body, kind="text/html; charset=utf-16")


def _control_characters(asked: Asked) -> None:
    title = "\x1b[2J\x1b]0;owned\x07\u202egnp.exe\x00=cmd|' /C calc'!A0"
    links = "".join(f'<a href="{link}">{title}{link}</a>' for link in _stories())
    _answer(asked, f"<title>{title}</title>{links}")


def _canonical_elsewhere(asked: Asked) -> None:
    link = '<link rel="canonical" href="http://127.0.0.11/"><base href="javascript:alert(1)">'
    _answer(asked, _page(_stories(), more=link))


# robots.txt.


def _on_robots(behaviour: Behaviour) -> Behaviour:
    """Return what behaves badly for robots.txt alone."""

    def answered(asked: Asked) -> None:
        if asked.path == "/robots.txt":
            behaviour(asked)
        else:
            _answer(asked, _page(_stories()))

    return answered


def _robots_endless(asked: Asked) -> None:
    asked.send(_head())
    while True:
        asked.send(b"User-agent: *\nDisallow: /*a*b*c*d*e$\n" * 2_000)


def _robots_of_wildcards(asked: Asked) -> None:
    rules = "".join(f"Disallow: /{'*a' * 40}{n}$\n" for n in range(4_000))
    _answer(asked, f"User-agent: *\n{rules}", kind="text/plain")


def _robots_of_sitemaps(asked: Asked) -> None:
    named = "".join(f"Sitemap: http://{asked.host}/map-{n}.xml\n" for n in range(5_000))
    _answer(asked, named, kind="text/plain")


# Sitemaps and feeds, found where they usually are.


def _with(path: str, behaviour: Behaviour) -> Behaviour:
    """Return a site whose home page names *path*, where it behaves badly."""

    def answered(asked: Asked) -> None:
        if asked.path == path:
            behaviour(asked)
        elif asked.path == "/robots.txt" and "sitemap" in path:
            _answer(asked, f"Sitemap: http://{asked.host}{path}\n", kind="text/plain")
        else:
            link = f'<link rel="alternate" type="{_FEED}" href="{path}">'
            _answer(asked, _page(_stories(), more="" if "sitemap" in path else link))

    return answered


def _sitemap_loop(asked: Asked) -> None:
    loc = f"<sitemap><loc>http://{asked.host}/sitemap.xml</loc></sitemap>"
    _answer(asked, f"<sitemapindex>{loc * 20_000}</sitemapindex>", kind="application/xml")


def _sitemap_bomb(asked: Asked) -> None:
    entry = f"<url><loc>http://{asked.host}/one.html</loc></url>".encode()
    _answer(asked, _compressed(b"<urlset>" + entry * 600_000), kind="application/gzip")


@cache
def _compressed(content: bytes) -> bytes:
    return gzip.compress(content, 9)


def _entity_bomb(asked: Asked) -> None:
    entities = "".join(
        f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "lol" * 10}">' for n in range(12)
    )
    _answer(
        asked, _rss("<item><title>&l11;</title></item>", f"<!DOCTYPE x [{entities}]>"), kind=_FEED
    )


def _entity_of_a_file(asked: Asked) -> None:
    head = '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    _answer(asked, _rss("<item><title>&f;</title><link>/f</link></item>", head), kind=_FEED)


@cache
def _large_feed() -> str:
    return _rss(
        "".join(f"<item><title>Entry {n}</title><link>/e/{n}</link></item>" for n in range(100_000))
    )


def _dates_in_9999(asked: Asked) -> None:
    dates = ("Fri, 31 Dec 9999 23:59:59 +0000", "Thu, 01 Jan 0000 00:00:00 -9999", "tomorrow")
    items = "".join(
        f"<item><title>{n}</title><link>/f{asked.count}-{n}</link><pubDate>{date}</pubDate></item>"
        for n, date in enumerate(dates * 20)
    )
    _answer(asked, _rss(items), kind=_FEED)


def _nested_json_feed(asked: Asked) -> None:
    start = '{"version": "https://jsonfeed.org/version/1.1", "items": '
    _answer(asked, start + "[" * 500_000, kind="application/feed+json")


BEHAVIOURS: dict[str, Behaviour] = {
    "silence": lambda asked: asked.hold(),
    "slow headers": lambda asked: asked.drip((bytes([byte]) for byte in _head() * 50), 1.0),
    "dripping body": _dripping_body,
    "dripping chunks": _dripping_chunks,
    "slow but right": _slow_but_right,
    "early hints, then silence": _early_hints_then_silence,
    "endless body": _endless_body,
    "endless headers": _endless_headers,
    "flood of 100 Continue": _continue_flood,
    "cookies without end": _cookies_without_end,
    "link farm that changes": _link_farm,
    "calendar trap": _calendar,
    "session id in every link": _session_ids,
    "next pages without end": _next_pages,
    "gzip bomb": lambda asked: _answer(asked, _zeros(), "Content-Encoding: gzip"),
    "gzip in gzip": lambda asked: _answer(
        asked, gzip.compress(_zeros()), "Content-Encoding: gzip, gzip"
    ),
    "400,000 links": lambda asked: _answer(
        asked, "<ul>" + "".join(f"<li><a href=/{n}>{n}</a>" for n in range(400_000))
    ),
    "300,000 nested elements": lambda asked: _answer(
        asked, "<div>" * 300_000 + '<a href="/deep.html">Deep</a>'
    ),
    "150,000 nested lists": lambda asked: _answer(asked, "<ul><li>" * 150_000),
    "200,000 attributes": _many_attributes,
    "attribute of 5 MB": lambda asked: _answer(
        asked, f'<a href="/{"x" * 5 * _MEGABYTE}">long</a>{_page(_stories())}'
    ),
    "comment that never ends": lambda asked: _answer(
        asked, _page(_stories()) + "<!--" + "<a href=x>" * 300_000
    ),
    "5 MB of angle brackets": lambda asked: _answer(asked, "<" * 5 * _MEGABYTE),
    "ETag of 50 kB": lambda asked: _answer(asked, _page(_stories()), f'ETag: "{"e" * 50_000}"'),
    "flood of ETags": lambda asked: _answer(
        asked, _page(_stories()), *(f'ETag: "{asked.count}-{n}"' for n in range(200))
    ),
    "length too long": lambda asked: asked.send(
        _head("Content-Length: 1000000"), _page(_stories()).encode()
    ),
    "length too short": lambda asked: asked.send(
        _head("Content-Length: 10"), _page(_stories()).encode()
    ),
    "two lengths": lambda asked: asked.send(
        _head("Content-Length: 10", "Content-Length: -5"), b"0123456789"
    ),
    "broken chunks": lambda asked: asked.send(
        _head("Transfer-Encoding: chunked"), b"zz\r\nhello\r\n-1\r\n\r\n"
    ),
    "chunk of 16 exabytes": lambda asked: asked.send(
        _head("Transfer-Encoding: chunked"), b"ffffffffffffffff\r\n", b"x" * 100_000
    ),
    "reset in the body": _reset_in_body,
    "half-closed connection": _half_closed,
    "no answer": _nothing_at_all,
    "HTTP/0.9": lambda asked: asked.send(_page(_stories()).encode()),
    "bad status line": lambda asked: asked.send(
        b"HTTP/9.9 two hundred OK\r\n\r\n", _page(_stories()).encode()
    ),
    "status 999": lambda asked: _answer(asked, _page(_stories()), status="999 Request denied"),
    "TLS alert on a plain port": lambda asked: asked.send(bytes.fromhex("15030300020246")),
    "folded and nameless headers": lambda asked: _answer(
        asked, _page(_stories()), "X-Folded: a\r\n\tb\r\n c", "X-\udcff\udcfe: \udc80", ": none"
    ),
    "redirect loop": lambda asked: _redirect(
        asked, "/b" if asked.path == "/a" else "/a", "301 Moved Permanently"
    ),
    "redirect chain": lambda asked: _redirect(
        asked, f"/step-{random.Random(time.monotonic()).getrandbits(40)}"
    ),
    "redirects to private addresses": _redirect_inside,
    "redirects to file: and gopher:": lambda asked: _redirect(
        asked, ("file:///etc/passwd", "gopher://127.0.0.1/", "data:,x")[asked.count % 3]
    ),
    "header injection in Location": lambda asked: _redirect(
        asked, "/a%0d%0aX-Injected:%20yes\x00\rX-Raw: 1"
    ),
    "Location of 60 kB": lambda asked: _redirect(asked, "/" + "l" * 60_000),
    "meta refresh loop": _meta_refresh_loop,
    "304 for everything": lambda asked: asked.send(
        b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\nConnection: close\r\n\r\n'
    ),
    "429 for ever": lambda asked: _answer(asked, "slow down", status="429 Too Many Requests"),
    "Retry-After of a year": lambda asked: _answer(
        asked, "", "Retry-After: 31536000", status="503 Service Unavailable"
    ),
    "Retry-After in the past": _retry_after_in_the_past,
    "wrong charset": _wrong_charset,
    "ISO-2022-JP escapes": _iso_2022_jp,
    "UTF-16": _utf_16,
    "binary as HTML": lambda asked: _answer(
        asked, random.Random(asked.count).randbytes(2 * _MEGABYTE)
    ),
    "control characters in titles": _control_characters,
    "soft 404 for everything": lambda asked: _answer(
        asked, _page([f"/gone-{asked.count}-{n}" for n in range(20)], "Page not found")
    ),
    "canonical link elsewhere": _canonical_elsewhere,
    "endless robots.txt": _on_robots(_robots_endless),
    "robots.txt that redirects to itself": _on_robots(
        lambda asked: _redirect(asked, "/robots.txt")
    ),
    "robots.txt with status 500": _on_robots(
        lambda asked: _answer(asked, "", status="500 Internal Server Error")
    ),
    "robots.txt of wildcards": _on_robots(_robots_of_wildcards),
    "robots.txt of 5,000 sitemaps": _on_robots(_robots_of_sitemaps),
    "sitemap loop": _with("/sitemap.xml", _sitemap_loop),
    "sitemap bomb": _with("/sitemap.xml.gz", _sitemap_bomb),
    "sitemap of empty entries": _with(
        "/sitemap.xml.gz",
        lambda asked: _answer(
            asked, _compressed(b"<urlset>" + b"<url>" * 4_000_000), kind="application/gzip"
        ),
    ),
    "feed with an entity bomb": _with("/feed.xml", _entity_bomb),
    "feed with an entity of a file": _with("/feed.xml", _entity_of_a_file),
    "feed of 100,000 entries": _with(
        "/feed.xml", lambda asked: _answer(asked, _large_feed(), kind=_FEED)
    ),
    "feed with dates in 9999": _with("/feed.xml", _dates_in_9999),
    "feed of nested entries": _with(
        "/feed.xml", lambda asked: _answer(asked, _rss("<item>" * 200_000), kind=_FEED)
    ),
    "JSON feed of nested lists": _with("/feed.json", _nested_json_feed),
}
"""What the hosts do, by name."""
_OWN_ROBOTS = frozenset(name for name in BEHAVIOURS if "robots.txt" in name or "itemap" in name)


class FaultServer:
    """One server for each of *names*, by default all; a context manager. :attr:`urls` has their seeds."""

    def __init__(self, names: Iterable[str] = BEHAVIOURS) -> None:
        self.asked = Counter[str]()
        """Requests by behaviour, robots.txt included."""
        self._servers = {
            name: self._server(name, f"{_NETWORK}{number}") for number, name in enumerate(names, 1)
        }
        self.urls = {
            name: f"http://{one.server_address[0]!s}:{one.server_address[1]}/"
            for name, one in self._servers.items()
        }
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        for server in self._servers.values():
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self._stack.callback(server.server_close)
            self._stack.callback(server.shutdown)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _server(self, name: str, host: str) -> socketserver.ThreadingTCPServer:
        counts, behaviour, asked_for = self.asked, BEHAVIOURS[name], Counter[str]()

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                wire: socket.socket = self.request
                path = _path(wire)
                if path is None:
                    return
                counts[name] += 1
                with suppress(OSError):
                    if path == "/robots.txt" and name not in _OWN_ROBOTS:
                        _answer(
                            Asked(path, 0, host, wire),
                            "",
                            kind="text/plain",
                            status="404 Not Found",
                        )
                        return
                    asked_for[""] += 1
                    here = "{}:{}".format(*wire.getsockname())
                    behaviour(Asked(path, asked_for[""] - 1, here, wire))

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            block_on_close = False
            request_queue_size = 64

            def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - socketserver's own
                """Say nothing."""

        return Server((host, 0), Handler)


def _path(wire: socket.socket) -> str | None:
    """Read a request's head and return its path; None if there is none."""
    wire.settimeout(60)
    head = b""
    while b"\r\n\r\n" not in head and len(head) < _REQUEST_BYTES:
        try:
            piece = wire.recv(_REQUEST_BYTES)
        except OSError:
            return None
        if not piece:
            return None
        head += piece
    words = head.split(b"\r\n", 1)[0].split(b" ")
    return words[1].decode("ascii", "replace") if len(words) > 1 else None

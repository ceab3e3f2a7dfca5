"""What sites send that breaks the rules: a status in the log of visits, and the crawl goes on."""

import gzip
import http.client
import socket
import ssl
from pathlib import Path

import msgspec
import pytest
import requests
import urllib3.exceptions
from fake_web import (
    DAY,
    HOUR,
    MINUTE,
    SPARING,
    START,
    Content,
    Reply,
    page,
    redirect,
    sitemap,
    watch,
)

from incremental.fetch.options import FetchSettings
from incremental.fetch.status import FetchStatus

HOME = "https://news.example/"
MEGABYTE = 1_000_000
SMALL = msgspec.structs.replace(SPARING, fetch=FetchSettings(max_body_bytes=MEGABYTE))


class DnsError(requests.ConnectionError):
    """As requests raises it."""

    def __init__(self, *_: object, **__: object) -> None:
        inner = urllib3.exceptions.NewConnectionError(None, "no")  # type: ignore[arg-type]
        inner.__cause__ = socket.gaierror(socket.EAI_NONAME, "unknown")
        super().__init__(urllib3.exceptions.MaxRetryError(None, "/", inner))  # type: ignore[arg-type]


class TlsError(requests.exceptions.SSLError):
    """As requests raises it."""

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__(ssl.SSLError("expired"))


class ChunkError(requests.ConnectionError):
    """As requests raises it."""

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__(urllib3.exceptions.ProtocolError("bad", http.client.IncompleteRead(b"")))


FAILURES: list[tuple[Content, str]] = [
    (Reply(error=DnsError), "dns_failed"),
    (Reply(error=requests.ConnectionError), "connect_failed"),
    (Reply(error=TlsError), "tls_failed"),
    (Reply(error=requests.ConnectTimeout), "timed_out"),
    (Reply(error=requests.ReadTimeout), "timed_out"),
    (Reply(error=ChunkError), "broken_response"),
    (Reply(b"x" * (MEGABYTE + 1)), "too_large"),
    (Reply(b"", headers={"Content-Length": "99999999999999"}), "too_large"),
    (redirect("."), "too_many_redirects"),
    (redirect("file:///etc/passwd"), "bad_redirect"),
    (redirect("http://169.254.169.254/latest/meta-data/"), "forbidden_address"),
    (redirect("http://localhost:8080/admin"), "redirected"),
    (redirect("http://[::1]/"), "forbidden_address"),
    (Reply(code=301), "bad_redirect"),
    (b"", "no_list"),
    (b"   \n ", "no_list"),
    (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 50, "no_list"),
    (b"%PDF-1.7\n" + b"\x00\xff" * 999, "no_list"),
    (Reply(code=401), "blocked"),
    (Reply(code=403), "blocked"),
    (Reply(code=410), "gone"),
    (Reply(code=500), "server_error"),
    (Reply(code=418), "http_error"),
    (Reply(code=304), "http_error"),
    (Reply(code=206, body=b"part"), "http_error"),
]


@pytest.mark.parametrize(("answer", "status"), FAILURES)
def test_a_section_that_fails_has_its_status_and_the_site_goes_on(
    tmp_path: Path, answer: Content, status: str
) -> None:
    pages = {
        HOME: [(0, page("/list/", "/a.html")), (START + DAY, page("/list/", "/b.html", "/a.html"))],
        HOME + "list/": answer,
        HOME + "b.html": page(),
    }
    with watch(tmp_path, pages, settings=SMALL) as crawl:
        assert crawl.run(2 * DAY).new() == ["/b.html"]
        assert crawl.statuses(HOME + "list/")[0] == status
        assert FetchStatus(status)


@pytest.mark.parametrize(("answer", "status"), FAILURES)
def test_a_seed_that_fails_says_so_and_is_tried_again(
    tmp_path: Path, answer: Content, status: str
) -> None:
    good = [(START + 2 * DAY, page("/a.html")), (START + 4 * DAY, page("/b.html", "/a.html"))]
    pages = {HOME: [(0, answer), *good], HOME + "b.html": page()}
    with watch(tmp_path, pages, settings=SMALL) as crawl:
        crawl.run(1.9 * DAY)
        assert set(crawl.statuses(HOME)) == {status}
        if status != "redirected":
            assert crawl.run(6 * DAY).new() == ["/b.html"]


@pytest.mark.parametrize(("answer", "status"), FAILURES)
def test_a_new_page_that_fails_stops_nothing(tmp_path: Path, answer: Content, status: str) -> None:
    pages = {
        HOME: [(0, page("/a.html")), (START + HOUR, page("/b.html", "/a.html"))],
        HOME + "b.html": answer,
    }
    with watch(tmp_path, pages, settings=SMALL) as crawl:
        crawl.run(DAY)
        assert crawl.statuses(HOME + "b.html")[0] in (status, "fetched")
        assert crawl.statuses(HOME)[-1] in ("fetched", "not_modified")


# --- what parsers dread -----------------------------------------------------------------------

LINKS = "".join(f'<a href="/x{n}.html">{n}</a>' for n in range(12_000)).encode()
BOMB = gzip.compress(b'<?xml version="1.0"?><urlset>' + b" " * 60 * MEGABYTE)
DREADED: dict[str, bytes | Reply] = {
    "a great many links": LINKS,
    "ten thousand nested tags": b"<div>" * 10_000 + b'<a href="/a.html">a</a>',
    "NUL bytes": b'<a\x00 href="/a\x00.html">\x00a</a>\x00' * 50,
    "lone surrogates": b'{"version": "https://jsonfeed.org/version/1.1", "title": "\\ud800", "items": '
    b'[{"id": "1", "url": "https://news.example/s.html", "title": "\\udfff \\ud83d"}]}',
    "references to no character": b"<title>&#xD800;&#0;&#x110000;</title><a href='/a.html'>&#xDFFF;</a>",
    "a gzip bomb of a sitemap": Reply(BOMB, headers={"Content-Type": "application/gzip"}),
    "an entity bomb": b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aaaaaaaaaa">'
    + b"".join(b'<!ENTITY %c "&%c;&%c;&%c;&%c;">' % (c + 1, c, c, c, c) for c in range(97, 120))
    + b"]><rss version='2.0'><channel><title>&x;</title></channel></rss>",
    "a sitemap that lists itself": sitemap(HOME + "map.xml", HOME),
    "wrong dates": b'<rss version="2.0"><channel><item><link>/d.html</link>'
    b"<pubDate>Fri, 99 Xyz 99999999 99:99:99</pubDate></item></channel></rss>",
    "a wrong charset": Reply(
        "价格 ☃".encode("utf-16") * 99, headers={"Content-Type": "text/html; charset=latin-0"}
    ),
    "links that are no URLs": b'<a href="http://[">x</a><a href="//">y</a><a href="http://a.example:x/">z</a>'
    b'<a href="&#x202e;">r</a><a href="mailto:x">m</a><a href="javascript:0">j</a><base href="http://[::bad">',
    "an endless title": b"<title>"
    + b"T" * 500_000
    + b"</title><a href='/a.html'>"
    + b"A" * 400_000
    + b"</a>",
}


@pytest.mark.parametrize("name", DREADED)
@pytest.mark.parametrize("place", ["", "feed", "map.xml"])
def test_what_parsers_dread_is_read_or_refused(tmp_path: Path, name: str, place: str) -> None:
    """As the seed, where a feed is looked for, and as the sitemap of robots.txt."""
    settings = msgspec.structs.replace(SPARING, fetch=FetchSettings(max_body_bytes=9 * MEGABYTE))
    robots = b"User-agent: *\nAllow: /\nSitemap: https://news.example/map.xml\n"
    pages = {HOME: page("/a.html"), HOME + "robots.txt": robots} | {HOME + place: DREADED[name]}
    with watch(tmp_path, pages, settings=settings) as crawl:
        crawl.run(50 * MINUTE)
        assert crawl.statuses(HOME + place)[0] in ("fetched", "no_list")
        assert crawl.statuses(HOME)
        assert crawl.new() == []


def test_a_feed_that_is_html_and_html_that_is_a_feed(tmp_path: Path) -> None:
    rss = b'<rss version="2.0"><channel><item><link>https://news.example/%d.html</link></item></channel></rss>'
    head = '<link rel="alternate" type="application/rss+xml" href="/feed">'
    lying = Reply(page("/a.html").encode(), headers={"Content-Type": "application/rss+xml"})
    pages = {
        HOME: page("/list/", head=head),
        HOME + "feed": lying,
        HOME + "list/": [(0, Reply(rss % 1)), (START + DAY, Reply(rss % 2))],
        HOME + "2.html": page(),
    }
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(3 * DAY).new() == ["/2.html"]
        hub = crawl.hub(HOME + "list/")
        assert hub is not None
        assert hub.kind == "feed"
        assert HOME + "feed" in crawl.hubs("dropped")


def test_a_robots_txt_of_fifty_megabytes(tmp_path: Path) -> None:
    rules = b"User-agent: *\nDisallow: /secret\n" + b"# noise and more of it\n" * 2_300_000
    pages = {HOME: page("/a.html", "/secret/"), HOME + "robots.txt": rules}
    with watch(tmp_path, pages) as crawl:
        crawl.run(HOUR)
        assert crawl.hubs() == {HOME}
        assert HOME + "secret/" not in crawl.web.urls()


@pytest.mark.parametrize(
    "seed",
    ["http://127.0.0.1/", "http://10.0.0.1/", "http://[::1]/", "http://169.254.169.254/"],
)
def test_a_seed_on_a_private_address_is_refused_without_a_request(
    tmp_path: Path, seed: str
) -> None:
    with watch(tmp_path, {HOME: page()}, seed) as crawl:
        crawl.run(HOUR)
        assert crawl.web.asked == []
        (hub,) = crawl.store.read.hubs()
        assert hub.last_status in ("forbidden_address", "robots_unreachable")


def test_links_to_private_addresses_are_never_asked(tmp_path: Path) -> None:
    from incremental.base.scope import Reach
    from incremental.settings.seeds import SeedTerms

    head = '<link rel="alternate" type="application/rss+xml" href="http://10.0.0.1/feed">'
    links = ("http://127.0.0.1/admin/", "http://192.168.1.1/", "http://[fe80::1]/x/", "/a.html")
    with watch(
        tmp_path, {HOME: page(*links, head=head)}, terms=SeedTerms(reach=Reach.ANYWHERE)
    ) as crawl:
        crawl.run(DAY)
        assert {url.split("/")[2] for url in crawl.web.urls()} == {"news.example"}

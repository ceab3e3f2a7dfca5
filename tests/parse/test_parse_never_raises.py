"""What promises never to raise, and what promises one error of its own, given anything at all."""

import contextlib
import gzip
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hubwatch.errors import HubwatchError
from incremental.base.scope import Scope, page_number, template, trap
from incremental.base.urls import canonical_key, host_of, normalize, registered_domain
from incremental.features.exchange.lists import read_list
from incremental.fetch.robots import RobotsPolicy
from incremental.fetch.status import FetchStatus
from incremental.parse.dispatch import parse
from incremental.settings import load_settings
from incremental.settings.loading import build_settings
from store.errors import StoreError
from store.maintenance.backup import restore

TYPES = [
    *("", "text/html", "application/xml", "application/json", "text/plain", "application/gzip"),
    *("text/html; charset=gbk", "text/html; charset=utf-16", "text/html; charset=utf-7"),
    *(
        "text/html; charset=big5",
        "application/rss+xml",
        "application/feed+json",
        "\0;charset=\ud800",
    ),
]
STARTS = [
    *(
        b"",
        b"<html>",
        b"<rss><channel><item>",
        b"<feed><entry>",
        b"<urlset><url><loc>",
        b"\x1f\x8b",
    ),
    *(b'{"version": "https://jsonfeed.org/version/1.1", "items": [', b"\xff\xfe", b"\xef\xbb\xbf"),
    *(b"<?xml version='1.0' encoding='", b"<!DOCTYPE x [<!ENTITY y '", b"<?xml version='1.0'?>"),
]
bodies = st.tuples(st.sampled_from(STARTS), st.binary(max_size=200)).map(b"".join)
SLOW = settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])


@SLOW
@given(body=bodies, kind=st.sampled_from(TYPES), packed=st.booleans())
@example(body=b"<a href='http://[x'>", kind="text/html", packed=True)
def test_no_body_makes_parsing_raise(body: bytes, kind: str, *, packed: bool) -> None:
    parse(
        gzip.compress(body) if packed else body, "https://a.org/", content_type=kind, want_text=True
    )


LINES = [
    *("User-agent: *", "user-agent:hubwatch", "Disallow: /", "Allow: *$", "Crawl-delay: ", "Host:"),
    *("Crawl-delay: 1e999", "Request-rate: 1/0", "Request-rate: ", "Sitemap: http://[", ":"),
]


@given(st.lists(st.sampled_from(LINES) | st.text(max_size=20), max_size=12).map("\n".join))
def test_no_robots_file_makes_reading_raise(text: str) -> None:
    rules = RobotsPolicy(FetchStatus.FETCHED, text, "hubwatch", 0.0)
    assert rules.allows("https://a.org/x?y") in {True, False}
    assert (rules.crawl_delay_seconds or 0) >= 0
    assert all(url.startswith("http") for url in rules.sitemaps)


@given(st.text(max_size=60) | st.text(max_size=40).map("https://".__add__))
@example("http://[::1/")
@example("https://a.org:99999999999/\ud800")
def test_no_address_makes_normalising_or_judging_raise(url: str) -> None:
    if (usable := normalize(url)) is not None:
        for judge in (
            host_of,
            canonical_key,
            trap,
            template,
            page_number,
            Scope("https://a.org/").rule,
        ):
            judge(usable)
        registered_domain(host_of(usable))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
SECTIONS = [
    "fetch",
    "politeness",
    "store",
    "revisit",
    "web",
    "site",
    "notify",
    "messages",
    "discovery",
]
FIELDS = ["url", "name", "password", "hours", "workers", "folder", "proxy", "headers", "include"]


@given(
    st.dictionaries(
        st.sampled_from(SECTIONS),
        values
        | st.dictionaries(st.sampled_from(FIELDS), values, max_size=3)
        | st.lists(st.dictionaries(st.sampled_from(FIELDS), values, max_size=4), max_size=2),
        max_size=3,
    )
)
def test_any_tree_is_settings_or_an_error_that_names_the_field(tree: dict[str, object]) -> None:
    with contextlib.suppress(HubwatchError):
        build_settings(tree)


@SLOW
@given(st.binary(max_size=120) | st.text(max_size=80).map(str.encode))
def test_any_file_is_settings_or_an_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "hubwatch.toml").write_bytes(content)
    with contextlib.suppress(HubwatchError):
        load_settings(tmp_path / "hubwatch.toml", {})


@SLOW
@given(st.binary(max_size=300) | st.binary(max_size=300).map(gzip.compress))
def test_any_file_is_a_backup_or_an_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "b").write_bytes(content)
    with contextlib.suppress(StoreError):
        restore(tmp_path / "b", tmp_path / "home")
    assert not (tmp_path / "home").exists()


@given(
    st.binary(max_size=200) | st.text(max_size=200).map(str.encode),
    st.sampled_from([b"", b"<opml>", b"url,name\n"]),
)
def test_any_file_is_a_list_or_an_error(content: bytes, begin: bytes) -> None:
    with contextlib.suppress(HubwatchError):
        read_list(begin + content)

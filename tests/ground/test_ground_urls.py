"""Canonical URLs: tables for the rules, properties for everything else."""

import csv
from collections import defaultdict
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incremental.base import urls as urls_module
from incremental.base.readable_urls import readable
from incremental.base.urls import (
    MAX_URL_LENGTH,
    canonical_key,
    host_of,
    normalize,
    registered_domain,
)

LABELLED = Path(__file__).resolve().parents[3] / "shared" / "hub" / "urls.tsv"

# Text that looks like parts of URLs finds more than plain noise.
_WORDS = r""". .. / // %2e %2E%2e % %zz %c4%e3 ? & &amp; = # ; a B 新闻 é ß \ @ : 80 [ ] xn-- + ! ~
utm_source=x jsessionid=0123456789abcdef index.html"""
_PIECES = st.sampled_from(_WORDS.split()) | st.sampled_from(" \t\n\0\u202e\ud800")
pieces = st.lists(_PIECES, max_size=12).map("".join)
hosts = st.from_regex(r"[a-z][a-z0-9]{0,8}\.(org|com|cn|co\.uk)", fullmatch=True)
paths = st.lists(st.from_regex(r"[A-Za-z0-9_~-]{1,8}", fullmatch=True), max_size=5).map("/".join)
parameters = st.lists(
    st.from_regex(r"(id|p|q|type)[0-9]?=[a-z0-9]{0,6}", fullmatch=True), max_size=4, unique=True
)
urls = st.builds(
    lambda host, path, query: f"https://{host}/{path}" + (f"?{'&'.join(query)}" if query else ""),
    hosts,
    paths,
    parameters,
)


@settings(max_examples=300)
@given(text=st.text(max_size=60) | pieces | pieces.map("http://a.org/".__add__))
def test_any_text_has_a_stable_form_or_none(text: str) -> None:
    """Never an exception; what comes out is ASCII, http(s), bounded, and its own fetch form."""
    url = normalize(text)
    if url is not None:
        assert normalize(url) == url
        assert url.isascii()
        assert url.startswith(("http://", "https://"))
        assert len(url) <= MAX_URL_LENGTH
        assert host_of(url)
        assert readable(url).isprintable()
        assert canonical_key(url) == canonical_key(url.rstrip("/")) or urlsplit(url).query


_PORTS = st.sampled_from(["", ":80", ":443", ":8080", ":08", ":59999", ":60000", ":99999"])
_HOSTS = st.text("ab1-_.A", max_size=8) | st.sampled_from(["a" * 63 + ".org", "a" * 64 + ".org"])
_TAILS = st.text("abZ09_~!$&'()*+,;=:@./-?%#[] 新", max_size=12)


@settings(max_examples=500)
@given(scheme=st.sampled_from(["http", "https"]), host=_HOSTS, port=_PORTS, tail=_TAILS)
def test_what_needs_no_rewriting_is_recognised(
    scheme: str, host: str, port: str, tail: str
) -> None:
    """The quick way gives what the long one does."""
    url = f"{scheme}://{host}{port}/{tail}"
    assert normalize(url) == urls_module._rewritten(url)


@settings(max_examples=200)
@given(base=pieces.map("http://a.org/".__add__), text=st.text(max_size=40) | pieces)
def test_any_reference_on_any_page_has_a_stable_form_or_none(base: str, text: str) -> None:
    url = normalize(text, base)
    assert url is None or normalize(url) == url


@given(url=urls, junk=st.text(max_size=10))
def test_fragment_scheme_and_default_port_do_not_count(url: str, junk: str) -> None:
    same = [
        f"{url}#{junk}",
        url.replace("https:", "http:"),
        f" {url}\n",
        url.replace("http", "HTTP"),
    ]
    parts = urlsplit(url)
    same.append(urlunsplit(parts._replace(netloc=f"{parts.netloc.upper()}:443")))
    assert {canonical_key(normalize(one) or "") for one in same} == {canonical_key(url)}


@given(url=urls, order=st.randoms(use_true_random=False))
def test_order_tracking_and_sessions_do_not_count(url: str, order: object) -> None:
    parts = urlsplit(url)
    query = [*filter(None, parts.query.split("&")), "utm_source=rss", "fbclid=IwAR0"]
    query.append("PHPSESSID=0123456789abcdef0123456789abcdef")
    order.shuffle(query)  # type: ignore[attr-defined]  # a random.Random
    same = urlunsplit(parts._replace(query="&".join(query)))
    assert canonical_key(normalize(same) or "") == canonical_key(url)


@given(url=urls, file=st.sampled_from(["/", "/index.html", "/Index.HTM", "/default.aspx", "/."]))
def test_the_name_of_a_folder_is_one_in_every_spelling(url: str, file: str) -> None:
    parts = urlsplit(url)
    same = urlunsplit(parts._replace(path=parts.path.rstrip("/") + file))
    assert canonical_key(normalize(same) or "") == canonical_key(url)


@given(one=urls, other=urls)
def test_different_paths_and_parameters_are_different_pages(one: str, other: str) -> None:
    def form(url: str) -> tuple[str, str, frozenset[str]]:
        parts = urlsplit(url)
        return parts.netloc, parts.path.rstrip("/"), frozenset(parts.query.split("&"))

    assert (canonical_key(one) == canonical_key(other)) == (form(one) == form(other))


# Paper 004, section 1.4, step by step, and RFC 3986, section 6.2.
STEPS = {
    "HTTP://WWW.Scu.EDU.cn/Path": "http://www.scu.edu.cn/Path",
    "http://www.scu.edu.cn": "http://www.scu.edu.cn/",
    "http://www.scu.edu.cn:80/": "http://www.scu.edu.cn/",
    "https://www.scu.edu.cn:443/": "https://www.scu.edu.cn/",
    "http://www.scu.edu.cn:8080/": "http://www.scu.edu.cn:8080/",
    "http://a.org/news/#top": "http://a.org/news/",
    "http://a.org/a/./b/../c": "http://a.org/a/c",
    "http://a.org/../../x": "http://a.org/x",
    "http://a.org/a/..": "http://a.org/",
    "http://a.org/a/%2E%2e/b": "http://a.org/b",
    "http://a.org/%7euser/%2d": "http://a.org/~user/-",
    "http://a.org/%c3%a9": "http://a.org/%C3%A9",
    "http://a.org/é": "http://a.org/%C3%A9",
    "http://a.org/?q=%c4%e3": "http://a.org/?q=%C4%E3",
    "http://a.org/%c4%e3%ba%c3.html": "http://a.org/%C4%E3%BA%C3.html",
    "http://a.org/a b": "http://a.org/a%20b",
    "http://a.org/?": "http://a.org/",
    "http://a.org./x": "http://a.org/x",
    "http://user:secret@a.org/x": "http://a.org/x",
    "http://a.org\\news\\1": "http://a.org/news/1",
    "http://a.org/ne\tws\n": "http://a.org/news",
    "http://[2001:DB8::1]:80/": "http://[2001:db8::1]/",
    "http://例子.测试/路": "http://xn--fsqu00a.xn--0zwm56d/%E8%B7%AF",
    "http://XN--FSQU00A.xn--0zwm56d/": "http://xn--fsqu00a.xn--0zwm56d/",
    "http://例子。测试/": "http://xn--fsqu00a.xn--0zwm56d/",
    "http://BÜCHER.de:8080/": "http://xn--bcher-kva.de:8080/",
    "http://faß.de/": "http://xn--fa-hia.de/",
    "http://xn--ls8h.la/": "http://xn--ls8h.la/",
    "http://b%C3%BCcher.de/x": "http://xn--bcher-kva.de/x",
    "http://%E4%BE%8B%E5%AD%90.测试:8080/": "http://xn--fsqu00a.xn--0zwm56d:8080/",
}


@pytest.mark.parametrize(("written", "fetched"), STEPS.items())
def test_the_fetch_form(written: str, fetched: str) -> None:
    assert normalize(written) == fetched


_UNUSABLE = """news|/news|//a.org/|mailto:a@a.org|javascript:void(0)|ftp://a.org/|http://|http:///x|data:,x
|http://a.org:99999/|http://a.org:x/|http://[::1|http://ex%61mple.org/|http://a b.org/|http://<a>.org/
|http://a%2Fb.org/|http://a／💩.org/|http://a%zz.org/|http://%ff.org/|http://a%00.org/
|file:///etc/passwd| |http://\ud800.org/"""
_TOO_LONG = ["http://a.org/" + "x" * MAX_URL_LENGTH, "http://a.org/" + "新" * 700]


@pytest.mark.parametrize("text", [*_UNUSABLE.split("|"), *_TOO_LONG])
def test_what_is_no_usable_url(text: str) -> None:
    assert normalize(text) is None


@pytest.mark.parametrize(
    ("reference", "url"),
    [
        ("b", "https://a.org/x/b"),
        ("/b", "https://a.org/b"),
        ("../../b", "https://a.org/b"),
        ("?p=2", "https://a.org/x/y?p=2"),
        ("#top", "https://a.org/x/y"),
        ("//b.org", "https://b.org/"),
        (" http://b.org/ ", "http://b.org/"),
        ("mailto:a@a.org", None),
        ("http://[", None),
    ],
)
def test_a_reference_is_resolved_on_its_page(reference: str, url: str | None) -> None:
    assert normalize(reference, "https://a.org/x/y") == url


SAME = [
    ("https://a.org/news/", "http://a.org/news"),
    ("https://a.org/?b=2&a=1", "https://a.org/index.php?a=1&b=2"),
    ("https://a.org/news/INDEX.HTM/", "https://a.org/news"),
    ("https://a.org/x?a=1&amp;b=2", "https://a.org/x?b=2&a=1"),
    ("https://a.org/x;jsessionid=0A1B", "https://a.org/x"),
    ("https://a.org/(S(abcdefghij12345))/x", "https://a.org/x"),
    ("https://a.org/x?sid=0123456789abcdef", "https://a.org/x"),
    ("https://a.org/x?sid=8f14e45f-ceea-467a-9575-4e1d2f8a0b31", "https://a.org/x"),
    ("https://a.org/x?ASPSESSIONIDQAQB=ABCDEFGHIJKLMNOPQRSTUVWX", "https://a.org/x"),
    ("https://a.org/x?spm=a1.b2&gclid=1&mc_cid=2&_hsenc=3", "https://a.org/x"),
]
DIFFERENT = [
    ("https://a.org/A", "https://a.org/a"),
    ("https://a.org/x?id=1", "https://a.org/x?id=2"),
    ("https://a.org/x?sid=12", "https://a.org/x?sid=13"),
    ("https://a.org/x?sid=202405061234", "https://a.org/x?sid=202405061235"),
    ("https://a.org/x?sid=20240506T123456Z", "https://a.org/x?sid=20240506T123457Z"),
    ("https://a.org/x?sid=ten-of-the-best", "https://a.org/x?sid=top-of-the-list"),
    ("https://a.org/x", "https://www.a.org/x"),
    ("https://a.org/x", "https://a.org:8443/x"),
    ("https://a.org/a%2Fb", "https://a.org/a/b"),
    ("https://a.org/index2.html", "https://a.org/"),
    ("https://a.org/myindex.html", "https://a.org/"),
    ("https://a.org/?q=a+b", "https://a.org/?q=ab"),
    ("https://a.org/?q=%C4%E3", "https://a.org/?q=%E4%BD%A0"),
    ("https://a.org/x?source=1", "https://a.org/x"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_one_page_under_two_urls(one: str, other: str) -> None:
    assert canonical_key(one) == canonical_key(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_two_pages_under_two_urls(one: str, other: str) -> None:
    assert canonical_key(one) != canonical_key(other)


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.bbc.co.uk", "bbc.co.uk"),
        ("news.scu.edu.cn", "scu.edu.cn"),
        ("reader.github.io", "reader.github.io"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
    ],
)
def test_the_registered_domain(host: str, domain: str) -> None:
    assert registered_domain(host) == domain


def test_urls_are_shown_as_people_read_them() -> None:
    assert readable("http://xn--fsqu00a.xn--0zwm56d/%E8%B7%AF") == "http://例子.测试/路"
    assert readable("http://a.org/%C4%E3") == "http://a.org/%C4%E3"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://a.org/C%23/%E8%B7%AF", "http://a.org/C%23/路"),
        ("http://a.org/a%2Fb%3Fc%25?q=%26%3D%2B", "http://a.org/a%2Fb%3Fc%25?q=%26%3D%2B"),
        ("http://a.org/%C3%A4%E2%80%AE", "http://a.org/ä%E2%80%AE"),
        ("http://xn--bcher-kva.de/", "http://bücher.de/"),
        ("http://xn--fa-hia.de/", "http://faß.de/"),
        ("http://xn--e1afmkfd.xn--p1ai/", "http://пример.рф/"),
        # аpple.com with one Cyrillic letter, аррӏе.com with Cyrillic look-alikes alone.
        ("http://xn--pple-43d.com/", "http://xn--pple-43d.com/"),
        ("http://xn--80ak6aa92e.com/", "http://xn--80ak6aa92e.com/"),
    ],
)
def test_what_is_shown_leads_to_the_same_page_and_deceives_nobody(url: str, shown: str) -> None:
    assert readable(url) == shown


@settings(max_examples=300)
@given(text=pieces.map("http://a.org/".__add__) | st.text(max_size=40).map("http://a.org/".__add__))
def test_every_address_that_is_shown_leads_to_its_page(text: str) -> None:
    url = normalize(text)
    assert url is None or normalize(readable(url)) == url


@pytest.mark.parametrize("escape", ["%E2%80%AE", "%0A", "%1B", "%20", "%00", "%EF%BB%BF"])
def test_what_could_mislead_stays_escaped(escape: str) -> None:
    assert escape in readable(f"http://a.org/{escape}gpj.exe")


@pytest.mark.skipif(not LABELLED.exists(), reason="the labelled URLs are not at ../shared/hub")
def test_no_two_pages_of_the_labelled_urls_are_taken_for_one() -> None:
    """27,493 real URLs: those of one canonical key differ in fragment, escapes or default file only.

    What a page shows for a fragment is made by its script; a fetch brings the same body for all.
    """
    with LABELLED.open(encoding="utf-8", newline="") as file:
        written = [row["url"] for row in csv.DictReader(file, delimiter="\t", quoting=3)]
    groups: defaultdict[str, set[str]] = defaultdict(set)
    for url in written:
        fetched = normalize(url)
        assert fetched is not None, url
        assert normalize(readable(fetched)) == fetched
        assert normalize(fetched) == fetched
        groups[canonical_key(fetched)].add(fetched.split("://")[1].rstrip("/"))
    together = [group for group in groups.values() if len(group) > 1]
    files = ("/index.html", "/index.htm", "/index.shtml", "/index.php", "/main.htm")
    for group in together:
        folder = min(group, key=len)
        assert group <= {folder, *(folder + file for file in files)} | {
            folder + file.replace("/i", "/I") for file in files
        }
    assert 20 <= len(together) <= 60

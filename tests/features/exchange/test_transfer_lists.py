"""Lists are read for what they name; what is odd is said with its place."""

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental.base.errors import InputError
from incremental.base.scope import Reach
from incremental.base.tagging import is_named
from incremental.base.urls import normalize
from incremental.features.exchange.adding import Imported, import_all
from incremental.features.exchange.lists import ReadList, Wanted, read_list
from incremental.features.exchange.writing import write_sites
from incremental.fetch.options import FetchSettings
from incremental.settings.seeds import SeedTerms, add_seed
from incremental.topics.training.corrections import correct
from store import Store, open_store

LOCAL = FetchSettings(allowed_networks=("127.0.0.0/8",))


def add_all(
    store: Store, wanted: Sequence[Wanted], fetch: FetchSettings = LOCAL, **options: Any
) -> Imported:
    return import_all(store, ReadList("urls", tuple(wanted), ()), fetch, **options)


OPML = """<?xml version="1.0"?><opml version="2.0"><body><outline text="News">
<outline text="A" type="rss" xmlUrl="https://a.example/feed.xml" htmlUrl="https://a.example/"/>
<outline text="B" type="rss" xmlUrl="https://b.example/atom"/></outline></body></opml>"""
CSV = "name;url\nA;https://a.example/\nB;https://b.example/x\n"
URLS = "# mine\nhttps://a.example/\n\nb.example/x  a note\n"


@pytest.mark.parametrize(
    ("text", "form", "urls"),
    [
        (OPML, "opml", ["https://a.example/feed.xml", "https://b.example/atom"]),
        (CSV, "csv", ["https://a.example/", "https://b.example/x"]),
        (URLS, "urls", ["https://a.example/", "https://b.example/x"]),
    ],
)
def test_each_format_is_recognised_and_read(text: str, form: str, urls: list[str]) -> None:
    found = read_list(text.encode())
    assert (found.format, [one.url for one in found.wanted]) == (form, urls)
    assert all(one.feed == (form == "opml") for one in found.wanted)


def test_a_table_of_one_column_is_known_by_its_header() -> None:
    found = read_list(b"url\nhttps://a.example/x,y\n")
    assert (found.format, len(found.wanted), found.problems) == ("csv", 1, ())


def test_a_table_without_a_header_is_read_too() -> None:
    found = read_list(b"A,https://a.example/\nB,https://b.example/\n")
    assert len(found.wanted) == 2


@pytest.mark.parametrize(
    "address",
    [
        "https://x.example/a,b.html",
        "HTTP://x.example/0,1518,99,00.html",
        "https://x.example/a;id=5",
    ],
)
def test_addresses_with_commas_and_semicolons_are_watched_whole(address: str) -> None:
    found = read_list(f"{address}  mine, and yours\nhttps://y.example/1,2.html\n".encode())
    assert found.format == "urls"
    assert [one.url for one in found.wanted] == [normalize(address), "https://y.example/1,2.html"]


@pytest.mark.parametrize(
    "rest",
    [
        *(", Old news", "/, Old news", "/,Old news", ",News", "/old, News", '/old,"News, old"'),
        *("/;News", "/old;News", "/old\tNews", "/old,https://a.example/feed", "/old,"),
    ],
)
def test_a_table_may_begin_with_an_address(rest: str) -> None:
    found = read_list(f"https://a.example{rest}\n".encode())
    assert found.format == "csv"
    assert found.wanted[0].url in ("https://a.example/", "https://a.example/old")


ENCODINGS = {
    "utf-8": ("Überblick", "新闻"),
    "utf-8-sig": ("Überblick", "新闻"),
    "utf-16": ("Überblick", "新闻"),
    "utf-16-le": ("Überblick", "新闻"),
    "windows-1252": ("Überblick", "Café – Menü"),
    "iso-8859-1": ("Überblick", "Café, Menü"),
    "gb18030": ("新闻", "中国人民大学"),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_outlines_are_read_in_the_encoding_that_they_declare(encoding: str) -> None:
    outer, inner = ENCODINGS[encoding]
    text = (
        f'<?xml version="1.0" encoding="{encoding.removesuffix("-sig").removesuffix("-le")}"?>'
        f'<opml version="2.0"><body><outline text="{outer}"><outline text="{inner}">'
        f'<outline text="{inner}" xmlUrl="https://a.example/feed"/></outline></outline></body></opml>'
    )
    (found,) = read_list(text.encode(encoding)).wanted
    assert (found.name, found.folders) == (inner, (f"{outer}/{inner}",))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_table_that_a_spreadsheet_wrote_is_read(encoding: str) -> None:
    """Excel writes the encoding of its system, or UTF-16 with tabs, and declares neither."""
    outer, inner = ENCODINGS[encoding]
    between = "\t" if encoding == "utf-16" else ";"
    rows = (("Name", "URL", "Folder"), (inner, "https://a.example/", outer))
    text = "".join(between.join(row) + "\r\n" for row in rows)
    (found,) = read_list(text.encode(encoding)).wanted
    assert (found.name, found.folders) == (inner, (outer,))


def test_what_cannot_be_used_is_named_with_its_place() -> None:
    found = read_list(b"https://a.example/\njavascript:alert(1)\nftp://b.example/\n")
    assert len(found.wanted) == 1
    assert [problem.split(":")[0] for problem in found.problems] == ["line 2", "line 3"]


def test_doubles_are_one() -> None:
    assert len(read_list(b"https://a.example/\nHTTPS://A.EXAMPLE/#top\n").wanted) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "nothing"),
        (b"\xff\xfe\x00", "nothing"),
        (b"{not json", "nothing"),
        (b"<opml><body><outline xmlUrl=", "nothing"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR a.example", "is no list of addresses"),
    ],
)
def test_a_broken_file_is_refused_with_the_reason(content: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_list(content)


def test_an_opml_with_entities_of_its_own_is_refused_and_a_document_type_is_not_read() -> None:
    entities = "".join(
        f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "x" * 10}">' for n in range(9)
    )
    bomb = f"<!DOCTYPE o [{entities}]>{OPML.split('?>')[1].replace('News', '&e8;')}"
    with pytest.raises(InputError, match="declares entities"):
        read_list(bomb.encode())
    elsewhere = bomb.replace(f"[{entities}]", 'SYSTEM "file:///etc/passwd"').replace("&e8;", "News")
    assert len(read_list(elsewhere.encode()).wanted) == 2


@given(st.text(max_size=200), st.sampled_from(("", "<opml>", "url,name\n")))
def test_any_text_is_read_or_refused(text: str, begin: str) -> None:
    try:
        found = read_list((begin + text).encode("utf-8", "replace"))
    except InputError:
        return
    assert found.wanted


def test_an_outline_names_the_site_of_its_feed_or_a_page(sqlite_store: Store) -> None:
    text = """<opml version="1.0"><body><outline text="group">
    <outline xmlURL="https://feeds.test/a" htmlUrl="https://a.example/news/"/></outline>
    <outline text="a page" htmlUrl="https://b.example/"/>
    <outline type="link" url="https://c.example/list/"/>
    <outline type="include" url="https://d.example/more.opml"/></body></opml>"""
    found = read_list(text.encode())
    assert found.wanted == (
        Wanted(
            "https://feeds.test/a", feed=True, home="https://a.example/news/", folders=("group",)
        ),
        Wanted("https://b.example/", name="a page"),
        Wanted("https://c.example/list/"),
    )
    assert found.skipped == ("outline 5: another list, which is not fetched",)
    added = add_all(sqlite_store, found.wanted, now=1.0)
    assert [(one.result, one.site) for one in added.entries] == [
        ("feed", "a.example"),
        ("watched", "a page"),
        ("watched", "c.example"),
    ]


def test_a_feed_of_another_port_is_not_of_the_site(sqlite_store: Store) -> None:
    pages = [Wanted("http://127.0.0.1:8102/"), Wanted("http://127.0.0.1:8103/feed", feed=True)]
    add_all(sqlite_store, pages, now=1.0)
    sites = {row.id: row.seed_url for row in sqlite_store.read.sites()}
    by_hub = {hub.url: sites[hub.site_id] for hub in sqlite_store.read.hubs()}
    assert by_hub["http://127.0.0.1:8103/feed"] == "http://127.0.0.1:8103/feed"


def test_two_feeds_on_a_host_of_feeds_are_of_two_sites(sqlite_store: Store) -> None:
    urls = ("https://feeds.test/a", "https://feeds.test/b")
    added = add_all(sqlite_store, [Wanted(url, feed=True) for url in urls], now=1.0)
    assert (added.sites, added.feeds) == (2, 2)


def test_a_refused_address_is_reported_with_the_setting_that_would_allow_it(
    sqlite_store: Store,
) -> None:
    wanted = [
        Wanted("http://10.0.0.5/"),
        Wanted("https://feeds.test/a", feed=True, home="http://localhost/"),
        Wanted("https://a.example/"),
    ]
    added = add_all(sqlite_store, wanted, FetchSettings(), now=1.0)
    assert [one.result for one in added.entries] == ["refused", "refused", "watched"]
    assert all("allowed_networks" in one.why for one in added.entries[:2])


def test_what_is_exported_as_opml_is_the_same_when_it_is_imported(
    sqlite_store: Store, tmp_path: Path
) -> None:
    """Sites without feeds, names, folders and pauses included."""
    wanted = [
        Wanted("https://a.example/news/", name="A's <news> & more", folders=("Work/Daily", "Best")),
        Wanted("https://feeds.test/b", feed=True, home="https://b.example/", folders=("Work",)),
        Wanted("https://feeds.test/b2", feed=True, home="https://b.example/"),
        Wanted("https://feeds.test/c", feed=True, name="C", paused=True),
    ]
    add_all(sqlite_store, wanted, now=1.0)
    written = io.BytesIO()
    write_sites(sqlite_store, written)
    found = read_list(written.getvalue())
    assert not found.problems
    assert not found.skipped
    again = add_all(sqlite_store, found.wanted, now=2.0)
    assert {one.result for one in again.entries} == {"known"}
    there = tmp_path / "there"
    with open_store(str(there / "hubwatch.sqlite"), cache_folder=there / "cache") as other:
        add_all(other, found.wanted, now=3.0)
        assert _watched(other) == _watched(sqlite_store)
        once_more = io.BytesIO()
        write_sites(other, once_more)
    assert once_more.getvalue() == written.getvalue()


def _watched(store: Store) -> set[tuple[object, ...]]:
    feeds = {row.id: set[str]() for row in store.read.sites()}
    for hub in store.read.hubs():
        if hub.kind == "feed":
            feeds[hub.site_id].add(hub.url)
    folders = store.tags.of_sites()
    return {
        (
            row.name,
            row.seed_url,
            tuple(folders.get(row.id, ())),
            row.state,
            frozenset(feeds[row.id]),
        )
        for row in store.read.sites()
    }


def test_a_dry_run_says_the_same_and_writes_nothing(store: Store) -> None:
    wanted = [Wanted("https://a.example/", name="A", folders=("F",)), Wanted("http://10.0.0.5/")]
    tried = add_all(store, wanted, now=1.0, dry_run=True)
    assert not store.read.sites()
    done = add_all(store, wanted, now=1.0)
    assert tried == replace(done, dry_run=True)
    assert [row.name for row in store.read.sites()] == ["A"]


def test_a_known_site_keeps_its_name_and_joins_the_folder(sqlite_store: Store) -> None:
    add_all(sqlite_store, [Wanted("https://a.example/", name="Mine", folders=("One",))], now=1.0)
    again = Wanted("https://a.example/", name="Theirs", folders=("Two",), paused=True)
    (entry,) = add_all(sqlite_store, [again], now=2.0).entries
    assert (entry.site, entry.folders, entry.paused) == ("Mine", ("One", "Two"), False)


def test_new_terms_leave_name_and_folders(sqlite_store: Store) -> None:
    add_all(sqlite_store, [Wanted("https://a.example/", name="A", folders=("One",))], now=1.0)
    terms = SeedTerms(reach=Reach.DOMAIN)
    add_seed(sqlite_store, "https://a.example/", now=2.0, terms=terms)
    (row,) = sqlite_store.read.sites()
    assert (row.name, is_named(row)) == ("A", True)
    assert sqlite_store.tags.of_sites()[row.id] == ["One"]


@pytest.mark.parametrize(
    ("outline", "said"),
    [
        ('<outline text="nothing"/>', "has no address (nothing)"),
        (
            '<outline text="J" type="JSON+DotNotation" xmlUrl="https://x.example/api"/>',
            "json+dotnotation: no list of links can be read there (J)",
        ),
        ('<outline xmlUrl="https://a.example/f"/>', "same address as outline 1"),
    ],
)
def test_nothing_of_an_outline_is_dropped_without_a_word(outline: str, said: str) -> None:
    text = f'<opml><body><outline xmlUrl="https://a.example/f"/>{outline}</body></opml>'
    assert read_list(text.encode()).skipped == (f"outline 2: {said}",)


FRESHRSS = """<?xml version="1.0"?><opml xmlns:frss="https://freshrss.org/opml" version="2.0">
<head><title>FreshRSS</title></head><body><outline text="Tech">
<outline text="A &amp; B" type="rss" xmlUrl="https://a.example/rss" htmlUrl="https://a.example/"
 description="" frss:priority="main"/>
<outline text="Scraped" type="HTML+XPath" xmlUrl="https://b.example/list" frss:xPathItem="//li"/>
</outline></body></opml>"""
MINIFLUX = """<?xml version="1.0" encoding="UTF-8"?><opml version="2.0"><head>
<title>Miniflux</title></head><body><outline text="All"><outline title="A" text="A"
 xmlUrl="https://a.example/feed" htmlUrl="https://a.example/" disabled="true"></outline>
</outline></body></opml>"""


def test_an_export_of_freshrss_keeps_names_and_folders() -> None:
    found = read_list(FRESHRSS.encode())
    assert found.wanted == (
        Wanted("https://a.example/rss", True, "https://a.example/", "A & B", ("Tech",)),
        Wanted("https://b.example/list", name="Scraped", folders=("Tech",)),
    )


def test_an_export_of_miniflux_keeps_names_folders_and_pauses() -> None:
    (found,) = read_list(MINIFLUX.encode()).wanted
    home = "https://a.example/"
    assert found == Wanted("https://a.example/feed", True, home, "A", ("All",), paused=True)


def test_a_table_brings_names_and_folders() -> None:
    found = read_list(b"title,url,folder\nA,https://a.example/,News\n,,\nB,,x\n")
    assert found.wanted == (Wanted("https://a.example/", name="A", folders=("News",)),)
    assert found.skipped == ("line 4: has no address",)


def test_a_site_that_cannot_be_used_leaves_its_feed() -> None:
    text = '<opml><outline xmlUrl="https://a.example/f" htmlUrl="javascript:x"/></opml>'
    found = read_list(text.encode())
    assert found.wanted == (Wanted("https://a.example/f", feed=True),)
    assert "only its feed is watched" in found.problems[0]


def test_pages_become_sites_and_feeds_their_hubs(sqlite_store: Store) -> None:
    wanted = [
        Wanted("https://a.example/news/"),
        Wanted("https://a.example/feed.xml", feed=True),
        Wanted("https://b.example/atom", feed=True),
    ]
    added = add_all(sqlite_store, wanted, now=1.0)
    assert (added.sites, added.feeds, added.known) == (2, 2, 1)
    hubs = {hub.url: hub.kind for hub in sqlite_store.read.hubs()}
    assert hubs["https://a.example/feed.xml"] == hubs["https://b.example/atom"] == "feed"
    assert {row.seed_url for row in sqlite_store.read.sites()} == {
        *("https://a.example/news/", "https://b.example/atom")
    }
    assert add_all(sqlite_store, wanted, now=2.0).sites == 0


def test_a_page_of_a_watched_site_becomes_a_hub_of_it(sqlite_store: Store) -> None:
    """As with ``add``: two sites of one host would announce everything twice."""
    add_seed(sqlite_store, "http://a.example/", now=1.0)
    wanted = [
        Wanted("https://a.example/tag.html"),  # the scheme is the reader's guess
        Wanted("http://a.example/feed.xml", feed=True),
        Wanted("http://a.example/feed.xml"),
        Wanted("https://a.example/"),
    ]
    added = add_all(sqlite_store, wanted, now=2.0)
    assert [one.result for one in added.entries] == ["hub", "feed", "known", "known"]
    assert {one.site for one in added.entries} == {"a.example"}
    assert len(sqlite_store.read.sites()) == 1
    hubs = {hub.url: (hub.kind, hub.role) for hub in sqlite_store.read.hubs()}
    assert hubs["http://a.example/tag.html"] == ("html", "user")
    assert {one.result for one in add_all(sqlite_store, wanted, now=3.0).entries} == {"known"}


def test_a_seed_within_another_sites_scope_stays_a_site(sqlite_store: Store) -> None:
    terms = SeedTerms(reach=Reach.PREFIX)
    add_seed(sqlite_store, "https://a.example/blog/", now=1.0, terms=terms)
    wanted = [
        Wanted("https://a.example/", paused=True),
        Wanted("https://a.example/blog/"),
        Wanted("https://a.example/press/"),  # nothing would visit it as a hub of the paused site
    ]
    added = add_all(sqlite_store, wanted, now=2.0)
    assert [one.result for one in added.entries] == ["watched", "known", "watched"]


def test_a_page_that_was_labelled_as_an_article_is_not_made_a_hub(sqlite_store: Store) -> None:
    add_seed(sqlite_store, "https://a.example/", now=1.0)
    correct(sqlite_store, "https://a.example/about/", "article", now=2.0)
    added = add_all(sqlite_store, [Wanted("https://a.example/about/")], now=3.0)
    assert [one.result for one in added.entries] == ["refused"]
    assert "hubwatch label URL hub" in added.problems[0]
    assert [hub.url for hub in sqlite_store.read.hubs()] == ["https://a.example/"]

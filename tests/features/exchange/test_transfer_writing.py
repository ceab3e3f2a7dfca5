"""What is written can be read by the programs it is for, and runs nothing there."""

import csv
import io
import json

import listparser
from stories import HOME, HOUR, START, news_site, seen, visit_of
from warcio.archiveiterator import ArchiveIterator
from warcio.timeutils import iso_date_to_timestamp

from incremental.features.exchange.writing import write_pages, write_sites
from store import Store
from store.answers import NewQuery
from store.enums import HubKind, HubRole
from store.values import NewHub


def watched(store: Store) -> None:
    """Tell three pages; one has a title that a spreadsheet would run."""
    site, home = news_site(store)
    names = {"one": "One", "two": '=HYPERLINK("http://x")', "three": "三\u202e\x07<b>"}
    links = [seen(HOME + name, anchor=title, fate="announce") for name, title in names.items()]
    feed = seen(HOME + "feed.xml", hub=NewHub(HubKind.FEED, HubRole.FEED, 1.0, "", START))
    store.write.visit(visit_of(site, home, START + HOUR, *links, more_pages=(feed,)))


def written(store: Store, form: str) -> str:
    out = io.BytesIO()
    assert write_pages(store, NewQuery(), form, out) == 3
    return out.getvalue().decode()


def test_a_spreadsheet_gets_rows_and_no_formulas(sqlite_store: Store) -> None:
    watched(sqlite_store)
    rows = list(csv.DictReader(io.StringIO(written(sqlite_store, "csv"))))
    assert [row["title"] for row in rows] == ["One", '\'=HYPERLINK("http://x")', "三<b>"]
    assert rows[0]["url"] == HOME + "one"
    assert rows[0]["found_at"] == "2023-11-14T23:13:20Z"


def test_a_program_gets_a_line_for_each_page(sqlite_store: Store) -> None:
    watched(sqlite_store)
    rows = [json.loads(line) for line in written(sqlite_store, "jsonl").splitlines()]
    assert [row["url"][len(HOME) :] for row in rows] == ["one", "two", "three"]
    assert [row["cursor"] for row in rows] == sorted(row["cursor"] for row in rows)


def test_a_feed_reader_gets_the_feeds(sqlite_store: Store) -> None:
    watched(sqlite_store)
    out = io.BytesIO()
    assert write_sites(sqlite_store, out) == 1
    (feed,) = listparser.parse(out.getvalue().decode()).feeds
    assert feed.url == HOME + "feed.xml"


def test_a_guessed_feed_that_was_never_read_is_not_exported(sqlite_store: Store) -> None:
    watched(sqlite_store)
    (site,) = sqlite_store.read.sites()
    home = sqlite_store.read.hubs(site.id)[0].page_id
    guess = seen(HOME + "rss", hub=NewHub(HubKind.FEED, HubRole.PROBE, 0.5, "", START))
    sqlite_store.write.visit(visit_of(site.id, home, START + 2 * HOUR, more_pages=(guess,)))
    out = io.BytesIO()
    write_sites(sqlite_store, out)
    (feed,) = listparser.parse(out.getvalue().decode()).feeds
    assert feed.url == HOME + "feed.xml"


def test_an_archive_gets_the_bodies_that_were_kept(sqlite_store: Store) -> None:
    watched(sqlite_store)
    kept = {
        "one": ("<p>一</p>".encode("gbk"), "text/html; charset=gbk"),
        "two": (b"%PDF-1.7", "application/pdf"),
        "three": (b"<p>Three</p>", ""),
    }
    for name, (body, kind) in kept.items():
        (page,) = sqlite_store.read.find_page(HOME + name, "")
        digest = sqlite_store.cache.put(HOME + name, body, kind)
        sqlite_store.write.update_page(page["id"], body_md5=digest)
    out = io.BytesIO()
    assert write_pages(sqlite_store, NewQuery(), "warc", out) == 3
    out.seek(0)
    about, *records = (
        (record.rec_headers, record.content_stream().read()) for record in ArchiveIterator(out)
    )
    assert {headers.protocol for headers, _ in (about, *records)} == {"WARC/1.0"}
    assert b"WARC File Format 1.0" in about[1]
    found = {
        headers["WARC-Target-URI"][len(HOME) :]: (body, headers["Content-Type"])
        for headers, body in records
    }
    assert found == kept | {"three": (b"<p>Three</p>", "text/html")}
    # As programs that index archives read it.
    assert {iso_date_to_timestamp(headers["WARC-Date"]) for headers, _ in records} == {
        "20231114231320"
    }

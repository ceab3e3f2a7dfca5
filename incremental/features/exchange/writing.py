"""Export of new pages, visits and sites: CSV, JSON Lines, Parquet, OPML, WARC."""

import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import IO

from incremental.interfaces.results.schema import (
    Page,
    PageWithText,
    SiteVisit,
    page_result,
    page_with_text,
    result_of,
)
from incremental.interfaces.results.tables import TABLES, Columns, columns_of, write_table
from incremental.interfaces.web.feeds import opml
from incremental.parse.sniff import Form, sniff
from store import Store
from store.answers import NewQuery
from store.answers.announced import AnnouncedPage
from store.enums import HubKind, HubRole, HubStatus, SiteStatus
from store.values import SiteRow

PAGES = (*TABLES, "warc")
"""Formats of announced pages."""
# Marks what OPML has no word for.
NAMESPACE = "urn:hubwatch:opml"
_BATCH = 500

Track = Callable[[Iterable[AnnouncedPage]], Iterable[AnnouncedPage]]
"""Yields pages as they are, and shows how many were."""


def write_pages(  # noqa: PLR0913 - each is an option of the command
    store: Store,
    query: NewQuery,
    form: str,
    out: IO[bytes],
    track: Track = iter,
    *,
    with_text: bool = False,
) -> int:
    """Write the announced pages of *query*, oldest first; return how many. *form*: one of :data:`PAGES`."""
    rows = track(store.answers.all_new(replace(query, order="oldest", limit=_BATCH)))
    if form == "warc":
        return _write_warc(store, rows, out)
    topics = [row.name for row in store.topics.topics()]
    if with_text:
        columns = columns_of(PageWithText, topics)
        return _write((_with_text(store, row) for row in rows), columns, form, out)
    return _write(map(page_result, rows), columns_of(Page, topics), form, out)


def write_visits(
    store: Store, sites: Sequence[int] | None, since: float, form: str, out: IO[bytes]
) -> int:
    """Write the visits since *since*, oldest first; return how many. *form*: one of :data:`TABLES`."""

    def all_visits() -> Iterator[SiteVisit]:
        after = 0
        while rows := store.read.visits_after(after, since=since, sites=sites, limit=_BATCH):
            yield from (result_of(SiteVisit, row) for row in rows)
            after = rows[-1]["id"]

    return _write(all_visits(), columns_of(SiteVisit), form, out)


def _write(results: Iterable[object], columns: Columns, form: str, out: IO[bytes]) -> int:
    # The next number is that of results so far: zip takes one only once it has a result.
    numbers = count()
    write_table((one for one, _ in zip(results, numbers, strict=False)), columns, form, out)
    return next(numbers)


def _with_text(store: Store, row: AnnouncedPage) -> PageWithText:
    kept = store.answers.text(row.page_id)
    return page_with_text(row, kept.text if kept is not None else "")


def write_sites(store: Store, out: IO[bytes]) -> int:
    """Write the watched sites as OPML 2.0, in their folders; return the number of sites.

    A site with feeds is an outline for each, as other readers expect; one without is a link to its page.
    """
    feeds: dict[int, list[str]] = {}
    for hub in store.read.hubs():
        guess = hub.role == HubRole.PROBE and hub.baseline_at is None
        if hub.kind == HubKind.FEED and hub.state != HubStatus.DROPPED and not guess:
            feeds.setdefault(hub.site_id, []).append(hub.url)
    sites, places = store.read.sites(), store.tags.of_sites()
    outlines = [
        (first, said)
        for site in sites
        for first, *more in [places.get(site.id) or [""]]
        for said in _outlines(site, feeds.get(site.id, []), more)
    ]
    title = "Sites that Hubwatch watches"
    out.write(opml(title, outlines, {"hubwatch": NAMESPACE}))
    return len(sites)


def _outlines(site: SiteRow, feeds: list[str], more: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield the attributes of a site's outlines; *more* are its further folders."""
    said = dict.fromkeys(("text", "title"), site.name)
    if more:
        said["category"] = ",".join(f"/{one}" for one in more)
    if site.state == SiteStatus.PAUSED:
        said[f"{{{NAMESPACE}}}state"] = "paused"
    # A site given as a feed has the page that the feed names, if any.
    home = json.loads(site.scope).get("home") or site.seed_url
    page = {} if home in feeds else {"htmlUrl": home}
    for url in feeds:
        yield {"type": "rss", **said, "xmlUrl": url, **page}
    if not feeds:
        yield {"type": "link", **said, "url": home, **page}


def _write_warc(store: Store, rows: Iterable[AnnouncedPage], out: IO[bytes]) -> int:
    """Write cached bodies as WARC 1.0 resource records; pages without one are skipped."""
    from warcio.timeutils import datetime_to_iso_date  # noqa: PLC0415 - seldom used
    from warcio.warcwriter import WARCWriter  # noqa: PLC0415 - seldom used

    writer = WARCWriter(out, gzip=True)
    facts = {"software": "hubwatch", "format": "WARC File Format 1.0"}
    writer.write_record(writer.create_warcinfo_record("hubwatch.warc.gz", facts))
    written = 0
    for row in rows:
        page = store.read.page(row.page_id)
        body = store.cache.find(row.url, page.body_md5) if page and page.body_md5 else None
        if body is None:
            continue
        is_html = sniff(body.content, "") is Form.HTML
        record = writer.create_warc_record(
            "".join(filter(str.isprintable, row.url)),
            "resource",
            payload=io.BytesIO(body.content),
            length=len(body.content),
            warc_content_type=body.content_type
            or ("text/html" if is_html else "application/octet-stream"),
            warc_headers_dict={
                "WARC-Date": datetime_to_iso_date(datetime.fromtimestamp(row.found_at, UTC))
            },
        )
        writer.write_record(record)
        written += 1
    return written

"""Lists in CSV: one page a line, URL and title."""

from __future__ import annotations

import csv
from urllib.parse import urljoin

from incremental.parse.page import Link, Page, PageKind


def read_table(body: bytes, url: str) -> Page:
    """Return the page with its links, in the order of the lines."""
    rows = csv.reader(body.decode("utf-8", "replace").splitlines())
    links = tuple(
        Link(urljoin(url, row[0]), anchor=row[1] if len(row) > 1 else "") for row in rows if row
    )
    return Page(url, PageKind.FEED, links=links)

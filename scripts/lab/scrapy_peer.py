#!/usr/bin/env python3
"""Scrapy on the same pages: robots obeyed, links extracted and deduplicated, every link in SQLite.

    python scripts/lab/scrapy_peer.py FILE WORKERS DATABASE    addresses from FILE, one a line

Prints one JSON object: pages, seconds, cpu_seconds, links.
"""

from __future__ import annotations

import json
import resource
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

_TABLE = (
    "CREATE TABLE IF NOT EXISTS link (url TEXT PRIMARY KEY, anchor TEXT, hub TEXT, seen_at REAL)"
)


class _Lists(Spider):  # type: ignore[misc]  # in an environment of its own
    name = "lists"
    addresses: list[str]
    database: sqlite3.Connection
    pages = 0

    async def start(self) -> Any:  # noqa: ANN401 - an asynchronous generator of Scrapy's own type
        for address in self.addresses:
            yield Request(address)

    def parse(self, response: Any, **_: Any) -> Iterator[Request]:  # noqa: ANN401 - Scrapy's own
        links = LinkExtractor().extract_links(response)
        rows = [(link.url, link.text.strip(), response.url, time.time()) for link in links]
        self.database.executemany("INSERT OR IGNORE INTO link VALUES (?, ?, ?, ?)", rows)
        self.database.commit()
        _Lists.pages += 1
        return iter(())


def main() -> int:
    """Crawl; 0 = done."""
    addresses = Path(sys.argv[1]).read_text(encoding="utf-8").split()
    database = sqlite3.connect(sys.argv[3])
    database.executescript("PRAGMA journal_mode=wal; PRAGMA synchronous=normal;")
    database.execute(_TABLE)
    process = CrawlerProcess(
        {
            "LOG_LEVEL": "ERROR",
            "ROBOTSTXT_OBEY": True,
            "CONCURRENT_REQUESTS": int(sys.argv[2]),
            "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
            "DOWNLOAD_DELAY": 0,
            "TELNETCONSOLE_ENABLED": False,
            "RETRY_ENABLED": False,
        }
    )
    process.crawl(_Lists, addresses=addresses, database=database)
    began, used = time.monotonic(), _cpu_seconds()
    process.start()
    seconds = time.monotonic() - began
    (links,) = database.execute("SELECT count(*) FROM link").fetchone()
    answer = {
        "pages": _Lists.pages,
        "seconds": seconds,
        "cpu_seconds": _cpu_seconds() - used,
        "links": links,
    }
    print(json.dumps(answer))
    return 0


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Scrapy on the same pages: robots obeyed, links extracted and deduplicated, every link in SQLite.

    python scripts/lab/scrapy_peer.py FILE WORKERS DATABASE

FILE has a JSON list of rounds: the address that ``changes`` the server before, or null, the ``addresses`` to
read, and whether the round is ``counted``. ETags are kept and sent. New links of a list that was read before
are fetched and their titles kept.

Prints one JSON object: pages, seconds and cpu_seconds of the counted rounds; links.
"""

import json
import resource
import sqlite3
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import DontCloseSpider
from scrapy.linkextractors import LinkExtractor

_TABLES = """
PRAGMA journal_mode=wal;
PRAGMA synchronous=normal;
CREATE TABLE IF NOT EXISTS link (url TEXT PRIMARY KEY, anchor TEXT, hub TEXT, seen_at REAL, title TEXT);
CREATE TABLE IF NOT EXISTS list (url TEXT PRIMARY KEY, etag TEXT);
"""


class _Rounds(Spider):  # type: ignore[misc]  # in an environment of its own
    name = "rounds"
    handle_httpstatus_list = (304,)
    rounds: list[dict[str, Any]]
    database: sqlite3.Connection
    counted = False
    pages = 0
    seconds = cpu_seconds = 0.0

    @classmethod
    def from_crawler(cls, crawler: Any, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - Scrapy's own
        spider = super().from_crawler(crawler, *arguments, **options)
        crawler.signals.connect(spider.next_round, signal=signals.spider_idle)
        return spider

    async def start(self) -> Any:  # noqa: ANN401 - an asynchronous generator of Scrapy's own type
        for request in self._begun():
            yield request

    def next_round(self) -> None:
        """Note the time of the round that ended, and begin the next one."""
        self._end()
        if self.rounds:
            for request in self._begun():
                self.crawler.engine.crawl(request)
            raise DontCloseSpider

    def _end(self) -> None:
        if self.counted:
            _Rounds.seconds += time.monotonic() - self.began
            _Rounds.cpu_seconds += _cpu_seconds() - self.used
        self.counted = False

    def _begun(self) -> Iterator[Request]:
        now = self.rounds.pop(0)
        if now["changes"]:
            urllib.request.urlopen(now["changes"]).close()  # noqa: S310 - our server
        self.counted = now["counted"]
        self.began, self.used = time.monotonic(), _cpu_seconds()
        for address in now["addresses"]:
            row = self.database.execute(
                "SELECT etag FROM list WHERE url = ?", (address,)
            ).fetchone()
            headers = {"If-None-Match": row[0]} if row and row[0] else {}
            yield Request(address, headers=headers, dont_filter=True)

    def parse(self, response: Any, **_: Any) -> Iterator[Request]:  # noqa: ANN401 - Scrapy's own
        _Rounds.pages += self.counted
        if response.status == 304:  # noqa: PLR2004 - not modified
            return
        links = {link.url: link.text.strip() for link in LinkExtractor().extract_links(response)}
        marks = ",".join("?" * len(links))
        asked = f"SELECT url FROM link WHERE url IN ({marks})"  # noqa: S608 - question marks
        known = {url for (url,) in self.database.execute(asked, tuple(links))}
        new = [url for url in links if url not in known]
        rows = [(url, links[url], response.url, time.time()) for url in new]
        insert = "INSERT OR IGNORE INTO link (url, anchor, hub, seen_at) VALUES (?, ?, ?, ?)"
        self.database.executemany(insert, rows)
        tag = response.headers.get("ETag")
        read = (response.url, tag.decode() if tag else None)
        was = self.database.execute("SELECT 1 FROM list WHERE url = ?", read[:1]).fetchone()
        self.database.execute("INSERT OR REPLACE INTO list VALUES (?, ?)", read)
        self.database.commit()
        for url in new if was else ():
            yield Request(url, self.parse_article)

    def parse_article(self, response: Any) -> None:  # noqa: ANN401 - Scrapy's own
        """Keep the title of a new page."""
        _Rounds.pages += self.counted
        title = response.css("title::text").get("").strip()
        self.database.execute("UPDATE link SET title = ? WHERE url = ?", (title, response.url))
        self.database.commit()


def main() -> int:
    """Crawl; 0 = done."""
    rounds = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    database = sqlite3.connect(sys.argv[3])
    database.executescript(_TABLES)
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
    process.crawl(_Rounds, rounds=rounds, database=database)
    process.start()
    (links,) = database.execute("SELECT count(*) FROM link").fetchone()
    answer = {
        "pages": _Rounds.pages,
        "seconds": _Rounds.seconds,
        "cpu_seconds": _Rounds.cpu_seconds,
        "links": links,
    }
    print(json.dumps(answer))
    return 0


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())

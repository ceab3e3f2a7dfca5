#!/usr/bin/env python3
"""Let other programs watch a recorded website, with as many requests a day as Hubwatch, and score all alike.

    scripts/bench_peers.py benchmarks/harbour-times.sqlite --json
    scripts/bench_peers.py FILE.sqlite ... --tools reader,urlwatch --days 10

Each program is installed, in the version named below, into an environment of its own
(``.venv-peer-NAME``), and set up as its documentation recommends for "tell me about new pages of this site".
Time is the recording's: a program is told to check, and told again once the requests of the last check are
paid for at N a day, but not within five minutes. A recording is cut to DAYS of which the first fifth is not
scored, as in ``scripts/replay.py``, whose figures these are.

JSON: ``{recording: {tool: {"recall", "delay_mean", "delay_median", "false", "announced", "requests",
"requests_per_day", "version", "manual"}}}``; minutes. A tool that cannot watch a site has ``why`` alone.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import msgspec
from bs4 import BeautifulSoup
from lab.cli import parser_of, print_json, show
from lab.clocks import SimulatedClock
from lab.peer_environment import peer_python
from lab.postgres_server import PostgresServer
from replay import BASELINE_SHARE, DAY, Tally, score, simulate, truth_beside
from replay_site import ReplaySite
from rich.console import Console
from rich.progress import track
from serve_replay import serve

from incremental.settings import Settings

_DRIVER = Path(__file__).parent / "lab" / "peer_checks.py"
_LEAST_SECONDS = 300.0
_FEED_TYPES = ("application/rss+xml", "application/atom+xml", "application/feed+json")


@dataclass(frozen=True)
class Peer:
    """A program, and what a person has to do before it watches a site."""

    requirements: tuple[str, ...]
    """The first one names the version, if *version* does not."""
    manual: str
    feed: bool = False
    """It wants the address of a feed."""
    version: str = ""


PEERS = {
    # Its copy of feedparser wants sgmllib3k, which it does not ask for.
    "reader": Peer(
        ("reader==3.26", "sgmllib3k==1.0.0"), "find the feed and give its address", feed=True
    ),
    "urlwatch": Peer(
        ("urlwatch==2.29",), "choose the page, write a job with an XPath for its links"
    ),
    "trafilatura": Peer(
        ("trafilatura==2.3.1", "lxml_html_clean==0.4.6"),
        "a script that calls three functions and keeps what was seen",
    ),
    # scrapy-deltafetch 2.1.0 does not run under later versions of Scrapy.
    "scrapy": Peer(
        ("scrapy==2.12.0", "scrapy-deltafetch==2.1.0", "w3lib==2.2.1", "twisted==24.11.0"),
        "write a spider, run it from cron",
    ),
    "changedetection": Peer(
        ("changedetection.io==0.60.10",), "choose the page, give an XPath for its links"
    ),
    # A program of Go, to be in PATH: its environment has what asks its API.
    "miniflux": Peer(
        ("requests==2.32.5",),
        "run PostgreSQL, find the feed and give its address",
        feed=True,
        version="of 2026-08-11",
    ),
}


def cut(site: ReplaySite, days: float) -> None:
    """Shorten a recording, so that what is scored begins where it does in the whole one."""
    scored_from = site.first_ts + BASELINE_SHARE * (site.last_ts - site.first_ts)
    days = min(days, (site.last_ts - site.first_ts) / DAY)
    site.first_ts = scored_from - BASELINE_SHARE * days * DAY
    site.last_ts = site.first_ts + days * DAY


def watched(site: ReplaySite, name: str, per_day: float) -> Tally | str:
    """Let a program watch a recording; a text says why it cannot."""
    clock = SimulatedClock(site.first_ts)
    tally = Tally(clock, site.first_ts + BASELINE_SHARE * (site.last_ts - site.first_ts), None)
    url = f"http://{urlsplit(site.base_url).netloc}{urlsplit(site.base_url).path or '/'}"
    peer = PEERS[name]
    if peer.feed:
        feed = _feed(site, url)
        if feed is None:
            return "the home page names no feed"
        url = feed
    with serve(site, clock.now, asked=tally.asked) as server, _checks(name, url, server) as check:
        while clock.now() < site.last_ts:
            before = tally.fetches
            for found in check():
                tally.announce(urljoin(site.base_url, urlsplit(found).path or "/"), name)
            if tally.fetches == before == 0:
                return "it asked for nothing"
            wait = max((tally.fetches - before) * DAY / per_day, _LEAST_SECONDS)
            clock.advance_to(min(clock.now() + wait, site.last_ts))
    # A program may name a page again: it is told once.
    tally.announced = list({url: (at, url) for at, url in reversed(tally.announced)}.values())
    return tally


def _feed(site: ReplaySite, url: str) -> str | None:
    """Return the feed that the home page names, as a person would find it."""
    page = BeautifulSoup(site.answer(site.base_url, site.first_ts).body, "lxml")
    for link in page.find_all("link", type=_FEED_TYPES, href=True):
        return urljoin(url, urlsplit(str(link["href"])).path)
    return None


@contextmanager
def _checks(name: str, url: str, server: str) -> Iterator[Any]:
    python = peer_python(f"peer-{name}", " ".join(PEERS[name].requirements))
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix=f"hubwatch-{name}-"))
        environment = dict(os.environ)
        if name == "miniflux":
            postgres = stack.enter_context(PostgresServer())
            environment["DATABASE_URL"] = postgres.database(name)
        command = [str(python), str(_DRIVER), name, url, folder, str(urlsplit(server).port)]
        with (Path(folder) / "log").open("w", encoding="utf-8") as log:
            process = subprocess.Popen(  # noqa: S603 - a script of ours
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
                text=True,
                start_new_session=True,
            )

        def check() -> list[str]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("\n")
            process.stdin.flush()
            answer = process.stdout.readline()
            if not answer:
                raise SystemExit((Path(folder) / "log").read_text(encoding="utf-8")[-2_000:])
            return list(json.loads(answer))

        try:
            yield check
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def figures(name: str, tally: Tally, site: ReplaySite, truth: Path) -> dict[str, Any]:
    """Return the figures of one program on one recording."""
    found = score(tally, site, truth)
    peer = PEERS.get(name)
    return {
        "recall": found["recall"],
        "delay_mean": found["delay_minutes"]["mean"],
        "delay_median": found["delay_minutes"]["median"],
        "false": found["false_new"] + found["announced_lists"],
        "announced": found["announced"],
        "requests": found["fetches"],
        "requests_per_day": found["fetches_per_day"],
        "version": (peer.version or peer.requirements[0].partition("==")[2])
        if peer
        else "this one",
        "manual": peer.manual if peer else "nothing",
    }


def compare(file: Path, tools: list[str], days: float, per_day: float) -> dict[str, Any]:
    """Return the figures of Hubwatch and of each program on a recording."""
    results: dict[str, Any] = {}
    for name in track(["hubwatch", *tools], file.stem, console=Console(stderr=True)):
        site = ReplaySite(file)
        cut(site, days)
        if name == "hubwatch":
            revisit = msgspec.structs.replace(Settings().revisit, requests_per_day=per_day)
            settings = msgspec.structs.replace(Settings(), revisit=revisit)
            done: Tally | str = simulate(site, settings, None, quiet=True)
        else:
            done = watched(site, name, per_day)
        if isinstance(done, str):
            results[name] = {"why": done}
        else:
            results[name] = figures(name, done, site, truth_beside(file))
    return results


def main() -> int:
    """Run from the command line."""
    parser = parser_of(__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.sqlite")
    parser.add_argument("--tools", default=",".join(PEERS), help="default: all")
    parser.add_argument("--days", type=float, default=20.0, help="of each recording")
    parser.add_argument("--requests-per-day", type=float, default=48.0, metavar="N")
    arguments = parser.parse_args()
    tools = [name for name in arguments.tools.split(",") if name]
    if unknown := set(tools) - PEERS.keys():
        parser.error(f"no such tool: {', '.join(sorted(unknown))}")
    results = {}
    for file in arguments.files:
        results[file.stem] = compare(file, tools, arguments.days, arguments.requests_per_day)
        show(results[file.stem], file.stem)
    print_json(arguments, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())

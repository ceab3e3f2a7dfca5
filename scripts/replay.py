#!/usr/bin/env python3
"""Run the real crawler against a recorded website under a simulated clock, and score it.

    scripts/replay.py FILE.sqlite --truth FILE.tsv
    scripts/replay.py FILE.sqlite --truth FILE.tsv --requests-per-day 12 --log out.tsv --json
    scripts/replay.py FILE.sqlite --topic-example URL --topic-example URL   with a topic at work
    scripts/replay.py FILE.sqlite --topic-example URL --method adaptive --days 3   its first three days
    scripts/replay.py FILE.sqlite --bound   and how far from what a reader could do who knew
    scripts/replay.py FILE.sqlite --engine dask --store postgres   on an engine, in another store

Everything is real - fetcher, parser, store, policy - but the network below requests, which answers
from the file at the simulated time, and the clock, which jumps to whatever is due next. With ``--engine``
the network is real as well: a server on loopback answers from the file. The only
seed is the site's address. The baseline ends at t0, a fifth into the recording; only what happens
after t0 is scored.
"""

import csv
import math
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import unquote, urlsplit

import msgspec
from lab.cli import parser_of, print_json, show
from lab.clocks import SimulatedClock
from lab.new_pages import listed
from replay_bound import bound_minutes
from replay_place import ENGINES, STORES, Setup, place_of, store_of
from replay_readers import Readers
from replay_site import ReplaySite
from rich.console import Console
from rich.progress import Progress
from serve_replay import NOT_MODIFIED

from incremental.base.lookup import find_topic
from incremental.base.times import NEVER
from incremental.daemon.assembly import make_crawler
from incremental.fetch.status import FetchStatus, Request, Response
from incremental.settings import Settings
from incremental.settings.seeds import add_seed
from incremental.topics.editing import METHODS, begin
from store import Store
from store.answers import NewQuery
from store.enums import HubStatus
from store.rules import Fate
from store.values import VisitRecord

BASELINE_SHARE = 0.2
TOPIC = "replay"
DAY = 86_400.0
# As the fetcher calls it, and as a server answers.
_MISSING = frozenset({str(FetchStatus.GONE), "404", "410"})


@dataclass
class Tally:
    """Counts and log of a replay."""

    clock: SimulatedClock
    scored_from: float
    log: TextIO | None
    fetches: int = 0
    not_modified: int = 0
    missing: int = 0
    """Requests for pages that are not there; robots.txt, which sites need not have, is none."""
    scored_fetches: int = 0
    announced: list[tuple[float, str]] = field(default_factory=list)
    backfilled: list[tuple[float, str]] = field(default_factory=list)
    """Older pages that a list gained, announced as part of an event."""
    backfill_cursor: int = 0
    topic: dict[str, Any] = field(default_factory=dict)
    """With a topic: its state, and by page key what it makes of each announced page."""
    hubs: list[str] = field(default_factory=list)
    """At the end: addresses of the hubs that were read and will be again."""
    footprint: dict[str, int] = field(default_factory=dict)
    """At the end: hubs in use, known pages, bytes of the database and of the page cache."""
    readers: dict[str, int] = field(default_factory=dict)
    """What readers were told twice, or lost."""

    def write(self, event: str, url: str, detail: str) -> None:
        """Append a log line."""
        if self.log is not None:
            self.log.write(f"{self.clock.now():.3f}\t{event}\t{url}\t{detail}\n")

    def fetched(self, response: Response) -> None:
        """Count each request of a fetch: the redirects that it passed, and the last one."""
        for url in response.redirects:
            self._request(url, FetchStatus.REDIRECTED)
        self._request(response.url, response.status)

    def asked(self, url: str, code: int) -> None:
        """Count a request to the server of the recording."""
        self._request(url, FetchStatus.NOT_MODIFIED if code == NOT_MODIFIED else str(code))

    def _request(self, url: str, status: str) -> None:
        self.fetches += 1
        self.scored_fetches += self.clock.now() >= self.scored_from
        self.not_modified += status is FetchStatus.NOT_MODIFIED
        self.missing += str(status) in _MISSING and urlsplit(url).path != "/robots.txt"
        self.write("fetch", url, str(status))

    def announce(self, url: str, hub: str) -> None:
        """Note a page that was announced as new."""
        self.announced.append((self.clock.now(), url))
        self.write("announce", url, hub)

    def backfill(self, url: str, hub: str) -> None:
        """Note a page that was announced as part of a backfill."""
        self.backfilled.append((self.clock.now(), url))
        self.write("backfill", url, hub)


@dataclass(frozen=True)
class Wanted:
    """The topic of a replay; nothing = none."""

    examples: Sequence[str] = ()
    keywords: Sequence[str] = ()
    method: str = METHODS[0]

    def __bool__(self) -> bool:
        return bool(self.examples or self.keywords)


NO_TOPIC = Wanted()
HERE = Setup()


def simulate(  # noqa: PLR0913 - what a replay may be given
    site: ReplaySite,
    settings: Settings,
    log: TextIO | None,
    *,
    quiet: bool,
    wanted: Wanted = NO_TOPIC,
    until: float = math.inf,
    setup: Setup = HERE,
) -> Tally:
    """Crawl the recording to its end, or to *until* (unix seconds) if that is earlier."""
    clock = SimulatedClock(site.first_ts)
    end = min(until, site.last_ts)
    t0 = site.first_ts + BASELINE_SHARE * (site.last_ts - site.first_ts)
    tally = Tally(clock, t0, log)
    with (
        tempfile.TemporaryDirectory(prefix="hubwatch-replay-") as folder,
        _progress(quiet) as bar,
        store_of(setup.store, Path(folder)) as store,
        place_of(site, settings, clock, setup, tally.asked) as place,
    ):

        def fetch(request: Request) -> Response:
            response = place.fetch(request)
            if setup.engine is None:
                tally.fetched(response)
            return response

        def announce(record: VisitRecord, pages: Any) -> None:  # noqa: ANN401 - passed on
            _announce(store, tally, record, pages, lambda url: place.recorded(url, site))

        add_seed(store, place.url, now=site.first_ts, fetch=place.settings.fetch)
        if wanted:
            begin(store, TOPIC, **asdict(wanted), now=site.first_ts)
        crawler = make_crawler(
            store,
            place.settings,
            fetch=fetch,
            executor=place.executor,
            elsewhere=place.elsewhere,
            announced=announce,
        )
        crawler.load(clock.now())
        readers = Readers(store, place.settings)
        while clock.now() < end:
            wake_at = place.step(crawler, clock)
            readers.step(clock.now())
            clock.advance_to(min(wake_at, end))
            bar((clock.now() - site.first_ts) / (end - site.first_ts))
        if wanted:
            tally.topic = _judged(store)
        tally.readers = readers.figures(clock.now)
        tally.footprint = _footprint(store)
        rows = store.read.hubs(store.read.sites()[0].id)
        read = (hub.url for hub in rows if hub.visits and hub.due_at < NEVER)
        tally.hubs = [place.recorded(url, site) for url in read]
    return tally


def _footprint(store: Store) -> dict[str, int]:
    site = store.read.sites()[0].id
    unused = (HubStatus.DROPPED, HubStatus.DORMANT)
    return {
        "hubs": sum(hub.state not in unused for hub in store.read.hubs(site)),
        "pages": store.read.site_totals()[site]["pages"],
        "database_bytes": store.space.size().size_bytes,
        "cache_bytes": store.cache.size_bytes(),
    }


def _judged(store: Store) -> dict[str, Any]:
    """Return the topic's final state, and its judgement of each announced page by key."""
    row = find_topic(store, TOPIC)
    rows = listed(store, topic=row.id)
    return {
        "state": row.state,
        "why": row.why,
        "pages": {page_key(one.url): one.topics[0] for one in rows},
    }


def _announce(
    store: Store,
    tally: Tally,
    record: VisitRecord,
    pages: Any,  # noqa: ANN401 - a collection of ids
    recorded: Callable[[str], str],
) -> None:
    hubs = store.read.urls([record.first_hub_id or record.page_id]) if pages else []
    for url in store.read.urls(pages):
        tally.announce(recorded(url), recorded(hubs[0]) if hubs else "")
    if record.fate is Fate.BACKFILL or any(
        link.fate is Fate.BACKFILL for link in record.links or ()
    ):
        asked = NewQuery(after=tally.backfill_cursor, order="oldest")
        for row in store.backfills.all_pages(asked):
            tally.backfill(recorded(row.url), recorded(row.hub_url or ""))
            tally.backfill_cursor = row.cursor


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[float], None]]:
    """Show how far the simulated time has come, on a terminal."""
    console = Console(stderr=True)
    with Progress(console=console, disable=quiet or not console.is_terminal) as progress:
        task = progress.add_task("simulated time", total=1.0)
        yield lambda share: progress.update(task, completed=share)


def truth_beside(file: Path) -> Path:
    """Return where the truth of a recording is kept."""
    return file.parent / "truth" / f"{file.stem}.tsv"


def page_key(url: str) -> str:
    """Return what scoring compares: no fragment, query, trailing slash or index.html."""
    parts = urlsplit(url)
    path = unquote(parts.path).removesuffix("index.html").rstrip("/")
    return f"{parts.netloc.lower()}{path}"


Truth = Mapping[str, Mapping[str, str]]
"""The rows of a truth by page key."""


def read_truth(file: Path) -> Truth:
    """Return what there was to find."""
    with file.open(encoding="utf-8", newline="") as lines:
        return {page_key(row["url"]): row for row in csv.DictReader(lines, delimiter="\t")}


def linked_of(file: Path) -> dict[str, float]:
    """Return, by URL, when each page of a truth was linked that should be found."""
    rows = read_truth(file).values()
    return {row["url"]: float(row["linked"]) for row in rows if row["scored"] == "1"}


def _wanted(tally: Tally, truth: Truth) -> dict[str, float]:
    """Return by key when each page was linked that should have been found by now."""
    scored = {key: float(row["linked"]) for key, row in truth.items() if row["scored"] == "1"}
    return {key: linked for key, linked in scored.items() if linked < tally.clock.now()}


def delays_of(tally: Tally, truth: Truth) -> list[float]:
    """Return the delays of the pages that were found, in minutes, the least first."""
    first: dict[str, float] = {}
    for at, url in tally.announced:
        if at >= tally.scored_from:
            first.setdefault(page_key(url), at)
    wanted = _wanted(tally, truth)
    return sorted((first[key] - linked) / 60 for key, linked in wanted.items() if key in first)


def score(tally: Tally, site: ReplaySite, truth_file: Path) -> dict[str, Any]:
    """Compare what was announced after t0 with what there was to find."""
    truth = read_truth(truth_file)
    wanted = _wanted(tally, truth)
    announced = [page_key(url) for at, url in tally.announced if at >= tally.scored_from]
    delays = delays_of(tally, truth)
    days = (tally.clock.now() - site.first_ts) / DAY
    gained = [page_key(url) for at, url in tally.backfilled if at >= tally.scored_from]
    lists = {key for key, row in truth.items() if row["kind"] == "list"}
    return {
        "site": Path(truth_file).stem,
        "scored": len(wanted),
        "found": len(delays),
        "recall": round(len(delays) / len(wanted), 4) if wanted else None,
        "announced": len(announced),
        "false_new": sum(key not in truth for key in announced),
        "announced_lists": sum(key in lists for key in announced),
        "backfill": len(gained),
        "false_backfill": sum(key not in truth for key in gained),
        "fetches": tally.fetches,
        "not_modified": tally.not_modified,
        "missing_requests": tally.missing,
        "missing_share": round(tally.missing / tally.fetches, 4),
        "fetches_per_found": round(tally.scored_fetches / len(delays), 2) if delays else None,
        "fetches_per_day": round(tally.fetches / days, 2),
        "delay_minutes": _delays(delays),
        "simulated_days": round(days, 2),
        **tally.readers,
        **tally.footprint,
    } | ({"topic": _topic_counts(tally, wanted)} if tally.topic else {})


def _topic_counts(tally: Tally, wanted: Mapping[str, float]) -> dict[str, Any]:
    """Count what the topic makes of the scored pages that were found; guesses apart."""
    marks = [mark for key, mark in tally.topic["pages"].items() if key in wanted]
    counts = Counter(mark.verdict if mark.fetched else "guess" for mark in marks)
    return {"state": tally.topic["state"], "why": tally.topic["why"], **counts}


def _delays(delays: list[float]) -> dict[str, float | None]:
    if not delays:
        return {"mean": None, "median": None, "p95": None}
    return {
        "mean": round(statistics.fmean(delays), 1),
        "median": round(statistics.median(delays), 1),
        "p95": round(delays[min(int(0.95 * len(delays)), len(delays) - 1)], 1),
    }


def against_bound(
    result: Mapping[str, Any], tally: Tally, site: ReplaySite, truth_file: Path
) -> dict[str, float]:
    """Return the bound of the mean delay, in minutes, and the mean delay over it."""
    wanted = {url: at for url, at in linked_of(truth_file).items() if at < tally.clock.now()}
    least = bound_minutes(site, wanted, tally.scored_from, result["fetches_per_day"])
    ratio = result["delay_minutes"]["mean"] / least
    return {"bound_mean_minutes": round(least, 1), "ratio_to_bound": round(ratio, 2)}


def main() -> int:
    """Run from the command line; exit 0, or 2 for wrong usage."""
    parser = parser_of(__doc__)
    parser.add_argument("file", type=Path, metavar="FILE.sqlite")
    parser.add_argument(
        "--truth", type=Path, metavar="TSV", help="default: truth/NAME.tsv beside FILE"
    )
    parser.add_argument("--requests-per-day", type=float, metavar="N")
    parser.add_argument(
        "--topic-example", action="append", default=[], metavar="URL", help="a page on a topic"
    )
    parser.add_argument("--topic-keyword", action="append", default=[], metavar="WORD")
    parser.add_argument("--method", choices=METHODS, default=METHODS[0], help="of the topic")
    parser.add_argument("--days", type=float, default=math.inf, metavar="N", help="stop after N")
    parser.add_argument("--engine", choices=ENGINES, help="default: here, without a network")
    parser.add_argument("--store", choices=STORES, default=STORES[0])
    parser.add_argument(
        "--port", type=int, default=0, help="of the server for --engine (default: a free one)"
    )
    parser.add_argument("--log", type=Path, metavar="FILE", help="TSV: time event url detail")
    parser.add_argument(
        "--bound",
        action="store_true",
        help="compare with the bound that evenly spread requests set",
    )
    arguments = parser.parse_args()
    truth = arguments.truth or truth_beside(arguments.file)
    for path in (arguments.file, truth):
        if not path.is_file():
            parser.error(f"there is no file {path}")
    settings = Settings()
    revisit = settings.revisit
    if arguments.requests_per_day is not None:
        revisit = msgspec.structs.replace(revisit, requests_per_day=arguments.requests_per_day)
    settings = msgspec.structs.replace(settings, revisit=revisit)
    site = ReplaySite(arguments.file)
    started = time.perf_counter()
    with _log(arguments.log) as log:
        wanted = Wanted(arguments.topic_example, arguments.topic_keyword, arguments.method)
        until = site.first_ts + arguments.days * DAY
        tally = simulate(
            site,
            settings,
            log,
            quiet=arguments.json,
            wanted=wanted,
            until=until,
            setup=Setup(arguments.engine, arguments.store, arguments.port),
        )
    result = score(tally, site, truth)
    if arguments.bound and result["found"]:
        result |= against_bound(result, tally, site, truth)
    result["wall_seconds"] = round(time.perf_counter() - started, 2)
    show(result, str(result["site"]))
    print_json(arguments, result)
    return 0


@contextmanager
def _log(path: Path | None) -> Iterator[TextIO | None]:
    if path is None:
        yield None
        return
    with path.open("w", encoding="utf-8") as file:
        file.write("time\tevent\turl\tdetail\n")
        yield file


if __name__ == "__main__":
    sys.exit(main())

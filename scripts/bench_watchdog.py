#!/usr/bin/env python3
"""Inject faults into recorded websites, and measure what the watchdog makes of them.

    scripts/bench_watchdog.py ../shared/replay/kubaik.sqlite ../shared/replay/snailtyan.sqlite --json
    scripts/bench_watchdog.py FILE.sqlite --faults login,frozen_feed --seed 2
    scripts/bench_watchdog.py FILE.sqlite --faults none      the whole recording, without a fault

A fault begins at a random moment of the second or third fifth of the recording (``random.Random(seed)``, by
file and fault) and lasts until ten new pages were due, a week at least and four at most; the crawl goes on
for three days. It is detected in time when a problem is opened within 48 hours, within three mean gaps
between new pages, or within six hours of the third new page, whichever is latest: some faults show in pages
alone. ``none`` is the recording as it is: each problem there is a false alarm.

JSON: ``{"faults": {name: {"runs", "detected", "share", "hours", "announced_twice", "missed"}}, "share",
"alarms_per_100_hub_weeks", "hub_weeks", "alarms": {kind: count}}``; ``hours`` is the median until detection,
``missed`` counts new pages that were due during the fault and were not announced by its end and three days.
"""

import random
import re
import statistics
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import requests
from lab.cli import parser_of, print_json, show
from lab.clocks import SimulatedClock
from replay import BASELINE_SHARE, DAY, linked_of, page_key, truth_beside
from replay_place import crawling
from replay_site import Answer, ReplaySite
from rich.console import Console
from rich.progress import track

from incremental.features.watchdog.finding import Fault
from incremental.features.watchdog.watching import Watchdog
from incremental.settings import Settings
from store.enums import ChangeKind, HubRole, HubStatus
from store.models import Change, Page
from store.values import HubRow

HOUR = 3_600.0
_LEAST, _MOST, _PAGES_OF_FAULT = 7 * DAY, 28 * DAY, 10
_EXPECTED, _HOURS, _READ_HOURS = 3, 48.0, 6.0
_AFTER = 3 * DAY
_FORMS = {
    "login": "<title>Sign in</title><body><h1>Sign in</h1><p>Please sign in to go on.</p></body>",
    "captcha": "<title>Just a moment...</title><body><p>Checking your browser.</p></body>",
    "consent": "<title>Before you continue</title><body><p>We value your privacy.</p>"
    '<a href="https://consent.example/">Accept</a></body>',
    "parked": "<title>This domain is for sale</title><body><p>Buy this domain.</p>"
    '<a href="https://ads.example/">Offers</a></body>',
}


@dataclass
class Faulty:
    """A recording whose site has a fault from *begin* to *end*."""

    site: ReplaySite
    fault: str
    begin: float
    end: float

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the recording has
        return getattr(self.site, name)

    def answer(self, url: str, moment: float, etag: str | None = None) -> Answer:
        """Return what the site answered, or what the fault makes of it."""
        if not self.begin <= moment < self.end:
            return self.site.answer(url, moment, etag)
        if self.fault in _FORMS:
            return _html(_FORMS[self.fault], _robots(url))
        made: Answer = getattr(self, f"_{self.fault}")(url, moment)
        return made

    def _blocked(self, url: str, _: float) -> Answer:
        return _html("<title>Forbidden</title>", _robots(url), code=403)

    def _moved(self, url: str, _: float) -> Answer:
        return Answer(301, b"", {"Location": f"https://elsewhere.example{urlsplit(url).path}"})

    def _tls(self, url: str, _: float) -> Answer:
        raise requests.exceptions.SSLError(url)

    def _dns(self, url: str, _: float) -> Answer:
        raise requests.ConnectionError(f"NameResolutionError: {url}")

    def _robots_closed(self, url: str, moment: float) -> Answer:
        body = b"User-agent: *\nDisallow: /\n"
        return (
            Answer(200, body, {"Content-Type": "text/plain"})
            if _robots(url)
            else self.site.answer(url, moment)
        )

    def _silent(self, url: str, _: float) -> Answer:
        return self.site.answer(url, self.begin)

    def _frozen_feed(self, url: str, moment: float) -> Answer:
        return self.site.answer(url, self.begin if _feed(url) else moment)

    def _frozen_list(self, url: str, moment: float) -> Answer:
        front = urlsplit(url).path in ("", "/")
        return self.site.answer(url, self.begin if front else moment)

    def _links_gone(self, url: str, moment: float) -> Answer:
        found = self.site.answer(url, moment)
        body = re.sub(rb"<a\b[^>]*>", b"<span>", found.body)
        return found if _feed(url) else Answer(found.code, body, found.headers)

    def _textless(self, url: str, moment: float) -> Answer:
        """Ask for a login before pages that came after the fault began."""
        found = self.site.answer(url, moment)
        young = found.code == HTTPStatus.OK and (
            self.site.answer(url, self.begin).code == HTTPStatus.NOT_FOUND
        )
        return _html(_FORMS["login"], robots=False) if young and not _feed(url) else found

    def _garbled(self, url: str, moment: float) -> Answer:
        """Encode pages twice; each title and heading has an accent."""
        found = self.site.answer(url, moment)
        text = re.sub("(?<=<title>)|(?<=</h1>)", "Caf\u00e9 ", found.body.decode(errors="replace"))
        body = text.encode().decode("latin-1").encode()
        return found if _feed(url) else Answer(found.code, body, found.headers)


_GONE = {Fault.LINKS_GONE, Fault.UNREACHABLE}
FAULTS: dict[str, set[Fault]] = {
    **dict.fromkeys(_FORMS, _GONE),
    **{one: {Fault.UNREACHABLE} for one in ("blocked", "tls", "dns", "robots_closed")},
    "moved": {Fault.MOVED},
    "silent": {Fault.SILENT},
    **{one: {Fault.STANDSTILL} for one in ("frozen_feed", "frozen_list")},
    "links_gone": {Fault.LINKS_GONE, Fault.STANDSTILL},
    "textless": {Fault.TEXTLESS},
    "garbled": {Fault.GARBLED},
}
"""By name: the kinds of problems that name it."""


def _html(body: str, robots: bool, code: int = 200) -> Answer:
    if robots:
        return Answer(404, b"", {"Content-Type": "text/html"})
    return Answer(code, f"<html>{body}</html>".encode(), {"Content-Type": "text/html"})


def _robots(url: str) -> bool:
    return urlsplit(url).path == "/robots.txt"


def _feed(url: str) -> bool:
    return urlsplit(url).path.endswith((".xml", ".json", ".txt", ".rss", ".atom"))


@dataclass
class Run:
    """What one run showed."""

    fault: str
    begin: float = 0.0
    mean_gap: float = 0.0
    """Seconds between two new pages, over the whole recording."""
    due: list[float] = field(default_factory=list)
    """When the pages were linked that came after *begin*."""
    opened: list[tuple[float, str]] = field(default_factory=list)
    announced: Counter[str] = field(default_factory=Counter)
    wanted: set[str] = field(default_factory=set)
    """New pages due during the fault."""
    hub_weeks: float = 0.0

    @property
    def detected_hours(self) -> float | None:
        """Hours from the beginning to the first problem; None = none in time."""
        after = [at for at, kind in self.opened if at >= self.begin and kind in FAULTS[self.fault]]
        third = self.due[_EXPECTED - 1] if len(self.due) >= _EXPECTED else self.begin
        expected = self.begin + max(_HOURS * HOUR, _EXPECTED * self.mean_gap)
        latest = max(expected, third + _READ_HOURS * HOUR)
        return (after[0] - self.begin) / HOUR if after and after[0] <= latest else None


def run(path: Path, fault: str, seed: int) -> Run:
    """Crawl a recording with a fault, or with none."""
    site = ReplaySite(path)
    truth = {page_key(url): at for url, at in linked_of(truth_beside(path)).items()}
    drawn = random.Random(f"{seed} {path.stem} {fault}")
    begin = site.first_ts + drawn.uniform(BASELINE_SHARE, 0.6) * (site.last_ts - site.first_ts)
    due = sorted(at for at in truth.values() if at >= begin)
    tenth = due[_PAGES_OF_FAULT - 1] if len(due) >= _PAGES_OF_FAULT else begin + _MOST
    end = min(max(tenth, begin + _LEAST), begin + _MOST)
    until = min(end + _AFTER, site.last_ts)
    if fault == "none":
        begin, end, until = site.last_ts, site.last_ts, site.last_ts
    found = Run(fault, begin, (site.last_ts - site.first_ts) / max(len(truth), 1), due)
    _crawl(Faulty(site, fault, begin, end), until, found)
    found.wanted = {key for key, at in truth.items() if begin <= at < min(end, until - DAY)}
    return found


def _crawl(site: Faulty, until: float, found: Run) -> None:
    settings, clock = Settings(), SimulatedClock(site.first_ts)
    with crawling(cast("ReplaySite", site), settings, clock) as (store, step):
        dog, look_at, hub_hours = Watchdog(store), site.first_ts, 0
        while clock.now() < until:
            wake_at = step()
            if clock.now() >= look_at:
                dog.step(clock.now())
                hub_hours += sum(_is_judged(hub) for hub in store.read.hubs())
                look_at = clock.now() + HOUR
            clock.advance_to(min(wake_at, look_at, until))
        found.hub_weeks = hub_hours * HOUR / (7 * DAY)
        found.opened = sorted((row.since, row.kind) for row in store.problems.all(ended=True))
        # The log of announcements, not the list of new pages, which holds a page once.
        added = Change.select(Page.url).join(Page, on=Page.id == Change.page)
        rows = added.where(Change.kind == ChangeKind.ADDED).tuples().execute(store.database)
        found.announced = Counter(page_key(url) for (url,) in rows)


def _is_judged(hub: HubRow) -> bool:
    there = hub.state in {HubStatus.ACTIVE, HubStatus.DORMANT} and hub.role != HubRole.ARTICLE
    return there and hub.baseline_at is not None


def figures(runs: Sequence[tuple[str, Run]]) -> dict[str, Any]:
    """Return the figures of all runs."""
    faults: dict[str, Any] = {}
    for name in dict.fromkeys(name for name, _ in runs if name != "none"):
        of = [one for fault, one in runs if fault == name]
        hours = [one.detected_hours for one in of if one.detected_hours is not None]
        faults[name] = {
            "runs": len(of),
            "detected": len(hours),
            "share": round(len(hours) / len(of), 3),
            "hours": round(statistics.median(hours), 1) if hours else None,
            "announced_twice": sum(n - 1 for one in of for n in one.announced.values()),
            "missed": sum(len(one.wanted - one.announced.keys()) for one in of),
        }
    well = [one for fault, one in runs if fault == "none"]
    alarms = Counter(kind for one in well for _, kind in one.opened)
    weeks = sum(one.hub_weeks for one in well)
    tried = sum(one["runs"] for one in faults.values())
    return {
        "faults": faults,
        "share": round(sum(f["detected"] for f in faults.values()) / tried, 3) if tried else None,
        "alarms_per_100_hub_weeks": round(100 * alarms.total() / weeks, 3) if weeks else None,
        "hub_weeks": round(weeks, 1),
        "alarms": dict(alarms),
    }


def main() -> int:
    """Run from the command line."""
    parser = parser_of(__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.sqlite")
    parser.add_argument("--faults", default=",".join(("none", *FAULTS)), help="default: all")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    names = arguments.faults.split(",")
    if unknown := set(names) - {"none", *FAULTS}:
        parser.error(f"no such fault: {', '.join(sorted(unknown))}")
    jobs = [(fault, path) for path in arguments.files for fault in names]
    console = Console(stderr=True)
    quiet = not console.is_terminal
    runs = [
        (fault, run(path, fault, arguments.seed))
        for fault, path in track(jobs, console=console, disable=quiet)
    ]
    result = figures(runs)
    show(result, "watchdog")
    print_json(arguments, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())

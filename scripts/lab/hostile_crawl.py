"""Hostile hosts beside healthy sites in one daemon: what they cost the healthy sites' readers.

::

    alone      eight healthy sites                                mean delay
    together   the same, and every host of the fault server       mean delay, memory, does it end

Both runs publish the same articles at the same moments of a clock that goes faster; the time-outs of
fetches are as much shorter, so that a host that hangs keeps a worker as long, in that time, as ever.
"""

import statistics
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from lab.clocks import FastClock
from lab.daemon_process import (
    DaemonProcess,
    complete,
    on_fast_clock,
    wait_until,
    write_settings,
)
from lab.fault_server import BEHAVIOURS, FaultServer
from lab.new_pages import listed
from lab.publishing_site import PublishingSite, ServedSite
from store import open_store
from store.database.home import DATABASE

SITES = 8
SPEED = 6.0
REQUESTS_PER_DAY = 6_000
SECONDS_BETWEEN = 60.0
_HOME = "hubwatch-data"
# Until then all hosts were asked, and what hangs was found out.
_WARM_UP_MINUTES = 12.0
_GRACE_MINUTES = 8.0
_STOP_SECONDS = 12.0
_FETCH = {"connect": 10.0, "read": 20.0, "total": 60.0}


@dataclass(frozen=True)
class Crawl:
    """What a run gave."""

    delay_minutes: float
    """Mean time from publication to announcement; what was never found counts until the end."""
    published: int
    found: int
    peak_rss_mb: float
    exit_code: int | None
    stop_seconds: float
    asked: Mapping[str, int]
    """Requests to hostile hosts, by behaviour."""


def crawl(folder: Path, *, hostile: bool, minutes: float, seed: int, speed: float = SPEED) -> Crawl:
    """Run the daemon for so many *minutes* of its time after all hosts were asked."""
    clock = FastClock(speed)
    with ExitStack() as stack:
        sites = [
            ServedSite(
                PublishingSite(
                    seconds_between=SECONDS_BETWEEN, seed=seed * 100 + number, now=clock.now
                ),
                host=f"127.0.0.{11 + number}",
            )
            for number in range(SITES)
        ]
        for site in sites:
            stack.enter_context(site)
        faults = stack.enter_context(FaultServer(BEHAVIOURS if hostile else ()))
        write_settings(
            folder,
            {
                "store": {"folder": _HOME},
                "fetch": {
                    # Healthy and hostile sites; redirects to the rest of loopback are refused.
                    "allowed_networks": ["127.0.0.0/24", "127.0.1.0/24"],
                    **{f"{name}_timeout_seconds": of / speed for name, of in _FETCH.items()},
                },
                "revisit": {"requests_per_day": REQUESTS_PER_DAY, "min_interval_minutes": 2},
                "web": {"enabled": False},
            },
        )
        seeds = [*(site.url for site in sites), *faults.urls.values()]
        if complete(folder, "add", *seeds) != 0:
            raise RuntimeError("the sites were not added")
        daemon = stack.enter_context(DaemonProcess(folder, code=on_fast_clock(clock)))
        daemon.start()
        _wait(clock, _WARM_UP_MINUTES, daemon)
        for site in sites:
            site.site.begin()
        _wait(clock, minutes, daemon)
        for site in sites:
            site.site.end()
        _wait(clock, _GRACE_MINUTES, daemon)
        end, peak = clock.now(), daemon.memory_mb()
        code, seconds = daemon.stop(within=90)
        found = _found(folder)
        delays = []
        for site in sites:
            delays += [(found.get(url, end) - at) / 60 for url, at in site.published().items()]
        published = {url for site in sites for url in site.published()}
        return Crawl(
            delay_minutes=statistics.fmean(delays),
            published=len(published),
            found=len(published & found.keys()),
            peak_rss_mb=peak,
            exit_code=code,
            stop_seconds=seconds,
            asked=dict(faults.asked),
        )


def _wait(clock: FastClock, minutes: float, daemon: DaemonProcess) -> None:
    until = clock.now() + minutes * 60
    wait_until(lambda: clock.now() >= until or not daemon.running, 36_000, every=0.2)
    if not daemon.running:
        raise RuntimeError(f"the daemon ended: {daemon.exit_code} {daemon.errors()[-1_500:]}")


def _found(folder: Path) -> dict[str, float]:
    """Return when each page was announced, by address."""
    home = folder / _HOME
    with open_store(str(home / DATABASE), cache_folder=home / "pages") as store:
        return {row.url: row.found_at for row in listed(store)}


def compared(alone: Crawl, together: Crawl) -> dict[str, object]:
    """Return the figures of both runs."""
    return {
        "behaviours": len(BEHAVIOURS),
        "asked": len(together.asked),
        "published": together.published,
        "delay_alone": round(alone.delay_minutes, 2),
        "delay_together": round(together.delay_minutes, 2),
        "ratio": round(together.delay_minutes / alone.delay_minutes, 3),
        "healthy_recall": round(together.found / max(together.published, 1), 4),
        "ended": together.exit_code == 0 and together.stop_seconds <= _STOP_SECONDS,
        "stop_seconds": round(together.stop_seconds, 1),
        "peak_rss_mb_alone": round(alone.peak_rss_mb),
        "peak_rss_mb": round(together.peak_rss_mb),
    }

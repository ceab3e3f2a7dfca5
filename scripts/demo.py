#!/usr/bin/env python3
"""Show Hubwatch at work: a small local news site publishes, the real daemon finds what is new.

    scripts/demo.py                   until Ctrl-C
    scripts/demo.py --seconds 45      for so long

Time runs two minutes a second, for the site and for the daemon alike; nothing leaves this machine.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
from lab.cli import parser_of
from lab.clocks import FastClock
from lab.publishing_site import PublishingSite, ServedSite

from incremental.base.clock import SystemClock
from incremental.crawl.crawler import Crawler
from incremental.daemon.assembly import make_crawler, make_fetcher
from incremental.daemon.daemon import Daemon
from incremental.daemon.health import Health
from incremental.daemon.pulse import Pulse
from incremental.daemon.service_manager import ServiceManager
from incremental.fetch.options import FetchSettings
from incremental.interfaces.cli.at_work import web_beside
from incremental.interfaces.cli.reporting import Reporter
from incremental.settings import RevisitSettings, Settings
from incremental.settings.sections import StoreSettings
from incremental.settings.seeds import add_seed
from incremental.settings.storage import only_writer, open_configured_store
from incremental.visit.host_gate import HostGate
from store import Store
from store.values import VisitRecord

SPEED = 120.0
REQUESTS_PER_DAY = 2_000


class HealthClock(SystemClock):
    """Shows the time of the demonstration, and measures what hangs by the real one."""

    def __init__(self, shown: FastClock) -> None:
        self._shown = shown

    def now(self) -> float:
        """Return the time of the demonstration."""
        return self._shown.now()


def demo_settings(folder: Path) -> Settings:
    """Return settings that allow loopback, which is refused otherwise, and a generous budget."""
    return msgspec.structs.replace(
        Settings(),
        fetch=FetchSettings(allowed_networks=("127.0.0.0/8",)),
        revisit=RevisitSettings(requests_per_day=REQUESTS_PER_DAY, min_interval_minutes=2),
        store=StoreSettings(folder=str(folder)),
    )


@contextlib.contextmanager
def published(clock: FastClock) -> Iterator[str]:
    """Serve a site with an article every quarter of an hour of the clock's time; give its address."""
    with ServedSite(PublishingSite(seconds_between=900, now=clock.now)) as served:
        served.site.begin()
        yield served.url


def daemon_on(  # noqa: PLR0913, PLR0917 - its parts
    store: Store,
    settings: Settings,
    clock: FastClock,
    executor: ThreadPoolExecutor,
    announced: Callable[[VisitRecord, Sequence[int]], None],
    health: Health | None = None,
) -> Daemon:
    """Return the daemon, with the parts that it is run with."""
    fetch = make_fetcher(settings, clock).fetch

    def make(gate: HostGate | None) -> Crawler:
        return make_crawler(
            store, settings, fetch=fetch, executor=executor, announced=announced, gate=gate
        )

    return Daemon(make, store, settings, clock, once=False, health=health)


def main() -> int:
    """Run from the command line; exit 0."""
    parser = parser_of(__doc__, with_json=False)
    parser.add_argument("--seconds", type=float, help="end after so long (default: Ctrl-C)")
    arguments = parser.parse_args()
    clock = FastClock(SPEED)
    with tempfile.TemporaryDirectory(prefix="hubwatch-demo-") as name:
        settings = demo_settings(Path(name))
        config = _write_config(Path(name))
        with contextlib.ExitStack() as stack:
            url = stack.enter_context(published(clock))
            # As the daemon does, so that other commands see it.
            stack.enter_context(only_writer(settings, Path(name)))
            store = stack.enter_context(open_configured_store(settings, Path(name)))
            health = Health(HealthClock(clock))
            pulse = stack.enter_context(Pulse(health, ServiceManager()))
            pulse.show_in(Path(name))
            add_seed(store, url, now=clock.now())
            address = stack.enter_context(
                web_beside(store, settings, Path(name), clock, health=health)
            )
            _explain(url, config, address)
            reporter = Reporter(store, HostGate(store, settings), as_json=False)
            with ThreadPoolExecutor(settings.daemon.workers) as executor:
                daemon = daemon_on(store, settings, clock, executor, reporter.announced, health)
                if arguments.seconds:
                    timer = threading.Timer(arguments.seconds, daemon.stop)
                    timer.daemon = True
                    timer.start()
                daemon.run()
            reporter.finish(once=False)
    return 0


def _write_config(folder: Path) -> Path:
    """Write settings with which the command line finds the demonstration's store."""
    path = folder / "hubwatch.toml"
    settings = demo_settings(folder)
    lines = (
        f'[store]\nfolder = "{folder}"',
        '[fetch]\nallowed_networks = ["127.0.0.0/8"]',
        f"[revisit]\nrequests_per_day = {settings.revisit.requests_per_day:g}",
        f"min_interval_minutes = {settings.revisit.min_interval_minutes:g}",
        f"max_interval_hours = {settings.revisit.max_interval_hours:g}",
    )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _explain(url: str, config: Path, address: str | None) -> None:
    print(f"A small news site publishes on {url} - one second here is two minutes there.")
    print("The daemon starts from that one address: watch it find the hubs, then what is new.")
    if address is not None:
        print(f"Read it in a browser: {address}")
    print("Or ask in another terminal, while this runs:")
    print(f"    .venv/bin/hubwatch --config {config} new")
    print(f"    .venv/bin/hubwatch --config {config} hubs")
    print("Ctrl-C ends. With sites of your own: scripts/run https://example.org/", flush=True)
    print()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Show Hubwatch at work: a small local news site publishes, the real daemon finds what is new.

    scripts/demo.py                   until Ctrl-C
    scripts/demo.py --seconds 45      for so long

Time runs two minutes a second, for the site and for the daemon alike; nothing leaves this machine.
"""

import contextlib
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lab.cli import parser_of
from lab.clocks import FastClock
from lab.daemon_process import Sections, on_fast_clock, shown_command, write_settings
from lab.publishing_site import PublishingSite, ServedSite

SPEED = 120.0


@contextlib.contextmanager
def published(clock: FastClock, folder: Path, sections: Sections | None = None) -> Iterator[str]:
    """Serve a site with an article every quarter of an hour of the clock's time; give its address.

    Settings in *folder* allow loopback, which is refused otherwise, and a generous budget; *sections* add.
    """
    settings: Sections = {
        "store": {"folder": str(folder / "hubwatch-data")},
        "fetch": {"allowed_networks": ["127.0.0.0/8"]},
        "revisit": {"requests_per_day": 2_000, "min_interval_minutes": 2},
    }
    write_settings(folder, {**settings, **(sections or {})})
    with ServedSite(PublishingSite(seconds_between=900, now=clock.now)) as served:
        served.site.begin()
        yield served.url


def main() -> int:
    """Run from the command line; exit 0."""
    parser = parser_of(__doc__, with_json=False)
    parser.add_argument("--seconds", type=float, help="end after so long (default: Ctrl-C)")
    arguments = parser.parse_args()
    clock = FastClock(SPEED)
    with (
        tempfile.TemporaryDirectory(prefix="hubwatch-demo-") as name,
        published(clock, Path(name)) as url,
    ):
        _explain(url, Path(name) / "hubwatch.toml")
        daemon = shown_command(Path(name), "run", url, code=on_fast_clock(clock))
        with contextlib.suppress(KeyboardInterrupt, subprocess.TimeoutExpired):
            daemon.wait(arguments.seconds)
        # Ctrl-C reaches the daemon as well.
        if arguments.seconds:
            daemon.send_signal(signal.SIGTERM)
        return daemon.wait()


def _explain(url: str, config: Path) -> None:
    print(f"A small news site publishes on {url} - one second here is two minutes there.")
    print("The daemon starts from that one address: watch it find the hubs, then what is new.")
    print("Ask in another terminal, while this runs:")
    print(f"    .venv/bin/hubwatch --config {config} new")
    print(f"    .venv/bin/hubwatch --config {config} hubs")
    print("Ctrl-C ends. With sites of your own: scripts/run https://example.org/", flush=True)
    print()


if __name__ == "__main__":
    sys.exit(main())

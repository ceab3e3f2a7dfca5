#!/usr/bin/env python3
"""Serve a recorded website over HTTP on loopback, while its time runs fast.

    scripts/serve_replay.py FILE.sqlite --speed 600 --port 8000
    scripts/serve_replay.py FILE.sqlite --from 1717400000 --speed 60

For a live run of Hubwatch (allow the network in its settings: allowed_networks = ["127.0.0.0/8"])
and for other crawlers. Time begins at the recording's first moment, or at --from, and runs --speed
times as fast; at its last moment it stands still. Addresses of the recorded host in pages, feeds and
sitemaps are served as addresses of this server, so that a crawler stays here. Ctrl-C ends.

Pages keep their old dates: raise [news] backdated_days to the age of the recording, or dated pages
count as old and are not announced.
"""

import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from lab.cli import parser_of
from lab.clocks import FastClock
from lab.local_server import Answered, Asked, LocalServer
from replay_site import Answer, ReplaySite


class RecordedTime:
    """The time of a recording, which begins when this is made and stands still at the end."""

    def __init__(self, site: ReplaySite, speed: float, begin: float | None = None) -> None:
        self._clock = FastClock(speed)
        self._shift = (site.first_ts if begin is None else begin) - self._clock.now()
        self._last = site.last_ts

    def __call__(self) -> float:
        """Return the moment of the recording, unix seconds, UTC."""
        return min(self._clock.now() + self._shift, self._last)


@contextmanager
def serve(
    site: ReplaySite,
    moment: Callable[[], float],
    port: int = 0,
    *,
    asked: Callable[[str, int], None] = lambda *_: None,
) -> Iterator[str]:
    """Serve *site* as it was at *moment* on a port of loopback, 0 = a free one; give its address.

    *asked* is told the recorded address and the status code of each request.
    """
    recorded = site.base_url.split("/")[2]
    # The recording keeps what it unpacked last; two requests must not do that at once.
    lock = threading.Lock()

    def answered(request: Asked) -> Answered:
        here = request.headers.get("Host") or f"127.0.0.1:{server.server_port}"
        path = urlsplit(request.path)._replace(scheme="", netloc="").geturl()
        url = urljoin(site.base_url, path)
        with lock:
            answer = site.answer(url, moment(), request.headers.get("If-None-Match"))
        answer = _unmodified(answer, request.headers.get("If-Modified-Since"))
        asked(url, answer.code)
        headers = {
            name: _at_home(value.encode(), recorded, here).decode()
            for name, value in answer.headers.items()
        }
        return Answered(answer.code, _at_home(answer.body, recorded, here), headers)

    with LocalServer(answered, port=port, keep_alive=True) as server:
        yield server.url + (urlsplit(site.base_url).path or "/")


NOT_MODIFIED = 304


def _unmodified(answer: Answer, since: str | None) -> Answer:
    """Turn an answer into 304 when the client holds what was last modified at that very second."""
    same = since is not None and since == answer.headers.get("Last-Modified")
    return Answer(NOT_MODIFIED, b"", answer.headers) if same and answer.code == 200 else answer  # noqa: PLR2004 - OK


def _at_home(text: bytes, recorded: str, here: str) -> bytes:
    """Let absolute addresses of the recorded host be addresses of this server."""
    for scheme in ("https", "http"):
        text = text.replace(f"{scheme}://{recorded}".encode(), f"http://{here}".encode())
    return text


def main() -> int:
    """Run from the command line until Ctrl-C; exit 0, or 2 for wrong usage."""
    parser = parser_of(__doc__, with_json=False)
    parser.add_argument("file", type=Path, metavar="FILE.sqlite")
    parser.add_argument("--speed", type=float, default=60.0, help="times as fast (default: 60)")
    parser.add_argument("--port", type=int, default=0, help="default: a free one")
    parser.add_argument(
        "--from", dest="begin", type=float, metavar="TS", help="unix seconds (default: the first)"
    )
    arguments = parser.parse_args()
    if not arguments.file.is_file():
        parser.error(f"there is no file {arguments.file}")
    if not arguments.speed > 0:
        parser.error("--speed must be above 0")
    try:
        site = ReplaySite(arguments.file)
        with serve(
            site, RecordedTime(site, arguments.speed, arguments.begin), arguments.port
        ) as url:
            print(url, flush=True)
            threading.Event().wait()
    except KeyboardInterrupt:
        return 0
    except sqlite3.DatabaseError as error:
        parser.error(f"{arguments.file} is no recording: {error}")
    except OSError as error:
        parser.error(f"port {arguments.port}: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

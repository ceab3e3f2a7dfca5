#!/usr/bin/env python3
"""Serve a recorded website over HTTP on loopback, while its time runs fast.

    scripts/serve_replay.py FILE.sqlite --speed 600 --port 8000
    scripts/serve_replay.py FILE.sqlite --from 1717400000 --speed 60

For a live run of Hubwatch (allow the network in its settings: allowed_networks = ["127.0.0.0/8"])
and for other crawlers. Time begins at the recording's first moment, or at --from, and runs --speed
times as fast; at its last moment it stands still. Addresses of the recorded host in pages, feeds and
sitemaps are served as addresses of this server, so that a crawler stays here. Ctrl-C ends.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from lab.cli import parser_of
from replay_site import Answer, ReplaySite

from incremental.base.clock import FastClock


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

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def _answer(self, *, with_body: bool) -> None:
            here = self.headers.get("Host") or f"127.0.0.1:{server.server_port}"
            url = urljoin(
                site.base_url, urlsplit(self.path)._replace(scheme="", netloc="").geturl()
            )
            with lock:
                answer = site.answer(url, moment(), self.headers.get("If-None-Match"))
            answer = _unmodified(answer, self.headers.get("If-Modified-Since"))
            asked(url, answer.code)
            body = _at_home(answer.body, recorded, here)
            self.send_response(answer.code)
            for name, value in answer.headers.items():
                self.send_header(name, _at_home(value.encode(), recorded, here).decode())
            if answer.code != NOT_MODIFIED:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if with_body:
                self.wfile.write(body)

        def log_message(self, *_: Any) -> None:  # noqa: ANN401 - http.server's own signature
            """Say nothing: the crawler's own log is what one came to see."""

    # The recording keeps what it unpacked last; two requests must not do that at once.
    lock = threading.Lock()
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{urlsplit(site.base_url).path or '/'}"
    finally:
        server.shutdown()
        server.server_close()


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
    site = ReplaySite(arguments.file)
    try:
        with serve(
            site, RecordedTime(site, arguments.speed, arguments.begin), arguments.port
        ) as url:
            print(url, flush=True)
            threading.Event().wait()
    except KeyboardInterrupt:
        return 0
    except OSError as error:
        parser.error(f"port {arguments.port}: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

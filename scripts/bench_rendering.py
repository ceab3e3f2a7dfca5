#!/usr/bin/env python3
"""What drawing a page costs: requests, seconds and memory of a browser, on a site of its own on loopback.

    scripts/bench_rendering.py --pages 10 --rows 30

The site's pages are shells with a script of half a megabyte, which reads a list and draws it. Memory is
what all processes of the browser have for themselves.
"""

from __future__ import annotations

import argparse
import json
import statistics
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec

from incremental.base.children import family, private_bytes
from incremental.base.clock import SystemClock
from incremental.daemon.assembly import make_fetcher, make_renderer
from incremental.fetch.options import FetchSettings
from incremental.parse import parse
from incremental.settings import Settings
from incremental.visit.rendering.pool import BrowserPool

SHELL = b"<html><body><div id=root></div><script src=/main.js></script></body></html>"
SCRIPT = """
fetch("/rows").then(answer => answer.json()).then(rows => {
    document.getElementById("root").innerHTML =
        rows.map(one => `<li><a href="/n/${one}">Matter number ${one}</a></li>`).join("");
});
"""


def serve(rows: int) -> ThreadingHTTPServer:
    """Serve the site on a free port of loopback."""
    answers = {
        "/main.js": ("text/javascript", (SCRIPT + "// filling\n" * 50_000).encode()),
        "/rows": ("application/json", json.dumps(list(range(rows))).encode()),
    }

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kind, body = answers.get(self.path, ("text/html", SHELL))
            found = self.path != "/robots.txt"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:  # noqa: ANN401 - the library's signature
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def main() -> None:
    """Draw the pages and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=10)
    parser.add_argument("--rows", type=int, default=30)
    arguments = parser.parse_args()
    server, clock = serve(arguments.rows), SystemClock()
    port = server.server_port
    allowed = FetchSettings(allowed_hosts=frozenset({f"127.0.0.1:{port}"}))
    settings = msgspec.structs.replace(Settings(), fetch=allowed)
    with (
        closing(make_fetcher(settings, clock)) as fetcher,
        make_renderer(settings, clock, fetcher.fetch) as renderer,
    ):
        if not isinstance(renderer, BrowserPool):
            raise SystemExit("no Chromium is installed")
        drawn, memory = [], []
        for number in range(arguments.pages):
            found = renderer.render(f"http://127.0.0.1:{port}/page/{number}", None)
            body = found.response.body
            links = len(parse(body, found.response.url, content_type="text/html").links)
            drawn.append((found.requests, found.seconds, links))
            (pid,) = renderer.pids
            memory.append(private_bytes(family(pid)) / 1e6)
    server.shutdown()
    (requests, first, links), *others = drawn
    print(f"first page: {requests} requests, {first:.1f} s with the start, {links} links")
    if others:
        later = statistics.median(seconds for _, seconds, _ in others)
        asked = statistics.median(sent for sent, _, _ in others)
        print(f"the {len(others)} after it: {asked:g} requests, {later:.1f} s (median)")
    print(f"memory after a page: {statistics.median(memory):,.0f} MB (median)")


if __name__ == "__main__":
    main()

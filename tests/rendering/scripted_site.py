"""A website on loopback whose pages are drawn by scripts, and one beside it that nobody may reach."""

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass
class Served:
    """What the site answers at a path."""

    body: bytes
    kind: str = "text/html; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)


class ScriptedSite:
    """Serves :attr:`pages` by path without query; the table may change while it runs."""

    def __init__(self) -> None:
        self.pages: dict[str, Served] = {}
        self.asked: list[str] = []
        self.posts: list[tuple[str, bytes]] = []
        self.headers: dict[str, list[str]] = {}
        """What came with the requests, by path."""
        self._held: dict[str, threading.Event] = {}
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                self._answer()

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                site.posts.append((self.path, self.rfile.read(length)))
                self._answer()

            do_PUT = do_DELETE = do_POST  # noqa: N815 - names of the library

            def _answer(self) -> None:
                if held := site._held.get(self.path):
                    held.wait()
                site.headers.setdefault(self.path, []).append(str(self.headers))
                found = site.pages.get(self.path.partition("?")[0])
                body = found.body if found else b"none"
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", found.kind if found else "text/plain")
                self.send_header("Content-Length", str(len(body)))
                for name, value in (found.headers if found else {}).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @contextlib.contextmanager
    def holding(self, path: str) -> Iterator[None]:
        """Answer nothing at *path* meanwhile."""
        self._held[path] = held = threading.Event()
        try:
            yield
        finally:
            held.set()

    def page(self, path: str, script: str, *, body: str = '<div id="root"></div>') -> str:
        """Serve a shell with a script of its own; return its URL."""
        self.script(f"{path}.js", script)
        inside = f"{body}<script src='{path}.js'></script>"
        html = f"<html><head><title>Site</title></head><body>{inside}</body></html>"
        self.pages[path] = Served(html.encode())
        return self.url + path

    def script(self, path: str, text: str) -> None:
        """Serve a script."""
        self.pages[path] = Served(
            text.encode(), "text/javascript", {"Cache-Control": "max-age=600"}
        )

    def json(self, path: str, value: object) -> None:
        """Serve JSON."""
        self.pages[path] = Served(json.dumps(value).encode(), "application/json")


# Draws what an address that no search finds answers with.
LIST = """
const parts = ["", "zz", "rows"];
fetch(parts.join("/")).then(answer => answer.json()).then(rows => {
    document.getElementById("root").innerHTML =
        "<ul>" + rows.map(r => `<li><a href="/n/${r.k}">${r.t}</a></li>`).join("") + "</ul>";
});
"""


def rows(*numbers: int) -> list[dict[str, object]]:
    """What :data:`LIST` draws."""
    return [{"k": number, "t": f"The council decides on matter {number}"} for number in numbers]

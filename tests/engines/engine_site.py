"""A website on loopback that remembers who asked for what, and how many asked at a time."""

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class EngineSite:
    """Serves *pages* by path. What is not there is 404."""

    def __init__(self, pages: dict[str, str], host: str = "127.0.0.1") -> None:
        self.pages = pages
        self.asked: list[str] = []
        """Paths, in order."""
        self.headers: list[tuple[str, dict[str, str]]] = []
        """Path and headers of each request."""
        self.most_at_once = 0
        self.before: dict[str, Callable[[int], object]] = {}
        """What is done at a path before it is answered, with the port of who asks."""
        self._at_once = 0
        self._lock = threading.Lock()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.begin(self.path, dict(self.headers.items()))
                body = site.pages.get(self.path, "<title>none</title>").encode()
                site.before.get(self.path, bool)(self.client_address[1])
                site.end()
                # A visit that was killed meanwhile reads nothing.
                try:
                    self.send_response(200 if self.path in site.pages else 404)
                    self.send_header("Content-Type", "text/html; charset=utf-8")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except ConnectionError:
                    self.close_connection = True

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer((host, 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://{host}:{self._server.server_port}"

    def begin(self, path: str, headers: dict[str, str]) -> None:
        """Count a request."""
        with self._lock:
            self.asked.append(path)
            self.headers.append((path, headers))
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)

    def end(self) -> None:
        """Count its end."""
        with self._lock:
            self._at_once -= 1

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def news_site(articles: int) -> dict[str, str]:
    """Return a home page that lists so many articles."""
    names = [f"/news/2026/story-number-{number}-of-the-day" for number in range(articles)]
    links = "".join(f'<li><a href="{name}">The story of number {name}</a></li>' for name in names)
    body = "<p>Words about what happened, and who was there to see it happen.</p>" * 8
    pages = {name: f"<title>{name}</title><h1>{name}</h1>{body}" for name in names}
    return {"/": f"<title>News</title><h1>News</h1><ul>{links}</ul>", **pages}

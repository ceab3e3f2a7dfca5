"""A website on loopback for commands that run in a process of their own."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class LocalSite:
    """Serves *pages* by path; the table may change while it runs. What is not there is 404.

    A path in *held* is answered only when the test is over or :attr:`release` is set; :attr:`asked`
    says that such a request has come.
    """

    def __init__(self, pages: dict[str, str]) -> None:
        self.pages = pages
        self.held: set[str] = set()
        self.asked, self.release = threading.Event(), threading.Event()
        self.paths: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.paths.append(self.path)
                if self.path in site.held:
                    site.asked.set()
                    site.release.wait()
                body = site.pages.get(self.path, "<title>none</title>").encode()
                self.send_response(200 if self.path in site.pages else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.release.set()
        self._server.shutdown()
        self._server.server_close()

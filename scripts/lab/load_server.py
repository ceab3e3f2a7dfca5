#!/usr/bin/env python3
"""Hundreds of sites on loopback addresses, served by a process of its own as quickly as Python can.

Each address is a host with ``/``, list pages ``/0/``, ``/1/``, ... of 50 links and about 18 kB, with ETags,
the articles that they link to, and a robots.txt. A list shows the articles ``3 * generation`` and later;
``/generation/N/PRINTING``, asked of any host, changes them all at once. A printing changes the footer
alone; only the first, 0, has ETags. ``/mix/ROUND/SAME/CHANGED/NEW/TAGS`` changes each list by chance
instead, round by round: see :class:`Mix`.
"""

import asyncio
import functools
import random
import socket
import subprocess
import sys
from dataclasses import dataclass
from types import TracebackType
from typing import Self

LINKS = 50
NEW_EACH = 3
"""New links of a list in each generation."""
MENU = 8
"""Lists that each menu names."""
_WORDS = """anchor bakery bridge captain council crane cyclist debate engine ferry flood garden harbour
island judge kitchen lantern library market museum night orchard painter pilot quarry railway river school
signal station storm teacher theatre tide tower tunnel valley village voyage winter workshop yard""".split()  # noqa: SIM905 - prose
_SECTIONS = "".join(f'<li><a href="/{n}/">Section {n}</a></li>' for n in range(MENU))
_MENU = f"<nav><ul>{_SECTIONS}</ul></nav>"
_ROBOTS = b"User-agent: *\nDisallow: /private/\nAllow: /\n"
_READY = "ready"


def host(number: int) -> str:
    """Return the address of a host."""
    return f"127.{1 + number // 60_000}.{number // 240 % 250}.{1 + number % 240}"


@functools.lru_cache(maxsize=4_096)
def _row(section: str, number: int) -> str:
    dice = _dice(section, number)
    title = _title(dice)
    teaser = " ".join(dice.choices(_WORDS, k=24)).capitalize()
    return (
        f'<li class="item"><h3><a href="{_path(section, number, title)}">{title}</a></h3>'
        f'<p class="teaser">{teaser}.</p></li>'
    )


def _dice(section: str, number: int) -> random.Random:
    return random.Random(f"{section} {number}")


def _title(dice: random.Random) -> str:
    return " ".join(dice.sample(_WORDS, 6)).capitalize()


def _path(section: str, number: int, title: str) -> str:
    return f"/{section}/{title.lower().replace(' ', '-')}-{number}.html"


@dataclass(frozen=True)
class Shown:
    """What a list shows."""

    newest: int = LINKS
    """The number of its first article."""
    links: int = LINKS
    printing: int = 0


@dataclass(frozen=True)
class Mix:
    """What each round brings to a list; shares and links in ten-thousandths."""

    round: int
    same: int
    """Share of lists that are printed again with the same links."""
    changed: int
    """Share of lists whose links change: new ones come, or the last one goes or returns."""
    new: int
    """New links of a list that changes, in the mean."""
    tags: int
    """1 = with ETags."""

    @property
    def path(self) -> str:
        """The path that shows it."""
        return f"/mix/{self.round}/{self.same}/{self.changed}/{self.new}/{self.tags}"

    @functools.lru_cache(maxsize=16_384)  # noqa: B019 - of a process that ends with the benchmark
    def shown(self, name: str, section: str) -> Shown:
        """Return what a list of the host *name* shows."""
        newest, links, printing = LINKS, LINKS, 0
        for number in range(1, self.round + 1):
            dice = random.Random(f"{name} {section} {number}")
            drawn = dice.randrange(10_000)
            if drawn < self.same:
                printing += 1
            elif drawn < self.same + self.changed:
                brought = self.new // 10_000 + (dice.randrange(10_000) < self.new % 10_000)
                newest += brought
                links = links if brought else 2 * LINKS - 1 - links
        return Shown(newest, links, printing)


@functools.lru_cache(maxsize=4_096)
def list_page(section: str, shown: Shown) -> bytes:
    """Return the body of a list."""
    newest, printing = shown.newest, shown.printing
    rows = "".join(_row(section, number) for number in range(newest, newest - shown.links, -1))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Section {section}</title>'
        f"</head><body>{_MENU}<main><h1>Section {section}</h1><ul>{rows}</ul>"
        f"</main><footer><p>Printing {printing}.</p></footer></body></html>"
    ).encode()


@functools.lru_cache(maxsize=4_096)
def article_page(path: str) -> bytes:
    """Return the body of an article."""
    dice = random.Random(path)
    title = path.rpartition("/")[2].removesuffix(".html").replace("-", " ")
    paragraphs = "".join(
        f"<p>{' '.join(dice.choices(_WORDS, k=90)).capitalize()}.</p>" for _ in range(20)
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
        f"<body>{_MENU}<main><article><h1>{title}</h1>{paragraphs}</article>"
        "</main></body></html>"
    ).encode()


class _Connection(asyncio.Protocol):
    """One connection, kept alive; requests come one at a time."""

    shown = Shown()
    mix: Mix | None = None

    def __init__(self) -> None:
        self._left = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._left += data
        while b"\r\n\r\n" in self._left:
            head, _, self._left = self._left.partition(b"\r\n\r\n")
            self._answer(head)

    def _answer(self, head: bytes) -> None:
        path = head.split(b" ", 2)[1].decode("ascii", "replace")
        kind, tag, body = "text/html; charset=utf-8", "", b""
        status = "200 OK"
        parts = path.strip("/").split("/")
        if parts[0] == "generation":
            generation, printing = map(int, parts[1:])
            _Connection.shown = Shown(LINKS + NEW_EACH * generation, LINKS, printing)
        elif parts[0] == "mix":
            _Connection.mix = Mix(*map(int, parts[1:]))
        elif path == "/robots.txt":
            kind, body = "text/plain", _ROBOTS
        elif path.endswith(".html"):
            body = article_page(path)
        elif path == "/" or (len(parts) == 1 and parts[0].isdecimal()):
            section = parts[0] or "home"
            shown, tagged = self.shown, not self.shown.printing
            if self.mix is not None:
                name = head.lower().partition(b"\r\nhost:")[2].split(b":", 1)[0].decode().strip()
                shown, tagged = self.mix.shown(name, section), bool(self.mix.tags)
            tag = f'"{section}-{shown.newest}-{shown.links}-{shown.printing}"' if tagged else ""
            if tag and tag.encode() in head:
                status = "304 Not Modified"
            else:
                body = list_page(section, shown)
        else:
            status = "404 Not Found"
        tag = f"ETag: {tag}\r\n" if tag else ""
        lines = (
            f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{tag}Content-Length: {len(body)}\r\n\r\n"
        )
        self._transport.write(lines.encode() + body)


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(_Connection, "0.0.0.0", 0, backlog=1_024)  # noqa: S104 - all of 127/8
    print(_READY, server.sockets[0].getsockname()[1], flush=True)
    # Ends with the process that started it.
    await loop.run_in_executor(None, sys.stdin.read)


class LoadServer:
    """The server as a process; a context manager."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(  # noqa: S603 - this file
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        word, _, port = self._process.stdout.readline().partition(" ")
        assert word == _READY
        self.port = int(port)
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def change(self, generation: int, printing: int = 0) -> None:
        """Show another generation or printing of all lists."""
        self.ask(f"/generation/{generation}/{printing}")

    def ask(self, path: str) -> None:
        """Ask for a path of any host."""
        with socket.create_connection((host(0), self.port)) as line:
            line.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            line.recv(1_000)

    def url(self, number: int, section: str = "") -> str:
        """Return the address of a list of a host."""
        return f"http://{host(number)}:{self.port}/" + (f"{section}/" if section else "")


if __name__ == "__main__":
    asyncio.run(_serve())

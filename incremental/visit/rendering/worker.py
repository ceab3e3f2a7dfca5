"""The program that drives one browser: pages to draw come in, what they want and become goes out.

Started by :mod:`incremental.visit.rendering.pool`. It ends with its input, and the browser with it.
"""

import asyncio
import os
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Error, Page, Route, WebSocketRoute, async_playwright

from incremental.base.children import LENGTH, MAX_MESSAGE_BYTES, frame
from incremental.visit.rendering.frames import (
    Answer,
    Closed,
    Drawn,
    FromWorker,
    Order,
    Ready,
    Wanted,
    to_worker,
)

# The page is still when so long nothing was wanted and no link came.
_STILL_SECONDS = 0.6
_TICK_SECONDS = 0.2
# Of the time for a page: until its scripts have drawn it; the rest is for scrolling.
_DRAWING_SHARE = 0.7
MOST_SCROLLS = 4
_ENDING_SECONDS = 4.0
_VIEWPORT = {"width": 1280, "height": 1600}
# Nothing leads out: all names fail, and all connections go to a proxy of such a name, loopback too.
ARGUMENTS = (
    "--proxy-server=http://nowhere.invalid:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--dns-prefetch-disable",
    "--no-pings",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--mute-audio",
    "--disable-features=DialMediaRouteProvider,MediaRouter,OptimizationHints,Translate,WebUSB",
)
# What a page needs least of all to show a list.
_WITHOUT = """
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel", "WebTransport"])
    try { delete window[name]; } catch {}
"""
_LINKS = "document.links.length"
_LOADED = "document.readyState == 'complete'"
_SCROLL = "window.scrollTo(0, document.documentElement.scrollHeight), true"


class Driver:
    """Draws pages, one at a time."""

    def __init__(self, browser: Browser, writer: asyncio.StreamWriter) -> None:
        self._browser = browser
        self._writer = writer
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
        self._number = 0
        self._wanted_at = 0.0

    async def send(self, value: FromWorker) -> None:
        """Send *value* to the daemon."""
        self._writer.write(frame(value))
        await self._writer.drain()

    def answered(self, answer: Answer) -> None:
        """Hand an answer to the request that waits for it."""
        waiting = self._waiting.pop(answer.number, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    async def draw(self, order: Order) -> None:
        """Draw a page in a context of its own, which ends with it; send what came of it, then the end."""
        context = await self._browser.new_context(
            accept_downloads=False,
            service_workers="block",
            user_agent=order.agent,
            viewport=_VIEWPORT,  # type: ignore[arg-type]  # a table like its ViewportSize
            reduced_motion="reduce",
        )
        try:
            await context.add_init_script(_WITHOUT)
            await context.route("**/*", self._route)
            await context.route_web_socket("**/*", _close)
            page = await context.new_page()
            context.on("page", lambda other: _spawn(other.close()) if other is not page else None)
            page.on("dialog", lambda dialog: _spawn(dialog.dismiss()))
            await self.send(await self._draw(page, order))
        finally:
            self._waiting.clear()
        # As long as it likes: the daemon ends a browser that does not forget its page soon.
        await context.close()
        await self.send(Closed())

    async def _draw(self, page: Page, order: Order) -> Drawn:
        loop = asyncio.get_running_loop()
        end = loop.time() + order.seconds
        try:
            await page.goto(order.url, wait_until="commit", timeout=order.seconds * 1000)
        except Error as error:
            return Drawn(problem=error.message.partition("\n")[0], too_slow=loop.time() >= end)
        links = await self._still(page, loop.time() + order.seconds * _DRAWING_SHARE)
        for _ in range(MOST_SCROLLS if links else 0):
            if loop.time() >= end or not await _ask(page, _SCROLL, end - loop.time()):
                break
            before, links = links, await self._still(page, end)
            if links <= before:
                break
        try:
            html = await asyncio.wait_for(page.content(), order.handing_seconds)
        except TimeoutError:
            return Drawn(problem="its scripts do not end", too_slow=True)
        except Error as error:
            return Drawn(problem=error.message.partition("\n")[0])
        return Drawn(html=html.encode("utf-8", "replace"))

    async def _still(self, page: Page, end: float) -> int:
        """Wait until the page rests, at most until *end*; return how many links it shows."""
        loop = asyncio.get_running_loop()
        links, since = 0, loop.time()
        while (now := loop.time()) < end:
            await asyncio.sleep(_TICK_SECONDS)
            shown = await _ask(page, _LINKS, end - now)
            if shown is None:
                break
            # A page may say anything.
            shown = shown if isinstance(shown, int) else 0
            if shown != links:
                links, since = shown, loop.time()
            quiet = loop.time() - max(since, self._wanted_at)
            if (
                not self._waiting
                and quiet >= _STILL_SECONDS
                and await _ask(page, _LOADED, end - now)
            ):
                break
        return links

    async def _route(self, route: Route) -> None:
        """Have a request of the page answered by the daemon."""
        request = route.request
        self._number += 1
        number = self._number
        waiting: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[number] = waiting
        try:
            await self.send(
                Wanted(
                    number=number,
                    url=request.url,
                    kind=request.resource_type,
                    method=request.method,
                    main=_is_main(request),
                    accept=request.headers.get("accept", "")[:500],
                )
            )
            answer = await waiting
            self._wanted_at = asyncio.get_running_loop().time()
            if not answer.code:
                await route.abort("blockedbyclient")
            else:
                await route.fulfill(
                    status=answer.code, headers=dict(answer.headers), body=answer.body
                )
        except (Error, asyncio.CancelledError):
            return  # the page was closed meanwhile
        finally:
            self._waiting.pop(number, None)


def _is_main(request: Any) -> bool:  # noqa: ANN401 - playwright's request
    try:
        return request.frame.parent_frame is None
    except Error:
        return False  # of a worker


async def _ask(page: Page, script: str, seconds: float) -> Any:  # noqa: ANN401 - a value of its
    """Return what a script of ours says; None = the page's do not let us ask, False = it cannot now."""
    try:
        return await asyncio.wait_for(page.evaluate(script), max(seconds, _TICK_SECONDS))
    except TimeoutError:
        return None
    except Error:
        return False  # it leads to another page


async def _close(socket: WebSocketRoute) -> None:
    await socket.close()


_tasks: set[asyncio.Future[Any]] = set()


def _spawn(work: Any) -> None:  # noqa: ANN401 - a coroutine
    task = asyncio.ensure_future(work)
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


async def _next(reader: asyncio.StreamReader) -> bytes | None:
    try:
        (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
        return await reader.readexactly(length) if length <= MAX_MESSAGE_BYTES else None
    except asyncio.IncompleteReadError:
        return None


async def _serve(executable: str, *, sandbox: bool, given: int, taken: int) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MAX_MESSAGE_BYTES)
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(given, "rb")
    )
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(taken, "wb")
    )
    writer = asyncio.StreamWriter(transport, protocol, reader, loop)
    async with async_playwright() as playwright:
        try:
            browser = await playwright.chromium.launch(
                executable_path=executable,
                args=list(ARGUMENTS),
                chromium_sandbox=sandbox,
                handle_sigint=False,
                handle_sigterm=False,
            )
        except Error as error:
            writer.write(frame(Ready(problem=_why_not(error.message))))
            await writer.drain()
            return
        driver = Driver(browser, writer)
        await driver.send(Ready())
        drawing: asyncio.Task[None] | None = None
        while (content := await _next(reader)) is not None:
            value = to_worker(content)
            if isinstance(value, Answer):
                driver.answered(value)
            else:
                drawing = asyncio.ensure_future(_draw(driver, value))
        # The daemon has gone, or wants no more: nothing of this process stays.
        if drawing is not None:
            drawing.cancel()
        with suppress(Error, TimeoutError):
            await asyncio.wait_for(browser.close(), _ENDING_SECONDS)


def _why_not(message: str) -> str:
    """Return in one line why the browser did not start."""
    if "No usable sandbox" in message:
        return (
            "this system allows Chromium no sandbox; allow user namespaces, or set [browser] "
            "sandbox = false"
        )
    return message.partition("\n")[0][:200]


async def _draw(driver: Driver, order: Order) -> None:
    try:
        await driver.draw(order)
    except Error as error:
        # Without the end that follows, this browser is replaced.
        await driver.send(Drawn(problem=error.message.partition("\n")[0]))


def main() -> None:
    """Serve until the input ends. Arguments: the executable, ``sandbox`` or not, a folder of its own."""
    executable, sandbox, folder = sys.argv[1], sys.argv[2] == "sandbox", sys.argv[3]
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    # A library that prints must not speak in our place.
    given, taken = os.dup(0), os.dup(1)
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    with suppress(BrokenPipeError, ConnectionResetError):
        asyncio.run(_serve(executable, sandbox=sandbox, given=given, taken=taken))
    # If the daemon was killed, nobody else will.
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()

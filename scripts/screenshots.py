#!/usr/bin/env python3
"""Make the pictures of the web page in docs/images, from a real run on the demonstration's site.

    scripts/screenshots.py                   docs/images/web-*.png
    scripts/screenshots.py --to FOLDER       elsewhere

The daemon watches the small news site of the demonstration until enough is new; then headless
Chromium (the system's own, or the one that Playwright has installed) shows every page, light and
dark, at the width of a desk and of a phone, in English and in Chinese.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from demo import published
from lab.cli import parser_of
from lab.clocks import FastClock
from lab.daemon_process import (
    DaemonProcess,
    Sections,
    complete,
    free_port,
    on_fast_clock,
    wait_until,
)
from lab.message_receiver import MessageReceiver
from playwright.sync_api import Browser, sync_playwright

from incremental.topics.editing import begin
from store import Store, open_store
from store.answers import NewQuery
from store.database.home import DATABASE

ROOT = Path(__file__).parents[1]
SPEED = 240.0
# New pages before the first picture.
ENOUGH = 14
MOST_SECONDS = 240.0
PAGES = {
    "new": "",
    "sites": "sites",
    "site": "sites/1",
    "topics": "topics",
    "topic": "topics/1",
    "discovery": "topics/1/discovery",
    "messages": "messages",
    "status": "status",
    "add": "add",
    "feeds": "feeds",
}
# Pages that are shown to their end.
WHOLE = {"site", "topic", "messages", "status"}


@contextmanager
def watched() -> Iterator[tuple[str, Store, FastClock]]:
    """Watch the demonstration's site until enough is new; give the address of the web page."""
    clock, port = FastClock(SPEED), free_port()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hubwatch-shots-")))
        hook = stack.enter_context(MessageReceiver())
        channel = {"name": "digest", "url": hook.url, "daily_at": "08:00"}
        sections: Sections = {"[messages.channel]": channel, "web": {"port": port}}
        url = stack.enter_context(published(clock, folder, sections))
        daemon = stack.enter_context(DaemonProcess(folder, port=port, code=on_fast_clock(clock)))
        database = str(folder / "hubwatch-data" / DATABASE)
        if complete(folder, "add", url):
            raise RuntimeError("the site was not added")
        store = stack.enter_context(open_store(database, cache_folder=folder / "pages"))
        begin(store, "Bridges", examples=[], keywords=["bridge", "lighthouse"], now=clock.now())
        daemon.start()
        enough = wait_until(
            lambda: store.answers.counts()[0].announced >= ENOUGH, MOST_SECONDS, every=0.5
        )
        if not enough:
            raise RuntimeError(f"too little is new: {daemon.errors()[-800:]}")
        yield f"http://127.0.0.1:{port}/", store, clock


def mark_some(store: Store, now: float) -> int:
    """Read and star a few pages, as a user would; return the number of one."""
    rows = store.answers.new(NewQuery()).rows
    store.answers.mark([row.page_id for row in rows[5:]], now=now, read=True)
    store.answers.mark([row.page_id for row in rows[2:4]], now=now, starred=True)
    return rows[2].page_id


def shoot(browser: Browser, url: str, page_id: int, to: Path) -> list[Path]:
    """Make every picture; return the files."""
    made: list[Path] = []
    pages = {**PAGES, "page": f"pages/{page_id}"}

    def take(name: str, path: str, **context: Any) -> None:  # noqa: ANN401 - Playwright's own
        tab = browser.new_context(**{"locale": "en-GB", **context})
        page = tab.new_page()
        page.goto(url + path)
        file = to / f"web-{name}.png"
        page.screenshot(path=file, full_page=name in WHOLE or name == "page")
        made.append(file)
        tab.close()

    desk = {"width": 1180, "height": 760}
    phone = {"width": 390, "height": 780}
    for name, path in pages.items():
        take(name, path, viewport=desk)
    take("new-dark", "", viewport=desk, color_scheme="dark")
    take("status-dark", "status", viewport=desk, color_scheme="dark")
    take("new-phone", "", viewport=phone)
    take("sites-phone", "sites", viewport=phone, color_scheme="dark")
    take("new-zh", "", viewport=desk, locale="zh-CN")
    return made


def main() -> int:
    """Run from the command line; exit 0."""
    parser = parser_of(__doc__, with_json=False)
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "images", metavar="FOLDER")
    arguments = parser.parse_args()
    arguments.to.mkdir(parents=True, exist_ok=True)
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with watched() as (url, store, clock), sync_playwright() as playwright:
        page_id = mark_some(store, clock.now())
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=options)
        for file in shoot(browser, url, page_id, arguments.to):
            print(file)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())

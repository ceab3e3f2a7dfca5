"""A tab of headless Chromium, and the reading list in it.

Chromium is the system's own (Debian: ``apt-get install chromium``), or the one that Playwright has
installed; where there is neither, the tests that ask for it are skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from web_served import Served

from incremental.settings.sections import BrowserSettings
from incremental.visit.rendering.browser import find_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PATIENCE_MS = 90_000
"""For what the daemon has to find first, on a busy machine."""


@pytest.fixture(scope="module")  # not longer: its event loop runs until it ends
def browser() -> Iterator[Browser]:
    pytest.importorskip("playwright", reason="playwright is not installed")
    from playwright.sync_api import sync_playwright

    executable = find_browser(BrowserSettings()).executable
    if not executable:
        pytest.skip("no Chromium is installed")
    # A sandbox of its own needs rights that root in a container does not have.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=executable, args=arguments)
        yield opened
        opened.close()


@dataclass
class Tab:
    """A page of the browser, and what it complained of."""

    page: Page
    complaints: list[str]


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    context = browser.new_context(viewport={"width": 1200, "height": 800}, locale="en-GB")
    page, complaints = context.new_page(), list[str]()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.set_default_timeout(PATIENCE_MS)
    yield Tab(page, complaints)
    context.close()
    assert complaints == [], "\n".join(complaints)


@pytest.fixture
def shown(served: Served, tab: Tab) -> Iterator[Page]:
    """The reading list of a store that was watched for three days."""
    from incremental.interfaces.web.server import served as serving

    with serving(served.with_settings(port=0).web) as url:
        tab.page.goto(url)
        yield tab.page
        # What the page asks for by itself would miss the server.
        tab.page.goto("about:blank")

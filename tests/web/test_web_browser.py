"""The whole story in a real browser: a daemon, a site on loopback, headless Chromium."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import feedparser
import msgspec
import pytest
from browser_tab import PATIENCE_MS, Tab
from fake_web import page as html_page
from local_site import LocalSite
from watching import change
from web_served import HOME, Served

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import Browser, Page, Route, expect

from incremental.features.messages.settings import ChannelSettings, MessagesSettings
from incremental.interfaces.web.server import served as serving

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from incremental.interfaces.cli import main; main()", "run"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
CONFIG = """
[fetch]
allowed_networks = ["127.0.0.0/8"]
[revisit]
requests_per_day = 100000
min_interval_minutes = 0.02
max_interval_hours = 0.001
[web]
port = 0
"""
STORY = "/stories/a-bridge-opens-after-all.html"


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[str]:
    """Run the daemon on nothing yet; give the address of its page."""
    (tmp_path / "hubwatch.toml").write_text(CONFIG)
    process = subprocess.Popen(
        COMMAND, cwd=tmp_path, env=ENVIRONMENT, text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    found = (re.search(r"(http://127.0.0.1:\d+/)", line) for line in process.stderr)
    yield next(match[1] for match in found if match)
    process.terminate()
    process.communicate()


def test_from_nothing_to_the_first_new_page_without_reloading(daemon: str, tab: Tab) -> None:
    """Add a site, see its hubs found, see a page come by itself, mark it, see it in the feed."""
    old = [f"/stories/a-story-with-a-long-name-{n}.html" for n in range(4)]
    page = tab.page
    with LocalSite(
        {"/": html_page(*old), **{o: html_page(text="Old. " * 90) for o in old}}
    ) as site:
        page.goto(daemon)
        page.get_by_role("main").get_by_role("link", name="Add sites").click()
        page.get_by_label("Addresses, one per line").fill(site.url)
        page.get_by_role("button", name="Watch").click()
        expect(page.get_by_text("4 links")).to_be_visible(timeout=PATIENCE_MS)
        page.get_by_role("link", name="New", exact=True).click()
        expect(page.get_by_text("Nothing new yet")).to_be_visible()

        site.pages[STORY] = html_page(title="A bridge opens after all", text="At last. " * 90)
        site.pages["/"] = html_page(STORY + "|A bridge opens", *old)
        item = page.locator(".item", has_text="A bridge opens after all")
        expect(item).to_be_visible(timeout=PATIENCE_MS)
        expect(page.get_by_text("Nothing new yet")).to_be_hidden()

        item.get_by_role("button", name="Star").click()
        expect(item.get_by_role("button", name="Remove star")).to_be_visible()
        feed = feedparser.parse(page.request.get(f"{daemon}feeds/new.atom").body())
        assert [entry.link for entry in feed.entries] == [site.url + STORY]


def test_the_keyboard_is_enough(shown: Page) -> None:
    expect(shown.locator(".item")).to_have_count(4)
    shown.keyboard.press("j")
    shown.keyboard.press("j")
    second = shown.locator(".item").nth(1)
    expect(second).to_be_focused()
    shown.keyboard.press("s")
    expect(second.locator('[data-key="star"]')).to_have_attribute("aria-pressed", "true")
    expect(second).to_be_focused()
    shown.keyboard.press("r")
    expect(second).not_to_have_class(re.compile("unread"))
    shown.keyboard.press("k")
    expect(shown.locator(".item").first).to_be_focused()
    shown.keyboard.press("/")
    expect(shown.get_by_role("searchbox")).to_be_focused()


def test_one_page_after_the_other_is_read_beside_the_list(shown: Page) -> None:
    """Enter opens the pane, j and k go on, v opens the original, Esc returns to the row."""
    pane, rows = shown.get_by_role("complementary", name="Page text"), shown.locator(".item")
    last = rows.filter(has_text="The bridge")
    last.focus()
    shown.keyboard.press("Enter")
    expect(pane.locator("p").last).to_contain_text("The bridge is open again.")
    expect(pane).to_be_focused()
    expect(last).not_to_have_class(re.compile("unread"))
    shown.keyboard.press("k")
    expect(pane.get_by_role("heading")).not_to_have_text("The bridge")
    expect(last).not_to_have_class(re.compile("shown"))
    shown.keyboard.press("j")
    shown.keyboard.press("s")
    star = pane.get_by_role("button", name="Remove star")
    expect(star).to_have_attribute("aria-pressed", "true")
    with shown.expect_popup() as opened:
        shown.keyboard.press("v")
    opened.value.close()
    shown.keyboard.press("Escape")
    expect(pane).to_be_hidden()
    expect(last).to_be_focused()


def test_on_a_phone_the_text_covers_the_list_and_going_back_uncovers_it(shown: Page) -> None:
    shown.set_viewport_size({"width": 390, "height": 780})
    shown.locator(".item .snippet", has_text="The bridge").click()
    pane = shown.locator("#reader")
    expect(pane).to_be_visible()
    assert pane.bounding_box() == {"x": 0, "y": 0, "width": 390, "height": 780}
    shown.go_back()
    expect(pane).to_be_hidden()
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_phone_shows_the_tab_of_its_page(shown: Page) -> None:
    shown.set_viewport_size({"width": 320, "height": 700})
    shown.goto(shown.url + "status")
    tab = shown.locator(".tabs [aria-current]").bounding_box()
    assert tab is not None
    assert tab["x"] >= 0
    assert tab["x"] + tab["width"] <= 320
    # Otherwise this would show nothing.
    assert shown.evaluate("document.querySelector('.tabs').scrollLeft") > 0


def test_without_javascript_a_title_leads_to_the_text(served: Served, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    with serving(served.with_settings(port=0).web) as url:
        page.goto(url)
        item = page.locator(".item", has_text="The bridge")
        item.get_by_role("button", name="Star").click()
        page.get_by_role("button", name="Undo").click()
        expect(item.get_by_role("button", name="Star")).to_be_visible()
        item.locator("a.title").click()
        expect(page.locator("#text")).to_contain_text("The bridge is open again.")
    context.close()


def test_what_a_key_did_is_undone_by_another(shown: Page) -> None:
    item, toast = shown.locator(".item").first, shown.get_by_role("status").last
    star, is_read = item.locator('[data-key="star"]'), item.locator('[data-key="read"]')
    item.focus()
    for key, pressed in (("s", star), ("r", is_read)):
        shown.keyboard.press(key)
        expect(pressed).to_have_attribute("aria-pressed", "true")
    expect(toast).to_contain_text("Marked as read")
    shown.keyboard.press("z")
    expect(is_read).to_have_attribute("aria-pressed", "false")
    expect(toast).to_contain_text("Undone")
    shown.keyboard.press("z")
    expect(star).to_have_attribute("aria-pressed", "false")
    shown.get_by_role("button", name="Mark these as read").click()
    toast.get_by_role("button", name="Undo").click()
    expect(shown.locator(".item.unread")).to_have_count(4)


def test_opening_a_page_marks_it_without_a_word(shown: Page) -> None:
    item = shown.locator(".item", has_text="The bridge")
    item.locator("a.title").click()
    expect(item).not_to_have_class(re.compile("unread"))
    expect(shown.locator("#toast")).to_be_hidden()
    expect(shown.locator("#reader p", has_text=re.compile("^The bridge$"))).to_have_count(0)


def test_the_theme_is_switched_and_stays(shown: Page) -> None:
    light = shown.evaluate("getComputedStyle(document.body).backgroundColor")
    for name, after in (("same as system", "light"), ("light", "dark")):
        shown.get_by_role("button", name=f"Theme: {name}").click()
        expect(shown.get_by_role("button", name=f"Theme: {after}")).to_be_visible()
    expect(shown.locator("body")).not_to_have_css("background-color", light)
    shown.reload()
    expect(shown.locator("body")).not_to_have_css("background-color", light)


def test_the_list_is_grouped_by_site_or_by_day(shown: Page) -> None:
    headings = shown.locator(".group")
    expect(headings).to_have_count(1)
    shown.get_by_label("Group by").select_option("site")
    expect(headings).to_have_text(["news.example", "other.example"])
    shown.goto(shown.url.partition("?")[0])
    expect(headings).to_have_count(2)


def test_a_changed_page_is_compared(shown: Page) -> None:
    item = shown.locator(".item", has_text="The bridge")
    item.locator("a.title").click()
    shown.get_by_role("link", name="Page details").click()
    shown.get_by_role("link", name="Show what changed").click()
    expect(shown.locator(".diff ins").first).to_contain_text("again")
    expect(shown.locator(".diff del").first).to_contain_text("closed")


def test_the_language_is_switched_and_stays(shown: Page) -> None:
    shown.get_by_role("button", name="中文").click()
    expect(shown.get_by_role("heading", level=1)).to_have_text("新页面")
    shown.get_by_role("link", name="站点", exact=True).click()
    expect(shown.get_by_role("heading", level=1)).to_have_text("站点与枢纽页")
    shown.get_by_role("button", name="English").click()
    expect(shown.get_by_role("heading", level=1)).to_have_text("Sites and hubs")


def test_relevance_is_trained_with_one_click(shown: Page) -> None:
    shown.get_by_role("link", name="Topics").click()
    shown.get_by_label("Name").fill("Bridges")
    shown.get_by_label("Keywords").fill("bridge")
    shown.get_by_role("button", name="Add topic").click()
    shown.get_by_role("link", name="New", exact=True).click()
    item = shown.locator(".item", has_text="The bridge")
    item.get_by_role("button", name="Relevant to Bridges", exact=True).click()
    pressed = item.locator('[data-key="relevant"]')
    expect(pressed).to_have_attribute("aria-pressed", "true")
    # It learns twice for that, after the click was answered.
    expect(shown.locator("#toast")).to_contain_text("pages it now shows", timeout=PATIENCE_MS)


def test_a_site_is_edited_and_several_hubs_are_chosen_while_the_table_refreshes(
    shown: Page,
) -> None:
    shown.goto(shown.url + "sites/1")
    shown.get_by_text("Edit this site").click()
    shown.get_by_label("Name").fill("The news")
    shown.get_by_label("Requests per day").fill("7")
    shown.get_by_role("button", name="Save").click()
    expect(shown.get_by_role("heading", level=1)).to_contain_text("The news")
    boxes = shown.locator("#hubs input[type=checkbox]")
    expect(boxes.first).to_be_visible()
    shown.evaluate(
        """document.addEventListener("htmx:afterOnLoad", event => {
          if (event.target.id === "hubs") document.body.dataset.refreshed = "yes";
        })"""
    )

    def chosen_while_the_answer_is_on_its_way(route: Route) -> None:
        answer = route.fetch()
        boxes.first.check()
        route.fulfill(response=answer)

    shown.route(re.compile("/sites/1/hubs$"), chosen_while_the_answer_is_on_its_way, times=1)
    expect(shown.locator("body[data-refreshed]")).to_be_attached(timeout=10_000)
    expect(boxes.first).to_be_checked()
    shown.get_by_role("button", name="Visit now").last.click()
    expect(shown.get_by_text("1 page will be visited")).to_be_visible()


def test_a_channel_is_tried_without_leaving_the_page(served: Served, tab: Tab) -> None:
    pytest.importorskip("apprise", reason="the extra `notify` is not installed")
    channel = ChannelSettings("hook", "json://127.0.0.1:9/secret")
    settings = msgspec.structs.replace(
        served.web.settings, further=(MessagesSettings(channel=(channel,)),)
    )
    served.web = replace(served.web, settings=settings)
    with serving(served.with_settings(port=0).web) as url:
        tab.page.goto(url + "messages")
        tab.page.get_by_role("button", name="Send a test").click()
        expect(tab.page.get_by_text("The test failed:")).to_contain_text("not public")
        assert tab.page.url == url + "messages"


@pytest.mark.parametrize(
    "path",
    ["", "sites", "sites/1", "status", "topics", "messages", "add", "feeds", "changes"],
)
def test_nothing_sticks_out_on_a_phone(shown: Page, path: str) -> None:
    """And the tabs stand where a thumb reaches them, the last one after a swipe."""
    shown.set_viewport_size({"width": 360, "height": 740})
    shown.goto(shown.url + path)
    wide = shown.evaluate("document.documentElement.scrollWidth")
    assert wide <= 360
    tabs = shown.get_by_role("navigation", name="Main").get_by_role("link")
    for tab in (tabs.last, tabs.first):
        tab.scroll_into_view_if_needed()
        box = tab.bounding_box()
        assert box is not None
        assert box["y"] > 600
        assert 0 <= box["x"] <= 360 - box["width"]


@pytest.mark.parametrize("width", [768, 961, 1024, 1440, 1561])
def test_the_menu_fits_between_name_and_tools(shown: Page, width: int) -> None:
    shown.set_viewport_size({"width": width, "height": 700})
    for path in ("", "messages"):
        shown.goto(shown.url + path)
        assert shown.evaluate(
            """() => {
              const menu = document.querySelector(".tabs");
              return menu.scrollWidth <= menu.clientWidth;
            }"""
        )


def test_no_cell_of_a_table_is_left_out_on_a_phone(shown: Page) -> None:
    shown.set_viewport_size({"width": 360, "height": 740})
    shown.goto(shown.url + "sites/1")
    cells = shown.locator("td.wide")
    expect(cells.first).to_be_visible()
    assert all(cell.is_visible() for cell in cells.all())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(shown: Page, scheme: str) -> None:
    """WCAG 2.1, 1.4.3: at least 4.5 to 1."""
    shown.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    shown.reload()
    names = [("--ink", "--bg"), ("--soft", "--card"), ("--accent", "--card"), ("--bad", "--bad-soft"),
             ("--good", "--good-soft"), ("--warn", "--warn-soft"), ("--accent-ink", "--accent"),
             ("--accent", "--accent-soft"), ("--soft", "--hover")]  # fmt: skip
    read = "name => getComputedStyle(document.documentElement).getPropertyValue(name).trim()"
    for ink, paper in names:
        ratio = contrast(shown.evaluate(read, ink), shown.evaluate(read, paper))
        assert ratio >= 4.5, (scheme, ink, paper, ratio)


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours written as #rrggbb."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])


def test_every_control_has_a_name(shown: Page) -> None:
    for path in ("", "sites", "sites/1", "add", "topics", "messages", "changes"):
        shown.goto(re.sub(r"(//[^/]+/).*", rf"\1{path}", shown.url))
        nameless = shown.evaluate(
            "Array.from(document.querySelectorAll('button, a, input:not([type=hidden]), select, textarea'))"
            ".filter(e => !(e.textContent.trim() || e.getAttribute('aria-label') || e.title ||"
            " (e.labels && e.labels.length))).map(e => e.outerHTML.slice(0, 120))"
        )
        assert nameless == [], path


def test_a_search_finds_words_in_the_text(shown: Page) -> None:
    shown.get_by_role("searchbox").fill("招标文件")
    shown.keyboard.press("Enter")
    expect(shown.locator(".item")).to_have_count(1)
    expect(shown.locator(".item a.title")).to_have_text("桥梁招标公告")
    assert HOME not in shown.locator("#news").inner_text()


def test_a_tag_that_is_given_to_a_site_filters_the_list(shown: Page) -> None:
    start = shown.url
    shown.goto(start + "sites/2")
    shown.get_by_text("Edit this site").click()
    shown.get_by_label("Tags").fill("桥梁, press")
    shown.get_by_role("button", name="Save").click()
    expect(shown.get_by_role("link", name="桥梁")).to_be_visible()
    shown.goto(start)
    expect(shown.locator(".item")).to_have_count(4)
    shown.get_by_label("Tag", exact=True).select_option("桥梁")
    expect(shown.locator(".item")).to_have_count(1)


def test_a_channel_is_added_and_removed_in_the_page(shown: Page) -> None:
    pytest.importorskip("apprise", reason="the extra `notify` is not installed")
    shown.goto(shown.url + "messages")
    shown.get_by_label("Name").fill("hook")
    shown.get_by_label("Address (Apprise)").fill("json://hooks.example/secret-key")
    shown.get_by_label("Only pages with one of these words").fill("bridge, 桥梁")
    shown.get_by_role("button", name="Add or change a channel").click()
    expect(shown.get_by_role("heading", name="hook")).to_be_visible()
    assert "secret-key" not in shown.content()
    shown.on("dialog", lambda dialog: dialog.accept())
    shown.get_by_role("button", name="Remove").click()
    expect(shown.get_by_text("No channel yet")).to_be_visible()


def test_a_page_is_watched_for_changes_and_its_difference_is_read(
    served: Served, shown: Page
) -> None:
    shown.get_by_role("link", name="Changes").click()
    shown.get_by_label("Address").fill(HOME + "new-1.html")
    shown.get_by_label("Check every").fill("6h")
    shown.get_by_role("button", name="Watch a page").click()
    row = shown.get_by_role("row", name=re.compile("new-1"))
    expect(row).to_contain_text("active")
    (found,) = served.store.read.find_page(HOME + "new-1.html", "")
    change(served.store, found["id"], at=served.clock.now())
    shown.reload()
    expect(shown.locator(".diff del").first).to_contain_text("12 euros")
    expect(shown.locator(".diff ins").first).to_contain_text("14 euros")
    row.get_by_role("button", name="Check now").click()
    expect(shown.get_by_text("will be checked")).to_be_visible()
    shown.on("dialog", lambda dialog: dialog.accept())
    row.get_by_role("button", name="Stop watching").click()
    expect(shown.get_by_text("No page is watched for changes yet.")).to_be_visible()
    expect(shown.locator(".diff ins").first).to_contain_text("14 euros")

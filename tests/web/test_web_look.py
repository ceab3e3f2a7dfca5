"""How the pages look in a real browser: dense, readable, accessible, in both languages."""

import math
import re
import zlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from browser_tab import Tab
from hypothesis import given
from hypothesis import strategies as st
from stories import seen
from watching import change, watched
from web_served import HOME, Served

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import Page, expect

from incremental.base.texts import Text, Words
from incremental.base.urls import canonical_key
from incremental.interfaces.explain.page import budget_and_visit, planned
from incremental.interfaces.results.status import hub_results
from incremental.interfaces.web.routes.sites import LEAST_COUNTED, hour_rates
from incremental.interfaces.web.server import served as serving
from incremental.interfaces.web.views import View
from incremental.schedule.state import SiteState
from incremental.settings.sections import SendTo
from incremental.topics.editing import begin
from store.answers import NewQuery
from store.answers.announced import moment_of
from store.answers.excerpts import LEAD_BYTES, lead
from store.values import TopicScore, VisitRecord

PATHS = ("", "sites", "sites/1", "topics", "topics/1", "topics/1/discovery", "messages",
         "status", "add", "feeds", "changes", "changes?watch=1", "pages/2",
         "check?url=https://news.example/")  # fmt: skip
DESK: Any = {"width": 1200, "height": 800}
PHONE: Any = {"width": 390, "height": 780}
VARIANTS = [
    pytest.param(scheme, size, language, id=f"{scheme}-{size['width']}-{language}")
    for scheme, size, language in (("light", DESK, "en"), ("dark", PHONE, "zh"))
]


def violations(axe: Any, tab: Page, scheme: str) -> list[tuple[str, str]]:
    """Look at a page in one scheme, and at its contrast, which alone depends on that, in the other."""
    # As in Lighthouse; axe alone leaves this rule out.
    rules = {"rules": {"target-size": {"enabled": True}}}
    wrong = axe.run(tab, options=rules).response["violations"]
    tab.emulate_media(color_scheme="dark" if scheme == "light" else "light")
    contrast = {"runOnly": ["color-contrast"], "resultTypes": ["violations"]}
    wrong += axe.run(tab, options=contrast).response["violations"]
    tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # one of the two
    return [(one["id"], one["nodes"][0]["html"][:200]) for one in wrong]


@pytest.mark.parametrize(("scheme", "size", "language"), VARIANTS)
def test_axe_finds_nothing_on_any_page(
    served: Served, browser: Any, scheme: str, size: dict[str, int], language: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    begin(served.store, "Bridges", examples=[], keywords=["bridge"], now=served.clock.now())
    change(served.store, watched(served.store, HOME + "new-1.html"), at=served.clock.now())
    channel = '{"name": "mail", "url": "mailto://example.org"}'
    served.store.outbox.put_channel("mail", channel, now=served.clock.now())
    context = browser.new_context(viewport=size, color_scheme=scheme, locale=language)
    tab = context.new_page()
    later = SendTo("Later", "https://later.example/?{url}")
    with serving(served.with_settings(port=0, send_to=(later,)).web) as url:
        found = {}
        for path in PATHS:
            tab.goto(url + path)
            found[path] = violations(axe, tab, scheme)
        tab.goto(url)
        tab.locator("a.title").last.click()
        tab.locator("#reader h2").wait_for()
        found["pane"] = violations(axe, tab, scheme)
        tab.locator("#reader .send summary").click()
        found["menu"] = violations(axe, tab, scheme)
        tab.goto(f"{url}topics/1")
        tab.locator("summary").first.click()
        tab.locator("button[formaction]").click()
        tab.locator("#preview p").wait_for()
        found["preview"] = violations(axe, tab, scheme)
    context.close()
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


def announce(served: Served, *names: str) -> None:
    """Let the first site's hub show further new pages."""
    store = served.store
    hub = next(hub for hub in store.read.hubs(1) if hub.url == HOME)
    links = tuple(seen(f"{HOME}more/{name}", anchor=name, fate="announce") for name in names)
    at = served.clock.now()
    store.write.visit(VisitRecord(1, hub.page_id, at, "fetched", links=links, keep_missing=True))


def test_twenty_pages_fit_on_a_screen(served: Served, tab: Tab) -> None:
    names = (
        f"A rather long headline about the bridge over the river, number {n}" for n in range(30)
    )
    announce(served, *names)
    tab.page.set_viewport_size(DESK)
    with serving(served.with_settings(port=0).web) as url:
        tab.page.goto(url)
        boxes = [item.bounding_box() for item in tab.page.locator(".item").all()]
        whole = [
            box for box in boxes if box is not None and box["y"] + box["height"] <= DESK["height"]
        ]
        assert len(whole) >= 20


def test_a_row_begins_to_tell_what_the_page_says_and_how_old_it_is(shown: Page) -> None:
    item = shown.locator(".item", has_text="The bridge")
    expect(item.locator(".snippet")).to_contain_text("The bridge is open again.")
    expect(item.locator("time")).to_contain_text("ago")


def test_a_badge_is_shown_where_a_topic_has_something_to_say(served: Served, shown: Page) -> None:
    """No number on each row: it stands in the list of one topic, and in the badge's title."""
    begin(served.store, "Bridges", examples=[], keywords=["bridge"], now=served.clock.now())
    rows = served.store.answers.new(NewQuery()).rows
    topic = served.store.topics.topics()[0].id
    for row, verdict in zip(rows, ("relevant", "irrelevant", "doubtful"), strict=False):
        score = TopicScore(canonical_key(row.url), topic, 0.7, verdict, True, "fused", "1")
        served.store.topics.put_scores(row.site_id, [score], now=served.clock.now())
    shown.reload()
    pills = shown.locator(".item .pill")
    assert sorted(pills.all_inner_texts()) == ["Bridges", "Bridges"]
    shown.goto(f"{shown.url}?topic={topic}")
    assert "Bridges 0.70" in shown.locator(".item .pill").all_inner_texts()


def test_a_question_mark_lists_the_keys(shown: Page) -> None:
    shown.keyboard.press("?")
    keys = shown.get_by_role("dialog", name="Keyboard shortcuts")
    expect(keys.get_by_text("Mark as read or unread")).to_be_visible()
    shown.keyboard.press("s")  # what is behind it does not act
    assert shown.locator('[data-key="star"][aria-pressed="true"]').count() == 0
    shown.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    shown.get_by_role("button", name="Keyboard shortcuts").click()
    expect(keys).to_be_visible()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_button_wraps(served: Served, browser: Any, language: str) -> None:
    context = browser.new_context(viewport={"width": 900, "height": 800}, locale=language)
    tab = context.new_page()
    tall = (
        "Array.from(document.querySelectorAll('button, .button')).filter(b => b.offsetHeight > 50)"
    )
    with serving(served.with_settings(port=0).web) as url:
        for path in PATHS:
            tab.goto(url + path)
            assert tab.evaluate(f"{tall}.map(b => b.textContent)") == [], path
    context.close()


def on_a_phone(served: Served, browser: Any, paths: Iterable[str], script: str) -> dict[str, Any]:
    """What *script* finds on each page of a phone's width, with everything unfolded."""
    context = browser.new_context(viewport=PHONE)
    tab = context.new_page()
    found = {}
    with serving(served.with_settings(port=0).web) as url:
        for path in paths:
            tab.goto(url + path)
            tab.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            found[path] = tab.evaluate(script)
    context.close()
    return found


def test_a_table_that_goes_on_has_a_shadow_at_its_edge_on_a_phone(
    served: Served, browser: Any
) -> None:
    """The covers of the shadows scroll with the table, so that the last column has none."""
    found = on_a_phone(
        served,
        browser,
        ("sites/1", "status"),
        """Array.from(document.querySelectorAll('.scroll')).filter(e => e.scrollWidth > e.clientWidth)
        .map(e => getComputedStyle(e).backgroundAttachment)""",
    )
    assert all(found.values())
    assert {one for shown in found.values() for one in shown} == {"local, local, scroll, scroll"}


def test_the_fields_of_a_form_are_evenly_spaced_on_a_phone(served: Served, browser: Any) -> None:
    begin(served.store, "Bridges", examples=[], keywords=["bridge"], now=served.clock.now())
    found = on_a_phone(
        served,
        browser,
        ("add", "topics/1", "changes", "messages", "sites/1"),
        """Array.from(document.querySelectorAll('.field + .field')).map(
        e => Math.round(e.getBoundingClientRect().top
                        - e.previousElementSibling.getBoundingClientRect().bottom))""",
    )
    assert all(found.values())
    assert {gap for gaps in found.values() for gap in gaps} <= {14, 15}


def test_a_chinese_page_has_no_english_unit(served: Served) -> None:
    client = served.client(Accept_Language="zh-CN")
    for path in ("/status", "/sites/1"):
        seen_text = re.sub(r"<[^>]*>", " ", client.get(path).text)
        assert not re.search(r"\d\s*(min|h|d)\b", seen_text), path


def test_the_hours_of_a_site_are_shown_once_they_are_known(served: Served) -> None:
    def told(links: float) -> list[float] | None:
        hours = [0.0] * 168
        hours[9] = links
        state = SiteState(hours=tuple(hours), rate_total=0.5)
        row = replace(served.store.read.sites()[0], revisit=state.to_text())
        return hour_rates(served.web, row)

    assert told(LEAST_COUNTED - 1) is None
    known = told(LEAST_COUNTED)
    assert known is not None
    assert sum(rate > 0 for rate in known) == 1
    assert sum(known) == pytest.approx(0.5 * 24)


@pytest.mark.parametrize(
    ("title", "text", "begins"),
    [
        ("A bridge", "A bridge\nA bridge. It is open.", "It is open."),
        ("", "Words  of\n a page", "Words of a page"),
        ("大桥通车", "大桥通车\n大桥今日通车。", "大桥今日通车。"),
        ("Title", "", ""),
    ],
)
def test_the_beginning_of_a_text_leaves_out_the_title(title: str, text: str, begins: str) -> None:
    assert lead(zlib.compress(text.encode()) if text else None, title) == begins


@given(st.text(max_size=6_000), st.integers(min_value=0))
def test_a_beginning_is_short_and_any_part_of_a_text_is_enough(text: str, cut: int) -> None:
    packed = zlib.compress(text.encode())
    assert len(lead(packed[: max(cut % (len(packed) + 1), 1)], "")) <= 241
    assert lead(packed[:LEAD_BYTES], "") == lead(packed, "")


def test_a_time_that_never_comes_is_a_dash_and_one_within_a_second_is_now() -> None:
    """Jobs of a store without sites wait for ever: their page answered 500."""
    view = View(Words("en"), 1_000.0)
    assert (view.due(math.inf), view.ago(-math.inf)) == ("–", "–")
    assert (view.due(1_000.4), view.due(1_060.0)) == ("now", "in 1 min")


def test_a_visit_that_the_budget_holds_back_is_not_called_now(served: Served) -> None:
    store, now = served.store, served.clock.now()
    store.editing.edit_site(1, now=now, requests_per_day=1.0)
    row = store.read.sites()[0]
    opens = budget_and_visit(served.web.settings, row, now, now=now)["next_due"]
    assert opens > now
    rows = hub_results(store, served.web.settings, [row], now=now)
    late = [one for one in rows if one.due_at == moment_of(opens)]
    assert {one.why for one in late} == {Text("reason.waits_for_budget")}
    assert all(one.due_at is None or one.due_at.timestamp() >= opens - 1e-6 for one in rows)
    assert planned(now - 60, opens, now) == opens
    assert planned(opens + 60, opens, now) == opens + 60
    assert planned(now - 60, now, now) == now - 60
    assert planned(now, math.inf, now) is None

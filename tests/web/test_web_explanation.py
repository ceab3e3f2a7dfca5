"""Explanations for people: plain words in both languages, dates and shares, nothing cut."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from cli_runner import Run
from fake_web import START
from rich.cells import cell_len
from web_served import HOME, OTHER, Served

from incremental.base.texts import Text, Words, hub_why
from incremental.base.times import DAY, HOUR, MINUTE, NEVER
from incremental.base.urls import canonical_key
from incremental.crawl.sites import watch
from incremental.interfaces.cli.explaining import broken
from incremental.interfaces.explain.page import explain, next_visit
from incremental.interfaces.results.schema import when
from incremental.interfaces.results.status import hub_results
from incremental.interfaces.web.explanation import explanation
from incremental.schedule.budget import BudgetState
from incremental.schedule.state import HubState, VisitExplanation
from incremental.topics.editing import begin, give_feedback
from incremental.topics.training.corrections import correct
from store.enums import HubKind, HubRole, HubStatus
from store.models import Page
from store.values import NewHub, SeenLink, TopicScore

URLS = {
    "announced": HOME + "new-0.html",
    "baseline": HOME + "old-1.html",
    "hub": HOME,
    "unseen": HOME + "never.html",
    "outside": "https://elsewhere.example/",
    "trap": HOME + "logo.png",
    "chinese": OTHER + "b.html",
}


def said(served: Served, url: str, language: str) -> dict[str, str]:
    answer = explain(served.store, served.web.settings, url, now=served.clock.now())
    return dict(explanation(answer, Words(language)))


@pytest.fixture
def full(served: Served) -> Served:
    """A topic, a judgement, a label, and a paused site."""
    now = served.clock.now()
    begin(served.store, "Bridges", examples=[], keywords=["bridge"], now=now)
    give_feedback(served.store, "Bridges", [URLS["announced"]], relevant=True, now=now)
    correct(served.store, URLS["announced"], "article", now=now)
    served.client().patch("/api/v1/sites/2", json={"state": "paused"})
    return served


@pytest.mark.parametrize("url", URLS.values(), ids=URLS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_nothing_reads_like_a_program(full: Served, url: str, language: str) -> None:
    lines = said(full, url, language)
    for text in [*lines, *lines.values()]:
        bare = re.sub(r"https?://[^\s，。、（）]+", "", text)
        assert not re.search(r"True|False|None|\d{9,}|[\[\]{}]|\w_\w|\.0\b", bare), text


@pytest.mark.parametrize("url", URLS.values(), ids=URLS)
def test_a_chinese_explanation_has_no_english_sentence(full: Served, url: str) -> None:
    for text in said(full, url, "zh").values():
        bare = re.sub(r"https?://[^\s，。、（）]+", "", text)
        assert not re.search(r"[A-Za-z]{2,} [A-Za-z]{2,}", bare), text


def test_the_story_of_an_announced_page_is_told(full: Served) -> None:
    lines = said(full, URLS["announced"], "en")
    (page,) = full.store.read.find_page(URLS["announced"], "")
    at = when(page["announced_at"])
    assert f"Announced as new on {at}: new link on a hub." in lines["news.example"]
    seen = when(page["first_seen_at"])
    assert f"First seen on {seen}, on {HOME}." in lines["news.example"]
    assert lines["Label"].startswith("you: article (20")
    assert lines["Topic Bridges"].startswith("Relevant, score 1.00 (your mark, 20")
    assert "Your label decided." in lines["Is it a hub?"]


def test_sites_that_a_url_has_nothing_to_do_with_are_summed_up(full: Served) -> None:
    outside = said(full, URLS["outside"], "en")
    assert outside["Sites and hubs"] == "Outside the scope of 2 sites."
    assert "No hub that is watched" not in "".join(outside.values())
    assert "other.example" in said(full, URLS["unseen"], "en")


def test_what_was_never_visited_is_only_taken_for_a_hub(served: Served) -> None:
    """Its size and its rate are not known, so none is shown, whatever similar pages have."""
    store, now, url = served.store, served.clock.now(), HOME + "likely/"
    new = NewHub(HubKind.HTML, HubRole.LIST, 0.9, hub_why("discovered"), now)
    store.write.add_pages(1, [SeenLink(canonical_key(url), url, hub=new)], now=now)
    answer = explain(store, served.web.settings, url, now=now)
    assert answer["verdict"] == "not visited yet; its first visit shows whether it is a hub"
    lines = said(served, url, "en")
    assert "Not visited yet; taken for a hub: " in lines["news.example"]
    assert "bytes" not in lines["Is it a hub?"]
    (row,) = [one for one in store.read.sites() if one.id == 1]
    hubs = {one.url: one for one in hub_results(store, served.web.settings, [row], now=now)}
    assert (hubs[url].candidate, hubs[url].rate_per_day) == (True, None)
    assert (hubs[HOME].candidate, hubs[HOME].rate_is_guess) == (False, False)
    assert hubs[HOME].rate_per_day


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"role": HubRole.PAGE, "due_at": NEVER}, "later page of a list"),
        (
            {"visited_at": START, "due_at": START + 6 * DAY},
            "covered: other hubs show the same pages",
        ),
        ({"visited_at": START, "due_at": START + 3 * HOUR}, "expected new pages justify a request"),
        ({"state": HubStatus.DROPPED, "due_at": NEVER}, "no longer visited"),
    ],
)
def test_a_hub_says_why_it_is_visited_when_it_is(
    served: Served, fields: dict[str, Any], says: str
) -> None:
    hub = served.store.read.hubs(1)[0]
    served.store.write.update_hub(hub.page_id, **fields)
    site = watch(served.store.read.sites()[0], served.web.settings)
    hub, reason = served.store.read.hubs(1)[0], Text("reason.worth_it")
    why = VisitExplanation(1.0, START + 2 * HOUR, reason)
    at, said_reason = next_visit(site, hub, why, now=START + HOUR)
    assert at == (None if hub.due_at >= NEVER else hub.due_at)
    assert says in said_reason


def test_a_hub_never_read_waits_for_the_first_hour_of_its_site(served: Served) -> None:
    """It was said to be visited at a time that had passed."""
    row = served.store.read.sites()[0]
    now = START + 10 * MINUTE
    site = watch(row, served.web.settings)
    site.budget = BudgetState(updated_at=START, started_at=START, used=(0.0,) * 24, granted=1000)
    hub = replace(
        served.store.read.hubs(1)[0], visits=0, visited_at=None, due_at=START, role=HubRole.LIST
    )
    why = site.policy.why(HubState(), site.state, site.budget, now)
    at, reason = next_visit(site, hub, why, now=now)
    assert (at, reason) == (START + HOUR, Text("reason.waits_for_budget"))


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"verify_due_at": START}, "It was not read: not fetched yet; "),
        ({}, "It was not read: it was announced without being fetched, so no topic judged it."),
        ({"verified_at": START}, "It was not read: its fetch ended as: "),
        ({"verified_at": START, "body_md5": "0" * 32}, ""),
        ({"verify_due_at": START, "announced_at": None}, ""),
    ],
)
def test_an_announced_page_that_was_never_read_says_why(
    served: Served, fields: dict[str, Any], says: str
) -> None:
    (page,) = served.store.read.find_page(URLS["announced"], "")
    unread = {"verify_due_at": None, "verified_at": None, "body_md5": None, "title": ""}
    Page.update({**unread, **fields}).where(Page.id == page["id"]).execute(served.store.database)
    told = said(served, URLS["announced"], "en")["news.example"]
    assert says in told
    assert ("It was not read" in told) == bool(says)
    chinese = said(served, URLS["announced"], "zh")["news.example"]
    assert ("未读取" in chinese) == bool(says)
    bare = re.sub(r"https?://[^\s，。、（）]+", "", chinese)
    assert not re.search(r"[A-Za-z]{2,} [A-Za-z]{2,}", bare)


def test_terms_of_a_topic_are_words_of_the_page(full: Served) -> None:
    """They are stored as stems; one that the page's text does not have stays as it is."""
    url = HOME + "new-1.html"
    (page,) = full.store.read.find_page(url, "")
    (topic,) = full.store.topics.topics()
    terms = (("stori", 0.5), ("mainten", 0.2), ("桥梁", 0.1))
    score = TopicScore(page["canonical_key"], topic.id, 0.9, "relevant", True, "fused", "1", terms)
    full.store.topics.put_scores(1, [score], now=full.clock.now())
    assert said(full, url, "en")["Topic Bridges"].endswith("Terms: story, mainten, 桥梁.")
    html = full.client().get(f"/pages/{page['id']}").text
    assert "story +0.50, mainten +0.20, 桥梁 +0.10" in html


def test_a_topic_shows_what_it_learned_before_it_judged_and_after_a_mark(full: Served) -> None:
    (topic,) = full.store.topics.topics()
    model = json.dumps({"terms": [["stori", 0.5], ["桥梁", 0.1]]})
    full.store.topics.put_model(topic.id, model, "1", before=topic.version)
    url = HOME + "new-1.html"
    for mark in (None, True):
        if mark:
            give_feedback(full.store, topic.name, [url], relevant=mark, now=full.clock.now())
        of_topic = full.client().get(f"/topics/{topic.id}").text
        assert ">story</span>" in of_topic
        assert ">桥梁</span>" in of_topic


def test_a_hub_has_its_next_visit_and_a_stranger_none(full: Served) -> None:
    hub = said(full, HOME, "en")["news.example"]
    assert re.search(
        r"It is a hub \(active\): given by you\. It is read as the server sends it\. Last visit: .*\. "
        r"Next visit on 20",
        hub,
    )
    other = said(full, URLS["unseen"], "en")
    assert "No hub that is watched links to it." in other["news.example"]
    assert "The site is paused." in other["other.example"]
    assert said(full, URLS["trap"], "en")["Left out"] == "asset, not a page"


def test_what_is_nearly_certain_is_not_called_certain(full: Served) -> None:
    answer: dict[str, Any] = explain(full.store, full.web.settings, HOME, now=full.clock.now())
    answer["classifier"] |= {"probability": 0.9999, "site_probability": 0.0004}
    line = dict(explanation(answer, Words("en")))["Is it a hub?"]
    assert "says >99%" in line
    assert "the site <1%" in line


def test_the_command_line_cuts_nothing_and_speaks_both_languages(
    hubwatch: Run, found: list[str]
) -> None:
    long = found[0] + "?x=" + "a" * 1_500
    shown = hubwatch("check", long).out
    assert "".join(shown.split()).count("a" * 1_500) >= 1
    assert "…" not in shown
    english, chinese = (
        hubwatch("check", found[0]).out,
        hubwatch("check", found[0], "--language", "zh").out,
    )
    assert "Announced as new on 20" in english
    assert "列为新页面：" in chinese


def test_chinese_fills_its_lines_and_breaks_no_latin_word() -> None:
    """Lines ended before each date, however much room was left."""
    text = "首次发现：2026-11-28 12:49，来源：https://news.example/。" * 5
    *lines, _ = broken(text, 40).splitlines()
    longest = len("https://news.example/。") + 1
    assert all(40 - longest <= cell_len(line) <= 41 for line in lines)
    assert "".join(lines) in text
    assert all(line.rstrip()[-1] not in "-/" and line[0] not in "，。：" for line in lines)


def test_the_page_explains_in_its_language(full: Served) -> None:
    for language, text in (("en", "Announced as new on 20"), ("zh", "列为新页面：")):
        client = full.client(Accept_Language=language)
        assert text in client.get("/check", params={"url": URLS["announced"]}).text
        (page,) = full.store.read.find_page(URLS["announced"], "")
        facts = client.get(f"/pages/{page['id']}").text
        rule = Words(language)("rule.new_link")
        assert f"<dt>{Words(language)('page.because')}</dt><dd>{rule}</dd>" in facts

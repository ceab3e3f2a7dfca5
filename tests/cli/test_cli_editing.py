"""Changing what is watched: ``edit`` and ``visit``."""

from pathlib import Path

import pytest
from cli_runner import Run
from fake_web import FakeWeb, Watch, page
from lab.clocks import SimulatedClock

from incremental.base.clock import SystemClock
from store.enums import HubStatus

SITE = "https://news.example/"


def test_a_site_is_renamed_and_found_by_its_new_name(hubwatch: Run) -> None:
    hubwatch("add", SITE, "other.example")
    assert (
        hubwatch("edit", "news.example", "--name", "The  news", "--json").json["name"] == "The news"
    )
    assert [row["name"] for row in hubwatch("list", "--json").json] == ["The news", "other.example"]
    assert hubwatch("pause", "The news").code == 0


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("other.example", "is the name of another site"),
        ("12", "a number alone is an id"),
        (" ", "1 to 80 characters"),
        ("x" * 81, "1 to 80 characters"),
        ("a\x1b[31mb", "1 to 80 characters"),
    ],
)
def test_a_name_that_cannot_be_used_says_why(hubwatch: Run, name: str, why: str) -> None:
    hubwatch("add", SITE, "other.example")
    done = hubwatch("edit", "1", "--name", name)
    assert (done.code, why in done.err) == (2, True)
    assert hubwatch("list", "--json").json[0]["name"] == "news.example"


def test_terms_are_changed_one_by_one_and_set_back(hubwatch: Run) -> None:
    hubwatch("add", SITE, "--exclude", "*/tag/*")
    done = hubwatch(
        *("edit", "1", "--reach", "domain", "--requests-per-day", "7", "--include", "*/news/*"),
        *("--hours", "22-06:30", "--min-interval-minutes", "30", "--json"),
    ).json
    assert done["exclude"] == ["*/tag/*"]
    assert (done["reach"], done["requests_per_day"], done["include"]) == ("domain", 7, ["*/news/*"])
    assert (done["hours"], done["min_interval_minutes"]) == (["22-06:30"], 30)
    back = hubwatch(
        *("edit", "1", "--requests-per-day", "default", "--include", "", "--hours", "default"),
        "--json",
    ).json
    assert (back["requests_per_day"], back["include"], back["hours"]) == (None, [], None)
    assert back["reach"] == "domain"
    assert "48 (default)" in hubwatch("edit", "1").out


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (("--requests-per-day", "many"), "requests_per_day 'many': must be a number"),
        (("--requests-per-day", "-1"), "requests_per_day -1"),
        (("--min-interval-minutes", "0"), "min_interval_minutes 0.0: must be a number"),
        (("--hours", "25-26"), "hours '25-26'"),
        (("--include", "re:("), "pattern 're:('"),
        (("--min-interval-minutes", "9999"), "must not exceed max_interval_hours, which is 24"),
    ],
)
def test_a_wrong_value_is_named_and_changes_nothing(
    hubwatch: Run, options: tuple[str, ...], field: str
) -> None:
    hubwatch("add", SITE)
    before = hubwatch("edit", "1", "--json").json
    done = hubwatch("edit", "1", "--name", "New", *options)
    assert (done.code, field in done.err) == (2, True), done.err
    assert hubwatch("edit", "1", "--json").json == before


def test_terms_of_the_settings_file_are_changed_there(hubwatch: Run, tmp_path: Path) -> None:
    hubwatch("add", SITE)
    (tmp_path / "hubwatch.toml").write_text(f'[[site]]\nurl = "{SITE}"\nrequests_per_day = 5\n')
    done = hubwatch("edit", "1", "--requests-per-day", "9")
    assert done.code == 2
    assert "is set by [[site]] in the settings file" in done.err
    assert hubwatch("edit", "1", "--name", "News").code == 0


def test_a_visit_of_a_page_or_site_is_asked_for(hubwatch: Run) -> None:
    hubwatch("add", SITE)
    (asked,) = hubwatch("visit", SITE, "--json").json
    assert (asked["url"], asked["site"], asked["refused"]) == (SITE, "news.example", "")
    said = hubwatch("visit", "news.example")
    assert (said.code, "1 page to be visited now; start the daemon" in said.err) == (0, True)


@pytest.mark.parametrize(
    "command",
    [("check", "--json"), ("label", "--json"), ("visit", "--json"), ("not-news", "--json")],
)
def test_a_page_is_named_without_a_scheme_too(
    hubwatch: Run, found: list[str], command: tuple[str, ...]
) -> None:
    typed, more = found[0].removeprefix("https://"), ["hub"] if "label" in command else []
    done = hubwatch(command[0], typed, *more, *command[1:])
    assert done.code == 0
    assert found[0] in done.out


def test_of_a_site_that_is_named_twice_the_active_hubs_are_visited_once(
    hubwatch: Run, tmp_path: Path
) -> None:
    """Candidates, of which a first reading finds hundreds, are none of them."""
    lists = [f"{SITE}list-{number}/" for number in range(30)]
    pages = {SITE: page(*lists), **{one: page(f"{one}a.html", f"{one}b.html") for one in lists}}
    clock = SimulatedClock(SystemClock().now())
    with Watch(tmp_path, FakeWeb(clock, pages), SITE) as crawl:
        crawl.run(20)
        states = {hub.url: hub.state for hub in crawl.store.read.hubs()}
    active = {url for url, state in states.items() if state == HubStatus.ACTIVE}
    assert list(states.values()).count(HubStatus.CANDIDATE) > 2
    asked = hubwatch("visit", "news.example", SITE, "1", "--json").json
    assert sorted(one["url"] for one in asked) == sorted(active)


def test_one_wrong_name_keeps_no_other_visit_back(hubwatch: Run) -> None:
    hubwatch("add", SITE)
    done = hubwatch("visit", SITE, SITE + "never-seen.html", "nowhere")
    assert (done.code, "1 page to be visited now" in done.err) == (1, True)
    assert "never-seen.html" in done.err
    assert "nowhere" in done.err


def test_a_visit_that_cannot_be_says_why(hubwatch: Run) -> None:
    hubwatch("add", SITE)
    assert hubwatch("visit", SITE + "never-seen.html").code == 4
    hubwatch("pause", "1")
    done = hubwatch("visit", "1")
    assert (done.code, "is paused; resume it first" in done.err) == (2, True)

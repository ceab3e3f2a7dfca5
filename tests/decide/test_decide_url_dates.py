"""A run of digits is a date only as far as its site shows it to be one."""

from datetime import UTC, datetime

import pytest
from stories import HOME, START, hub, target, view

from incremental.decide.hub_facts import Since
from incremental.decide.news import link_rule
from incremental.decide.url_dates import UrlDates
from store.rules import Rule

DAYS = ["190724", "190903", "191001", "191121", "200103", "200531", "201103", "201212"]


def day(text: str) -> float:
    """The end of a day."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() + 86_400


def names(*runs: str) -> list[tuple[str, float | None]]:
    return [(f"{HOME}python/{run}.html", None) for run in runs]


def test_one_impossible_month_decides_for_all_names_of_its_form() -> None:
    """``200205.html`` is 5 February 2020 beside ``190724.html``: there is no month 24."""
    dates = UrlDates.of_site(names(*DAYS, "200205"), now=START)
    assert dates.of(HOME + "python/200205.html") == day("2020-02-05")
    beside_months = UrlDates.of_site(names("201408", "201409", "200205"), now=START)
    assert beside_months.of(HOME + "python/200205.html") == day("2002-05-31")


def test_a_page_that_says_its_date_decides_for_all_names_of_its_form() -> None:
    said = [(HOME + "n/200206.html", day("2002-06-10")), (HOME + "n/200205.html", None)]
    assert UrlDates.of_site(said, now=START).of(HOME + "n/200205.html") == day("2002-05-31")


def test_the_date_of_a_deployment_decides_nothing() -> None:
    said = [(url, START) for url, _ in names(*DAYS)]
    dates = UrlDates.of_site(said, now=START)
    assert dates.of(HOME + "python/200205.html") == day("2020-02-05")


@pytest.mark.parametrize("known", [[], names("200205"), names("200205", "200310", "200901")])
def test_what_stays_ambiguous_is_no_date(known: list[tuple[str, float | None]]) -> None:
    assert UrlDates.of_site(known, now=START).of(HOME + "python/200205.html") is None


def test_serial_numbers_are_no_dates() -> None:
    """``202405`` is May 2024 by itself, and a number between 202398 and 202413."""
    assert UrlDates().of(HOME + "a/202405.html") == day("2024-05-31")
    serial = UrlDates.of_site([(f"{HOME}a/{n}.html", None) for n in range(202398, 202414)], START)
    assert serial.of(HOME + "a/202405.html") is None


def test_a_few_numbers_that_may_all_be_days_are_none() -> None:
    assert UrlDates.of_site(names(*DAYS[:3]), START).of(HOME + "python/190724.html") is None


def test_a_page_is_not_old_because_its_name_may_be_an_old_month() -> None:
    """Six pages of a recorded site were taken for old ones and not announced."""
    old = target("python/200205.html")
    assert link_rule(old, view(hub(), old)) is Rule.NEW_LINK
    months = UrlDates.of_site(names("201408", "200205"), now=START)
    since = Since(START, START, 30.0, url_dates=months)
    assert link_rule(old, view(hub(), old, since=since)) is Rule.BACKDATED

"""The first hour of a new site: sixty requests beyond its budget, once, for hubs that nobody has read."""

from pathlib import Path

import msgspec
import pytest
from fake_web import DAY, HOUR, MINUTE, START, Watch, gaps, page, watch

from incremental.interfaces.results.sites import understood
from incremental.interfaces.results.status import next_look
from incremental.schedule.budget import BudgetState, grant_left
from incremental.settings import Settings
from incremental.topics.training.corrections import correct
from store.values import SiteRow

HOME = "https://news.example/"
TAGS = [f"/tag/{number}/" for number in range(40)]
STORIES = [f"/story-{number}.html" for number in range(30)]
TAGGED = {HOME: page(*TAGS, *STORIES[:20])} | {
    HOME + tag[1:]: page(*STORIES[number % 20 :]) for number, tag in enumerate(TAGS)
}


def terms(**given: float) -> Settings:
    settings = Settings()
    return msgspec.structs.replace(
        settings, revisit=msgspec.structs.replace(settings.revisit, **given)
    )


def site_of(crawl: Watch) -> SiteRow:
    (row,) = crawl.store.read.sites()
    return row


def read(crawl: Watch) -> int:
    return crawl.store.read.site_totals()[site_of(crawl).id]["hubs"]


def test_a_new_site_is_understood_within_twenty_minutes(tmp_path: Path) -> None:
    with watch(tmp_path, TAGGED, settings=Settings()) as crawl:
        crawl.run(20 * MINUTE)
        assert read(crawl) >= len(TAGS)
        known = understood(crawl.store, Settings(), site_of(crawl), crawl.clock.now())
        assert (known.candidates, known.goes_on, known.min_minutes) == (0, False, 15)
        assert known.news_from is not None
        assert known.news_from <= START + 16 * MINUTE
        # No host is asked more often than it likes.
        assert min(gaps(one.at for one in crawl.web.asked)) >= 5


def test_the_home_page_is_not_read_again_after_each_section_that_shows_its_menu(
    tmp_path: Path,
) -> None:
    sections = [f"/section-{name}/" for name in "abcdefgh"]
    pages = {HOME: page(*sections, *STORIES[:4])} | {
        HOME + one[1:]: page(*sections, *STORIES[:4], f"{one}story.html") for one in sections
    }
    with watch(tmp_path, pages, settings=Settings()) as crawl:
        crawl.run(14 * MINUTE)
        urls = [one.url for one in crawl.web.asked]
        assert {HOME + one[1:] for one in sections} <= set(urls)
        assert urls.count(HOME) <= 2


def test_without_the_grant_most_candidates_wait(tmp_path: Path) -> None:
    with watch(tmp_path, TAGGED, settings=terms(first_requests=0)) as crawl:
        crawl.run(20 * MINUTE)
        assert read(crawl) < 12
        assert len(crawl.web.asked) <= 8


def granted(crawl: Watch) -> float:
    return BudgetState.from_text(site_of(crawl).budget).granted


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"first_requests": 10}, 10),
        ({"requests_per_day": 5.0}, 10),
    ],
)
def test_no_more_is_granted_than_the_settings_say(
    tmp_path: Path, given: dict[str, float], expected: int
) -> None:
    """A small budget gets a small grant."""
    with watch(tmp_path, TAGGED, settings=terms(**given)) as crawl:
        crawl.run(5 * MINUTE)
        assert granted(crawl) == expected
        within = crawl.crawler.frontier.watched.in_memory(site_of(crawl).id)
        assert within is not None
        assert len(crawl.web.asked) == expected + within.budget.used_lately


def test_what_was_spent_of_the_grant_survives_a_restart(tmp_path: Path) -> None:
    with watch(tmp_path, TAGGED, settings=terms(first_requests=20)) as crawl:
        crawl.run(MINUTE)
        assert 0 < granted(crawl) < 20
    with Watch(tmp_path, crawl.web, settings=terms(first_requests=20)) as again:
        again.run(10 * MINUTE)
        assert granted(again) == 20


def test_what_is_left_of_the_grant_lapses_after_a_day() -> None:
    state = BudgetState(started_at=START, granted=12)
    assert grant_left(state, 60, 48, START + DAY - 1) == 48
    assert grant_left(state, 60, 48, START + DAY) == 0
    assert grant_left(BudgetState(), 60, 4, START) == 8


def test_a_page_that_a_user_makes_a_hub_is_read_at_once(tmp_path: Path) -> None:
    pages = TAGGED | {HOME + "notices/": page(*STORIES[20:])}
    settings = terms(first_requests=0, requests_per_day=6.0)
    with watch(tmp_path, pages, settings=settings) as crawl:
        crawl.run(2 * HOUR)
        correct(crawl.store, HOME + "notices/", "hub", now=crawl.clock.now())
        crawl.crawler.load(crawl.clock.now())
        crawl.run(MINUTE)
        notices = crawl.hub(HOME + "notices/")
        assert notices is not None
        assert notices.baseline_at is not None


def test_the_next_look_is_that_of_the_site_that_is_due_first(tmp_path: Path) -> None:
    with watch(tmp_path, {HOME: page(*STORIES)}, settings=Settings()) as crawl:
        crawl.run(MINUTE)
        now = crawl.clock.now()
        look = next_look(crawl.store, Settings(), now)
        assert look is not None
        assert look.site == site_of(crawl).name
        assert now < look.at <= START + 15 * MINUTE + 30

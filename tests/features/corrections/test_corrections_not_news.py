"""A user calls a page no news: like pages are withheld, and nothing else is."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_runner import Run
from fake_web import HOUR, START, Watch, page, watch
from web_served import Served, post

from incremental.base.errors import NotFoundError
from incremental.decide.not_news import (
    Announced,
    Aspects,
    Objection,
    is_not_news,
    objection,
    of_page,
    still_needed,
    withheld,
)
from incremental.features.corrections.not_news import NotNews, object_to, suggested, take_back
from store.rules import Rule

HOME = "https://news.example/"
JOBS = "/jobs/42.html"
STEP = 4 * HOUR


def stories(upto: int) -> list[str]:
    return [f"/news/story-of-day-{n}.html" for n in range(upto)]


def with_jobs(upto: int = 9) -> dict[str, object]:
    """A list that gains a story with each step, and with every other one a job."""
    lists = [
        (START + n * STEP, page(*stories(n), *(f"/jobs/{40 + k}.html" for k in range(0, n, 2))))
        for n in range(1, upto)
    ]
    return {HOME: [(0, page("/x.html")), *lists]}


def say(crawl: Watch, path: str, act: Callable[..., NotNews] = object_to) -> NotNews:
    done = act(crawl.store, HOME + path[1:], now=crawl.clock.now())
    crawl.crawler.frontier.load(crawl.clock.now())
    return done


def jobs(crawl: Watch) -> list[str]:
    return [path for path in crawl.new() if path.startswith("/jobs/")]


def test_one_word_withholds_all_pages_of_a_rare_form(tmp_path: Path) -> None:
    with watch(tmp_path, with_jobs()) as crawl:
        crawl.run(4.5 * STEP)
        assert jobs(crawl) == ["/jobs/40.html", JOBS]
        assert say(crawl, JOBS).withholds == "form"
        crawl.run(5 * STEP)
        assert jobs(crawl) == ["/jobs/40.html", JOBS]
        assert sum(path.startswith("/news/") for path in crawl.new()) == 8
        rows = crawl.store.read.find_page(HOME + "jobs/46.html", "")
        assert [row["rule"] for row in rows] == ["not_news"]


def test_taken_back_like_pages_are_announced_again(tmp_path: Path) -> None:
    with watch(tmp_path, with_jobs()) as crawl:
        crawl.run(4.5 * STEP)
        say(crawl, JOBS)
        undone = say(crawl, JOBS, take_back).says
        assert undone == "Taken back: pages like it will be announced again."
        crawl.run(5 * STEP)
        assert jobs(crawl) == ["/jobs/40.html", JOBS, "/jobs/44.html", "/jobs/46.html"]


def test_one_word_about_a_story_does_not_silence_the_stories(tmp_path: Path) -> None:
    with watch(tmp_path, with_jobs()) as crawl:
        crawl.run(6.5 * STEP)
        noted = say(crawl, stories(1)[0])
        assert (noted.withholds, "about 2 more of them" in noted.says) == ("", True), noted.says
        crawl.run(3 * STEP)
        assert sum(path.startswith("/news/") for path in crawl.new()) == 8


def test_what_was_not_announced_or_not_said_is_an_error(tmp_path: Path) -> None:
    with watch(tmp_path, with_jobs()) as crawl:
        crawl.run(2.5 * STEP)
        with pytest.raises(NotFoundError, match="was not announced"):
            say(crawl, "/x.html")
        with pytest.raises(NotFoundError, match="nobody said"):
            say(crawl, stories(1)[0], take_back)


def test_the_button_of_a_page_says_what_was_learned_and_takes_it_back(
    served: Served, announced: Callable[[], list[int]]
) -> None:
    client, number = served.client(), announced()[0]
    for said in ("Pages like it are still announced", "Taken back"):
        done = post(client, "/corrections", page=number)
        assert done.status_code == 303
        assert said in client.get(done.headers["location"]).text


def test_a_list_that_is_no_news_withholds_what_is_read_first_too() -> None:
    said = withheld([Objection("u", Aspects("f", HOME, "r"), START, "shown_by")])
    assert not is_not_news(HOME + "x.html", None, Rule.NEW_LINK, said)
    mine = of_page(said, HOME + "x.html", HOME)
    assert is_not_news(HOME + "x.html", None, Rule.NEW_LINK, mine)
    assert of_page(said, HOME + "x.html", HOME + "other/") is said


def test_what_somebody_has_read_counts_as_news() -> None:
    """Nine pages of a form were read: one word does not withhold the form."""

    def one(n: int, folder: str, *, seen: bool) -> Announced:
        url = f"{HOME}{folder}/{n}.html"
        return Announced(url, Aspects.of(url, HOME, Rule.NEW_LINK), seen)

    jobs = [one(n, "jobs", seen=True) for n in range(9)]
    news = [one(n, "news", seen=False) for n in range(12)]
    first = jobs[0]
    assert objection(first.url, first.aspects, jobs + news, [], START).withholds == ""
    unread = [one(n, "jobs", seen=False) for n in range(9)]
    assert objection(first.url, first.aspects, unread + news, [], START).withholds == "form"


@pytest.mark.parametrize("form", ["rare", "usual"])
def test_the_number_that_is_said_to_be_needed_withholds(form: str) -> None:
    usual = [f"{HOME}news/{n}.html" for n in range(12)]
    rare = [f"{HOME}jobs/{n}.html" for n in range(1, 40 if form == "usual" else 10)]
    pages = [
        Announced(url, Aspects.of(url, f"{HOME}{n}/", str(n)), seen=False)
        for n, url in enumerate(usual + rare)
    ]
    like = [
        one
        for one in pages
        if one.url.startswith(f"{HOME}{'news' if form == 'usual' else 'jobs'}/")
    ]
    said: list[Objection] = []
    needed = still_needed(like[0].url, like[0].aspects, pages, said)
    for one in like[: needed + 1]:
        assert not any(objected.withholds for objected in said)
        said.append(objection(one.url, one.aspects, pages, said, START))
    assert said[-1].withholds


def test_a_young_site_is_not_silenced_by_one_word() -> None:
    url = HOME + "news/1.html"
    page_of = Aspects.of(url, HOME, Rule.NEW_LINK)
    assert objection(url, page_of, [Announced(url, page_of, seen=True)], [], START).withholds == ""


def test_an_address_that_was_missed_is_named_where_it_is_explained(served: Served) -> None:
    """A picture is never a page, so nothing is fetched."""
    client, url = served.client(), HOME + "picture.jpg"
    assert "I missed this" in client.get("/check", params={"url": url}).text
    answer = post(client, "/corrections/missed", url=url)
    assert answer.status_code == 200
    assert "It was not announced" in answer.text
    assert url in answer.text


def test_what_is_learned_is_said_and_taken_back(
    served: Served, announced: Callable[[], list[int]], hubwatch: Run
) -> None:
    page_row = served.store.read.page(announced()[0])
    assert page_row is not None
    now = served.clock.now()
    noted = object_to(served.store, page_row.url, now=now)
    assert noted.says.startswith("Noted. Pages like it are still announced until you call one more")
    site = served.store.read.site(page_row.site_id)
    assert site is not None
    assert [one["url"] for one in json.loads(site.not_news)] == [page_row.url]
    assert take_back(served.store, page_row.url, now=now).says == "Taken back."
    assert hubwatch("not-news", "https://unknown.example/").code == 4


def test_a_site_without_a_page_to_ask_about_says_so(hubwatch: Run) -> None:
    hubwatch("add", HOME)
    done = hubwatch("not-news", "--ask", HOME)
    assert (done.out, "no page to ask about yet" in done.err) == ("", True)


def test_the_form_about_which_an_answer_teaches_most_is_asked_about_first(tmp_path: Path) -> None:
    """The unknown forms first; then the one that was objected to, not the one that was accepted."""
    with watch(tmp_path, with_jobs()) as crawl:
        crawl.run(6.5 * STEP)
        site = crawl.store.read.sites()[0]
        story, job = suggested(crawl.store, site, now=crawl.clock.now())
        assert (story.startswith(HOME + "news/"), job.startswith(HOME + "jobs/")) == (True, True)
        page_id = crawl.store.read.find_page(story, "")[0]["id"]
        crawl.store.answers.mark([page_id], now=crawl.clock.now(), read=True)
        first, *_ = suggested(crawl.store, site, now=crawl.clock.now())
        assert first == job

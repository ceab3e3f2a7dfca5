"""A user says what a page is: it acts at once, and outranks whatever else speaks."""

from pathlib import Path

import pytest
from fake_web import DAY, HOUR, MINUTE, START, Watch, page, watch

from incremental.base.errors import InputError
from incremental.base.urls import canonical_key
from incremental.settings.seeds import add_seed
from incremental.topics.training.corrections import correct
from incremental.topics.training.label_files import merged
from incremental.topics.training.nightly_training import observe
from store.enums import LabelOrigin

HOME = "https://news.example/"
TAG = HOME + "tag/"
ARCHIVE = HOME + "archive.html"


def say(crawl: Watch, url: str, label: str) -> tuple[str, ...]:
    """Say it while the daemon runs, which notices that the sites changed."""
    done = correct(crawl.store, url, label, now=crawl.clock.now())
    crawl.crawler.frontier.load(crawl.clock.now())
    return done.sites


def stories(count: int, name: str = "story") -> list[str]:
    return [f"/{name}-{n}.html" for n in range(count)]


def test_a_page_that_only_the_user_takes_for_a_hub_brings_news(tmp_path: Path) -> None:
    pages = {
        HOME: page("/archive.html"),
        ARCHIVE: [(0, page("/a.html")), (START + 2 * DAY, page("/b.html", "/a.html"))],
        HOME + "b.html": page(text="A story. " * 99),
    }
    with watch(tmp_path, pages) as crawl:
        crawl.run(DAY)
        assert crawl.hub(ARCHIVE) is None
        assert say(crawl, ARCHIVE, "hub") == ("news.example",)
        crawl.run(HOUR)
        assert crawl.statuses(ARCHIVE) == ["fetched"]
        crawl.run(3 * DAY)
        assert crawl.new() == ["/b.html"]


def test_a_topic_page_is_no_hub_and_stays_none(tmp_path: Path) -> None:
    changing = [(START + n * DAY, page("/tag/", *stories(n))) for n in range(9)]
    with watch(tmp_path, {HOME: changing, TAG: page("/a.html", "/b.html")}) as crawl:
        crawl.run(DAY)
        assert crawl.hub(TAG) is not None
        say(crawl, TAG, "article")
        crawl.run(5 * DAY)
        assert crawl.hub(TAG) is None
        assert max(a.at for a in crawl.web.asked if a.url == TAG) < START + DAY


def test_what_a_user_called_an_article_is_announced_when_it_turns_up(tmp_path: Path) -> None:
    pages = {HOME: [(0, page()), (START + DAY, page("/tag/"))], TAG: page(text="A story. " * 99)}
    with watch(tmp_path, pages) as crawl:
        say(crawl, TAG, "article")
        crawl.run(2 * DAY)
        assert crawl.new() == ["/tag/"]


def test_a_users_hub_is_not_dropped_for_what_it_looks_like(tmp_path: Path) -> None:
    """An empty list is an article to the classifier that reads it."""
    with watch(tmp_path, {HOME: page("/tag/"), TAG: page(text="Nothing yet.")}) as crawl:
        say(crawl, TAG, "hub")
        crawl.run(DAY)
        hub = crawl.hub(TAG)
        assert hub is not None
        assert (hub.role, hub.state) == ("user", "active")


def test_a_users_hub_is_not_given_up_when_it_is_not_there_yet(tmp_path: Path) -> None:
    with watch(tmp_path, {HOME: page()}) as crawl:
        say(crawl, TAG, "hub")
        crawl.run(DAY)
        assert crawl.hubs("dropped").isdisjoint({TAG})
        crawl.web.pages[TAG] = page("/a.html")
        crawl.run(5 * DAY)
        assert crawl.statuses(TAG)[-1] in ("fetched", "not_modified")


@pytest.mark.parametrize("kept", [False, True])
def test_a_users_hub_is_never_covered_behind_others(tmp_path: Path, kept: bool) -> None:
    links = stories(20)
    pages = {HOME: page("/tag/", "/all/"), HOME + "all/": page(*links), TAG: page(*links[:5])}
    with watch(tmp_path, pages) as crawl:
        if kept:
            say(crawl, TAG, "hub")
        before = crawl.run(5 * DAY).hub(TAG)
        after = crawl.run(5 * DAY).hub(TAG)
        assert before is not None
        assert after is not None
        assert after.state == ("active" if kept else "dormant")
        assert (after.visits - before.visits > 1) is kept


def test_a_label_waits_for_the_site_that_it_belongs_to(tmp_path: Path) -> None:
    pages = {HOME: page("/archive.html"), ARCHIVE: page("/a.html")}
    with watch(tmp_path, pages, "https://x.example/") as crawl:
        assert say(crawl, ARCHIVE, "hub") == ()
        add_seed(crawl.store, HOME, now=crawl.clock.now())
        crawl.crawler.frontier.load(crawl.clock.now())
        crawl.run(DAY)
        hub = crawl.hub(ARCHIVE)
        assert hub is not None
        assert hub.role == "user"


def test_topic_outranks_what_behaviour_says(tmp_path: Path) -> None:
    changing = [(START + n * DAY, page(*stories(2 * n + 1))) for n in range(9)]
    with watch(tmp_path, {HOME: page("/tag/"), TAG: changing}) as crawl:
        crawl.run(6 * DAY)
        observe(crawl.store, crawl.clock.now())
        assert labels(crawl)[TAG] == "hub"
        say(crawl, TAG, "article")
        crawl.run(2 * DAY)
        observe(crawl.store, crawl.clock.now())
        assert labels(crawl)[TAG] == "article"
        assert crawl.hub(TAG) is None


def labels(crawl: Watch) -> dict[str, str]:
    return {one.url: one.label for one in merged(crawl.store.read.labels())}


def test_a_user_may_think_again(tmp_path: Path) -> None:
    with watch(tmp_path, {HOME: page("/tag/"), TAG: page("/a.html")}) as crawl:
        for label in ("article", "hub", "article", "hub"):
            say(crawl, TAG, label)
            crawl.run(HOUR)
            assert (crawl.hub(TAG) is not None) is (label == "hub")
        assert labels(crawl) == {TAG: "hub"}


NO_ADDRESSES = ["", "news", "ftp://news.example/x", "https://", HOME + "x" * 100_000]


@pytest.mark.parametrize("text", NO_ADDRESSES, ids=range(5))
def test_what_is_no_web_address_gets_no_label(tmp_path: Path, text: str) -> None:
    with watch(tmp_path, {HOME: page()}) as crawl:
        with pytest.raises(InputError, match="not a web address"):
            correct(crawl.store, text, "hub", now=START)
        assert crawl.store.read.labels() == []


def test_a_seed_is_no_topic_page(tmp_path: Path) -> None:
    with watch(tmp_path, {HOME: page()}) as crawl:
        with pytest.raises(InputError, match="remove the site"):
            correct(crawl.store, HOME, "article", now=START)
        assert crawl.store.read.corrections([canonical_key(HOME)]) == {}


def test_a_label_is_kept_with_what_its_page_was_called(tmp_path: Path) -> None:
    with watch(tmp_path, {HOME: page("/tag/|All on rivers"), TAG: page("/a.html")}) as crawl:
        crawl.run(MINUTE)
        say(crawl, "HTTPS://News.example/tag#top", "hub")
        (label,) = crawl.store.read.labels(LabelOrigin.USER)
        assert (label.anchor, label.canonical_key) == ("All on rivers", canonical_key(TAG))

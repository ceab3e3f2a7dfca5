"""News that another hub knew from its baseline: read and judged like any other, or guessed."""

from pathlib import Path
from typing import Any

import msgspec
from fake_web import DAY, HOUR, MINUTE, SPARING, START, Watch, page
from topic_web import (
    HOME,
    NEW,
    OLD,
    WORDS,
    address,
    begun,
    judged,
    shown,
    story,
    topic_of,
    two_subjects,
    verdicts,
    watch_topic,
)

from incremental.interfaces.explain.page import explain
from incremental.settings import Settings
from store.answers import NewQuery

SECTION = HOME + "section/"
ARTICLE = HOME + "about-a-bridge/"
SOON = START + HOUR
"""Before the home page is visited again."""
URLS = [address(*one) for one in NEW]
BRIDGES = {address(*one) for one in NEW if one[0] == "bridge"}


def with_share(share: float) -> Settings:
    news = msgspec.structs.replace(SPARING.news, verify_share=share)
    return msgspec.structs.replace(SPARING, news=news)


def known_elsewhere() -> dict[str, Any]:
    """A section lists at its baseline what the home page, read before it, shows only later."""
    headlines = [f"{address(s, n)}|{' '.join(WORDS[s][n % 9 : n % 9 + 4])}" for s, n in OLD]
    home = page(*headlines, SECTION, title="News", text="What is new.")
    return two_subjects(
        **{HOME: [(0, home), (SOON, shown(*NEW, *OLD))], SECTION: shown(*NEW, *OLD)}
    )


def rules(crawl: Watch) -> set[str]:
    return {row["rule"] for url in URLS for row in crawl.store.read.find_page(url, "")}


def on_topic(crawl: Watch) -> set[str]:
    """The addresses that ``hubwatch new --topic bridges`` shows."""
    query = NewQuery(topic=topic_of(crawl).id, hidden_verdict="irrelevant")
    return {row.url for row in crawl.store.answers.new(query).rows}


def unread(crawl: Watch, settings: Settings) -> str | None:
    """Why the first page was not read, as ``hubwatch check`` says."""
    (site,) = explain(crawl.store, settings, URLS[0], now=crawl.clock.now())["sites"]
    assert site["announced_at"] is not None
    why: str | None = site["unread"]
    return why


def test_what_another_hub_knew_is_fetched_once_and_judged(tmp_path: Path) -> None:
    settings = with_share(0.9)
    with watch_topic(tmp_path, known_elsewhere(), settings=settings) as crawl:
        crawl.run(12 * HOUR)
        assert rules(crawl) == {"shown_later"}
        assert set(verdicts(crawl, NEW)) == set(NEW)
        assert on_topic(crawl) == BRIDGES
        assert [crawl.web.urls().count(url) for url in URLS] == [1] * len(URLS)
        assert unread(crawl, settings) is None


def test_what_another_hub_knew_is_guessed_while_it_waits(tmp_path: Path) -> None:
    settings = with_share(0.0)
    with watch_topic(tmp_path, known_elsewhere(), settings=settings) as crawl:
        crawl.run(12 * HOUR)
        assert rules(crawl) == {"shown_later"}
        guesses = {url: judged(crawl, url) for url in URLS}
        assert {score is not None and score.fetched for score in guesses.values()} == {False}
        assert on_topic(crawl) == set(URLS)
        best = max(guesses, key=lambda url: score.score if (score := guesses[url]) else 0.0)
        assert best in BRIDGES
        assert not set(URLS) & set(crawl.web.urls())
        assert "not fetched yet" in (unread(crawl, settings) or "")


def test_what_was_read_before_is_judged_from_the_cache_and_not_fetched_again(
    tmp_path: Path,
) -> None:
    """Read as a likely hub, before there was a topic; announced after the topic had caught up."""
    web_pages = known_elsewhere()
    late = [(0, web_pages[HOME][0][1]), (SOON, page(ARTICLE, SECTION, title="News"))]
    more = {HOME: late, SECTION: page(ARTICLE, *URLS), ARTICLE: story("bridge", 40)}
    settings = with_share(0.9)
    with watch_topic(tmp_path, web_pages | more, settings=settings) as crawl:
        crawl.store.topics.remove(topic_of(crawl).id)
        crawl.crawler.load(START)
        crawl.run(30 * MINUTE)
        assert (ARTICLE in crawl.web.urls(), crawl.new()) == (True, [])
        begun(crawl.store, crawl.clock.now())
        crawl.crawler.load(crawl.clock.now())
        crawl.run(10 * MINUTE)
        while crawl.crawler.topics.catch_up(crawl.clock.now()):
            pass
        crawl.run(8 * HOUR)
        while crawl.crawler.topics.catch_up(crawl.clock.now()):
            pass
        score = judged(crawl, ARTICLE)
        assert crawl.new() == ["/about-a-bridge/"]
        assert score is not None
        assert (score.fetched, score.verdict) == (True, "relevant")
        assert crawl.web.urls().count(ARTICLE) == 1


def test_hundreds_at_once_leave_the_hubs_their_visits(tmp_path: Path) -> None:
    """They are fetched within the share for verification, and a later story is announced as soon."""
    many = [f"{HOME}{number}-story.html" for number in range(300)]
    late = HOME + "late.html"
    announced_at: list[float] = []
    fetches: list[int] = []
    for shown_later in (many, []):
        home = [
            (0, page(SECTION, title="News")),
            (SOON, page(*shown_later, SECTION, title="News")),
            (START + 20 * HOUR, page(late, *shown_later, SECTION, title="News")),
        ]
        pages = two_subjects(**{HOME: home, SECTION: page(*many)})
        folder = tmp_path / str(len(fetches))
        folder.mkdir()
        with watch_topic(folder, pages, settings=with_share(0.25)) as crawl:
            crawl.run(DAY)
            (row,) = crawl.store.read.find_page(late, "")
            fetched = [url for url in crawl.web.urls() if url in many]
            assert len(fetched) == len(set(fetched))
            assert len(fetched) <= 0.25 * 200 + 10
            announced_at.append(row["announced_at"])
            fetches.append(len(fetched))
    assert fetches[0] > fetches[1] == 0
    assert announced_at[0] <= announced_at[1] + 30 * MINUTE

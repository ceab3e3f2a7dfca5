"""A fake web with stories on two subjects, and a crawler with a topic on it."""

import random
from pathlib import Path
from typing import Any

from fake_web import HOUR, START, FakeWeb, Watch, page
from lab.clocks import SimulatedClock

from incremental.topics.editing import begin, give_feedback
from store import Store
from store.topics.values import PageScore, TopicRow

HOME = "https://news.example/"
LIBRARY = "https://library.example/"


def words(text: str) -> list[str]:
    """Return the words of a line."""
    return text.split()


WORDS = {
    "bridge": words(
        "bridge span arch cable girder pier river engineer deck concrete steel truss load "
        "traffic suspension foundation abutment crossing structure beam tower anchor viaduct "
        "inspection "
    ),
    "soup": words(
        "soup onion carrot broth simmer kitchen recipe spoon garlic pepper tomato bowl chef "
        "basil noodle flavour stew pan butter cream parsley lentil celery oven "
    ),
}
COMMON = words(
    "city people said year week before opened council plan several large together new many"
)


def prose(subject: str, number: int, sentences: int = 14) -> str:
    """Write a text on a subject; each number another one."""
    draw = random.Random(f"{subject} {number}")
    return " ".join(
        " ".join(["The", *draw.sample(WORDS[subject], 5), "was", *draw.sample(COMMON, 4)]) + "."
        for _ in range(sentences)
    )


def story(subject: str, number: int, *links: str) -> str:
    """A page on a subject."""
    words = random.Random(f"title {subject} {number}").sample(WORDS[subject], 3)
    return page(*links, title=" ".join(words).title(), text=prose(subject, number))


def address(subject: str, number: int) -> str:
    return f"{HOME}{number}-{'-'.join(WORDS[subject][number % 5 : number % 5 + 2])}.html"


def shown(*stories: tuple[str, int]) -> str:
    """The home page with these stories, as headlines."""
    links = [f"{address(s, n)}|{' '.join(WORDS[s][n % 9 : n % 9 + 4])}" for s, n in stories]
    return page(*links, title="News", text="What is new.")


OLD = [(subject, number) for number in range(3) for subject in WORDS]
NEW = [(subject, number) for number in range(10, 13) for subject in WORDS]
"""Appear on the home page some hours after the start."""
LATER = START + 4 * HOUR
EXAMPLES = [f"{LIBRARY}bridge-{number}" for number in range(3)]


def two_subjects(**more: Any) -> dict[str, Any]:
    """The pages of a news site with two subjects, and of a library with the examples."""
    pages: dict[str, Any] = {
        HOME: [(0, shown(*OLD)), (LATER, shown(*NEW, *OLD))],
        LIBRARY: page("/bridge-0"),
        **{address(s, n): story(s, n) for s, n in [*OLD, *NEW]},
        **{url: story("bridge", 90 + n) for n, url in enumerate(EXAMPLES)},
    }
    return pages | more


def begun(store: Store, now: float, *, examples: list[str] | None = None, **more: Any) -> TopicRow:
    """Begin the topic of bridges."""
    given = EXAMPLES if examples is None else examples
    row, _ = begin(
        store, "bridges", examples=given, keywords=more.pop("keywords", ()), now=now, **more
    )
    return row


def watch_topic(folder: Path, pages: dict[str, Any], *seeds: str, **more: Any) -> Watch:
    """Watch the news from START on with the topic of bridges."""
    topic = {key: more.pop(key) for key in ("examples", "keywords", "method") if key in more}
    crawl = Watch(folder, FakeWeb(SimulatedClock(START), pages), *(seeds or (HOME,)), **more)
    begun(crawl.store, START, **topic)
    crawl.crawler.load(START)
    return crawl


def topic_of(crawl: Watch, name: str = "bridges") -> TopicRow:
    row = crawl.store.topics.topic(name)
    assert row is not None
    return row


def correct(crawl: Watch, *urls: str, relevant: bool) -> None:
    """Say it as the command does, beside a crawler that runs."""
    from incremental.topics.model_store import TopicModelStore

    row, _ = give_feedback(crawl.store, "bridges", urls, relevant=relevant, now=crawl.clock.now())
    TopicModelStore(crawl.store).learn(row)
    crawl.crawler.load(crawl.clock.now())


def judged(crawl: Watch, url: str) -> PageScore | None:
    """What the topic makes of a page."""
    found = crawl.store.read.find_page(url, "")
    scores = crawl.store.topics.scores([row["id"] for row in found], topic_of(crawl).id)
    return next(iter(scores), None)


def verdicts(crawl: Watch, stories: list[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """The verdicts on stories that were judged from their text."""
    found = {one: judged(crawl, address(*one)) for one in stories}
    return {one: score.verdict for one, score in found.items() if score and score.fetched}

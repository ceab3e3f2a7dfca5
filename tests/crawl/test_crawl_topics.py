"""Topics at work: examples are fetched, new pages judged, links guessed, corrections learned."""

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fake_web import DAY, HOUR, MINUTE, SPARING, START, FakeWeb, Reply, Watch, page, redirect
from lab.clocks import SimulatedClock
from topic_web import (
    COMMON,
    EXAMPLES,
    HOME,
    LATER,
    LIBRARY,
    NEW,
    WORDS,
    address,
    begun,
    correct,
    judged,
    prose,
    shown,
    story,
    topic_of,
    two_subjects,
    verdicts,
    watch_topic,
)

from classifier.words.background import Background
from classifier.words.values import PageText
from incremental.base.texts import read_text
from incremental.interfaces.explain.topic import explain_topic
from incremental.topics.editing import begin
from incremental.topics.judging import from_text, warnings_of
from incremental.topics.model_store import TopicModelStore
from store.answers import NewQuery


def watch_clock() -> SimulatedClock:
    return SimulatedClock(START)


BRIDGES = [one for one in NEW if one[0] == "bridge"]
SOUPS = [one for one in NEW if one[0] == "soup"]
MANY_VERIFICATIONS = msgspec.structs.replace(
    SPARING, news=msgspec.structs.replace(SPARING.news, verify_share=0.9)
)
NO_VERIFICATIONS = msgspec.structs.replace(
    SPARING, news=msgspec.structs.replace(SPARING.news, verify_share=0.0)
)


def announced(crawl: Watch, *, rejected: bool = False) -> set[str]:
    """The addresses that ``hubwatch new --topic bridges`` shows."""
    hidden = None if rejected else "irrelevant"
    query = NewQuery(topic=topic_of(crawl).id, hidden_verdict=hidden)
    return {row.url for row in crawl.store.answers.new(query).rows}


def test_examples_out_of_every_site_are_fetched_and_the_topic_is_ready(tmp_path: Path) -> None:
    with watch_topic(tmp_path, two_subjects()) as crawl:
        assert topic_of(crawl).state == "waiting"
        assert "examples missing: 3 of 3" in read_text(topic_of(crawl).why)
        crawl.run(10 * MINUTE)
        row = topic_of(crawl)
        assert (row.state, row.why) == ("ready", "")
        texts = [from_text(one.text or "{}") for one in crawl.store.topics.examples(row.id)]
        assert [text.url for text in texts] == EXAMPLES
        assert all(len(text.body) > 200 for text in texts)


def test_examples_are_fetched_politely(tmp_path: Path) -> None:
    with watch_topic(tmp_path, two_subjects()) as crawl:
        crawl.run(HOUR)
        asked = [one for one in crawl.web.asked if one.url.startswith(LIBRARY)]
        assert asked[0].url == LIBRARY + "robots.txt"
        times = [one.at for one in asked]
        assert all(after - before >= 5 for before, after in pairwise(times))


def test_new_pages_on_topic_are_announced_and_others_not(tmp_path: Path) -> None:
    with watch_topic(tmp_path, two_subjects(), settings=MANY_VERIFICATIONS) as crawl:
        crawl.run(12 * HOUR)
        assert len(crawl.new()) == len(NEW)
        found = verdicts(crawl, NEW)
        assert set(found) == set(NEW)
        assert {found[one] for one in SOUPS} == {"irrelevant"}
        assert {found[one] for one in BRIDGES} == {"relevant"}
        assert announced(crawl) == {address(*one) for one in BRIDGES}
        assert announced(crawl, rejected=True) == {address(*one) for one in NEW}
        score = judged(crawl, address(*BRIDGES[0]))
        assert score is not None
        assert score.score >= 0.5
        assert score.version == topic_of(crawl).version
        assert json.loads(score.terms)


def test_key_words_alone_make_a_topic(tmp_path: Path) -> None:
    words = ["bridge", "arch", "girder", "suspension", "viaduct", "pier"]
    with watch_topic(tmp_path, two_subjects(), examples=[], keywords=words) as crawl:
        assert topic_of(crawl).state == "ready"
        crawl.run(12 * HOUR)
        found = verdicts(crawl, NEW)
        assert "irrelevant" not in {found[one] for one in BRIDGES if one in found}
        assert {found[one] for one in SOUPS if one in found} == {"irrelevant"}


def test_a_restart_keeps_the_topic_what_it_learned_and_what_it_judged(tmp_path: Path) -> None:
    pages = two_subjects()
    with watch_topic(tmp_path, pages) as crawl:
        crawl.run(2 * HOUR)
        crawl.crawler.drain(crawl.clock.now())
        before, clock, asked = topic_of(crawl), crawl.clock, len(crawl.web.urls())
    web = FakeWeb(clock, pages)
    with Watch(tmp_path, web) as crawl:
        assert asked
        assert (topic_of(crawl), crawl.crawler.topics.active) == (before, True)
        crawl.run(10 * HOUR)
        assert not [url for url in web.urls() if url.startswith(LIBRARY)]
        assert set(verdicts(crawl, BRIDGES).values()) == {"relevant"}
        assert topic_of(crawl).created_at == before.created_at


def test_a_correction_changes_the_next_judgement(tmp_path: Path) -> None:
    with watch_topic(tmp_path, two_subjects(), settings=MANY_VERIFICATIONS) as crawl:
        crawl.run(12 * HOUR)
        before = judged(crawl, address(*SOUPS[0]))
        correct(crawl, address(*SOUPS[0]), address(*SOUPS[1]), relevant=True)
        crawl.web.pages[HOME] = page(f"{HOME}more.html|onion broth recipe", title="News")
        crawl.web.pages[HOME + "more.html"] = story("soup", 77)
        crawl.run(8 * HOUR)
        after = judged(crawl, HOME + "more.html")
        assert before is not None
        assert after is not None
        assert (before.verdict, after.fetched) == ("irrelevant", True)
        assert after.score > before.score
        assert after.verdict != "irrelevant"
        assert after.version == topic_of(crawl).version != before.version


def test_pages_that_were_announced_before_are_judged_when_the_topic_is_ready(
    tmp_path: Path,
) -> None:
    web_pages = two_subjects()
    with watch_topic(tmp_path, web_pages, settings=MANY_VERIFICATIONS) as crawl:
        crawl.store.topics.remove(topic_of(crawl).id)
        crawl.crawler.load(START)
        crawl.run(12 * HOUR)
        begun(crawl.store, crawl.clock.now())
        crawl.crawler.load(crawl.clock.now())
        crawl.run(HOUR)
        assert topic_of(crawl).state == "ready"
        assert verdicts(crawl, NEW) == {}
        while crawl.crawler.topics.catch_up(crawl.clock.now()):
            pass
        assert set(verdicts(crawl, BRIDGES).values()) == {"relevant"}
        assert set(verdicts(crawl, SOUPS).values()) == {"irrelevant"}


def test_verdicts_on_pages_already_found_follow_when_a_topic_changes(tmp_path: Path) -> None:
    with watch_topic(tmp_path, two_subjects(), settings=MANY_VERIFICATIONS) as crawl:
        crawl.run(12 * HOUR)
        while crawl.crawler.topics.catch_up(crawl.clock.now()):
            pass
        before = [one for one in verdicts(crawl, NEW) if one not in SOUPS[:2]]
        assert len(before) > 2
        correct(crawl, *[address(*one) for one in SOUPS[:2]], relevant=True)
        while crawl.crawler.topics.catch_up(crawl.clock.now()):
            pass
        scores = [judged(crawl, address(*one)) for one in before]
        assert {one.version for one in scores if one} == {topic_of(crawl).version}


def test_without_a_topic_nothing_is_loaded_and_nothing_judged(tmp_path: Path) -> None:
    with Watch(tmp_path, FakeWeb(watch_clock(), two_subjects()), HOME) as crawl:
        crawl.run(12 * HOUR)
        assert crawl.crawler.topics._model_store is None
        assert not crawl.crawler.topics.active
        hub = crawl.hub(HOME)
        assert hub is not None
        assert "judged" not in json.loads(hub.revisit)
        assert not [
            one for row in crawl.store.read.sites() for one in row.origin if one not in "{}"
        ]


def test_a_page_that_was_not_fetched_shows_a_guess_which_rejects_nothing(tmp_path: Path) -> None:
    with watch_topic(tmp_path, two_subjects(), settings=NO_VERIFICATIONS) as crawl:
        crawl.run(7 * HOUR)
        scores = {one: judged(crawl, address(*one)) for one in NEW}
        guesses = {one: score for one, score in scores.items() if score and not score.fetched}
        assert len(guesses) >= len(NEW) - 1
        assert {score.verdict for score in guesses.values()} <= {"relevant", "doubtful"}
        assert max(guesses, key=lambda one: guesses[one].score) in BRIDGES
        assert announced(crawl) == {address(*one) for one in NEW}


def test_verification_goes_to_what_is_likely_on_topic_first(tmp_path: Path) -> None:
    """Few looks are granted: the first ones are made where the headlines promise most."""
    few = msgspec.structs.replace(SPARING.news, verify_share=0.03)
    settings = msgspec.structs.replace(SPARING, news=few)
    with watch_topic(tmp_path, two_subjects(), settings=settings) as crawl:
        crawl.run(8 * HOUR)
        verified = [url for url in crawl.web.urls() if url in {address(*one) for one in NEW}]
        assert 0 < len(verified) < len(NEW)
        assert verified[0] in {address(*one) for one in BRIDGES}


def test_a_hub_whose_links_are_on_topic_weighs_more(tmp_path: Path) -> None:
    with watch_topic(tmp_path, two_subjects()) as crawl:
        crawl.run(12 * HOUR)
        hub = crawl.hub(HOME)
        assert hub is not None
        state = json.loads(hub.revisit)
        assert state["judged"] > 0
        assert state["relevant"] > 0


def test_two_topics_judge_alongside(tmp_path: Path) -> None:
    from incremental.topics.editing import begin

    words = ["soup", "onion", "broth", "recipe", "garlic", "simmer"]
    with watch_topic(tmp_path, two_subjects(), settings=MANY_VERIFICATIONS) as crawl:
        begin(crawl.store, "soups", examples=(), keywords=words, now=START)
        crawl.crawler.load(START)
        crawl.run(12 * HOUR)
        soups = topic_of(crawl, "soups").id
        query = NewQuery(topic=soups, verdict="relevant")
        liked = {row.url for row in crawl.store.answers.new(query).rows}
        assert liked
        assert liked <= {address(*one) for one in SOUPS}
        assert announced(crawl) == {address(*one) for one in BRIDGES}


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Reply(code=404), "gone"),
        (Reply(code=503), "server error"),
        (page(title="", text=""), "no text"),
        (Reply(b"\x00\x01\x02" * 99, headers={"Content-Type": "image/png"}), "no text"),
    ],
)
def test_an_example_that_fails_leaves_the_topic_waiting_and_is_named(
    tmp_path: Path, answer: object, says: str
) -> None:
    pages = two_subjects(**{EXAMPLES[0]: answer})
    with watch_topic(tmp_path, pages, examples=EXAMPLES[:1]) as crawl:
        crawl.run(30 * MINUTE)
        row = topic_of(crawl)
        assert row.state == "waiting"
        assert EXAMPLES[0] in row.why
        assert says in read_text(row.why)
        assert not crawl.crawler.topics.active


def test_an_example_that_fails_is_tried_again_until_it_is_there(tmp_path: Path) -> None:
    late = [(0, Reply(code=404)), (START + 5 * HOUR, story("bridge", 1))]
    with watch_topic(tmp_path, two_subjects(**{EXAMPLES[0]: late}), examples=EXAMPLES[:1]) as crawl:
        crawl.run(4 * HOUR)
        assert topic_of(crawl).state == "waiting"
        crawl.run(DAY)
        assert topic_of(crawl).state == "ready"
        assert 2 <= crawl.web.urls().count(EXAMPLES[0]) <= 5


def test_an_example_that_failed_and_is_given_again_is_asked_for_at_once(tmp_path: Path) -> None:
    late = [(0, Reply(code=404)), (START + 20 * MINUTE, story("bridge", 1))]
    with watch_topic(tmp_path, two_subjects(**{EXAMPLES[0]: late}), examples=EXAMPLES[:1]) as crawl:
        crawl.run(20 * MINUTE)
        begun(crawl.store, crawl.clock.now(), examples=EXAMPLES[:1])
        crawl.crawler.load(crawl.clock.now())
        crawl.clock.advance_to(crawl.clock.now() + 5)
        crawl.run(5 * MINUTE)
        assert topic_of(crawl).state == "ready"


def test_an_example_that_robots_deny_is_not_asked_for(tmp_path: Path) -> None:
    pages = two_subjects(**{LIBRARY + "robots.txt": "User-agent: *\nDisallow: /bridge-0"})
    with watch_topic(tmp_path, pages) as crawl:
        crawl.run(HOUR)
        assert EXAMPLES[0] not in crawl.web.urls()
        row = topic_of(crawl)
        assert (row.state, "denied by robots.txt" in read_text(row.why)) == ("ready", True)


def test_an_example_that_moved_to_another_host_is_followed(tmp_path: Path) -> None:
    there = "https://moved.example/bridge"
    pages = two_subjects(**{EXAMPLES[0]: redirect(there), there: story("bridge", 5)})
    with watch_topic(tmp_path, pages, examples=EXAMPLES[:1]) as crawl:
        crawl.run(HOUR)
        assert topic_of(crawl).state == "ready"


def test_examples_that_lead_in_circles_end(tmp_path: Path) -> None:
    there = "https://moved.example/bridge"
    pages = two_subjects(**{EXAMPLES[0]: redirect(there), there: redirect(EXAMPLES[0])})
    with watch_topic(tmp_path, pages, examples=EXAMPLES[:1]) as crawl:
        crawl.run(DAY)
        assert topic_of(crawl).state == "waiting"
        assert len([url for url in crawl.web.urls() if "bridge" in url]) < 20


def test_an_empty_page_and_a_page_of_one_word_are_no_trouble(tmp_path: Path) -> None:
    odd = {HOME + "empty.html": page(title="", text=""), HOME + "word.html": page(title="Bridge")}
    home = [(0, page()), (LATER, page(HOME + "empty.html|x", HOME + "word.html|Bridge"))]
    with watch_topic(
        tmp_path, two_subjects(**odd, **{HOME: home}), settings=MANY_VERIFICATIONS
    ) as crawl:
        crawl.run(12 * HOUR)
        empty, word = judged(crawl, HOME + "empty.html"), judged(crawl, HOME + "word.html")
        assert empty is not None
        assert not empty.fetched
        assert word is not None
        assert word.fetched


def test_a_page_of_megabytes_and_one_in_two_languages_are_judged(tmp_path: Path) -> None:

    huge = "".join(f"<p>{prose('bridge', n)}</p>" for n in range(2_500))
    mixed = page(title="桥梁 bridge", text="这座桥梁的桥墩正在检查。" * 20 + prose("bridge", 3))
    odd = {HOME + "huge.html": f"<title>Bridge</title>{huge}", HOME + "mixed.html": mixed}
    home = [(0, page()), (LATER, page(HOME + "huge.html", HOME + "mixed.html"))]
    with watch_topic(
        tmp_path, two_subjects(**odd, **{HOME: home}), settings=MANY_VERIFICATIONS
    ) as crawl:
        crawl.run(12 * HOUR)
        for path in ("huge.html", "mixed.html"):
            score = judged(crawl, HOME + path)
            assert score is not None
            assert (score.fetched, score.verdict != "irrelevant") == (True, True)


def test_a_topic_that_was_removed_while_its_example_was_fetched(tmp_path: Path) -> None:
    with watch_topic(tmp_path, two_subjects()) as crawl:
        crawl.store.topics.remove(topic_of(crawl).id)
        crawl.run(DAY)
        assert crawl.store.topics.topics() == []
        assert not crawl.crawler.topics.active


def test_a_damaged_model_is_learned_again(tmp_path: Path) -> None:
    with watch_topic(tmp_path, two_subjects()) as crawl:
        crawl.run(HOUR)
        row, clock = topic_of(crawl), crawl.clock
        crawl.store.topics.update(row.id, model="{", links="[", version=row.version)
        crawl.store.space.note("pages", "no json", now=START)
    with Watch(tmp_path, FakeWeb(clock, two_subjects())) as crawl:
        assert crawl.crawler.topics.active
        assert topic_of(crawl).version == row.version


def used_background(crawl: Watch) -> None:
    """Let the crawler have seen two hundred pages of all sorts before."""
    from classifier.words.background import Background
    from classifier.words.text import weighted_terms

    background, draw = Background(), random.Random(5)
    every = [
        *WORDS["bridge"],
        *WORDS["soup"],
        *(f"th{a}{b}" for a in "abcdefghij" for b in "klmnopqrst"),
    ]
    for _ in range(205):
        subject = draw.sample(every, 24)
        lines = (" ".join([*draw.sample(subject, 5), *draw.sample(COMMON, 4)]) for _ in range(9))
        background.observe(weighted_terms(PageText("", body=". ".join(lines))))
    crawl.store.space.note("pages", json.dumps(background.to_json()), now=START)


def test_examples_that_disagree_are_warned_of(tmp_path: Path) -> None:
    soups = [f"{LIBRARY}soup-{number}" for number in range(2)]
    pages = two_subjects(**{url: story("soup", 60 + n) for n, url in enumerate(soups)})
    with watch_topic(tmp_path, pages, examples=[*EXAMPLES[:2], *soups]) as crawl:
        used_background(crawl)
        crawl.run(HOUR)
        (warning,) = [one for one in warnings_of(topic_of(crawl)) if "two topics?" in one]
        assert "library.example" in warning


def test_a_key_word_that_no_page_holds_is_warned_of(tmp_path: Path) -> None:
    with watch_topic(tmp_path, two_subjects(), keywords=["bridge", "brigde"]) as crawl:
        crawl.run(HOUR)
        (warning,) = [one for one in warnings_of(topic_of(crawl)) if "keyword" in one]
        assert "brigde" in warning


def test_topics_learn_again_when_much_more_was_seen(tmp_path: Path) -> None:
    """On the first day there was nothing to compare the examples with."""
    many = [(subject, number) for number in range(100, 120) for subject in WORDS]
    pages = two_subjects(**{address(*one): story(*one) for one in many})
    pages[HOME] = [(0, page()), (LATER, shown(*many))]
    with watch_topic(tmp_path, pages, settings=MANY_VERIFICATIONS) as crawl:
        crawl.run(3 * HOUR)
        before = topic_of(crawl)
        crawl.run(15 * HOUR)
        after = topic_of(crawl)
        assert (before.state, after.state) == ("ready", "ready")
        assert after.version != before.version
        assert after.changed_at == before.changed_at
        assert json.loads(crawl.store.space.noted("pages")[1])["pages"] >= 30


def small_news(count: int) -> dict[str, Any]:
    """A site that shows *count* stories on two subjects from LATER on."""
    many = [(subject, number) for number in range(100, 100 + count // 2) for subject in WORDS]
    pages = two_subjects(**{address(*one): story(*one) for one in many})
    pages[HOME] = [(0, page()), (LATER, shown(*many))]
    return pages


def run_until_judged(crawl: Watch, count: int) -> None:
    """Run by the minute until the topic has judged as many pages from their text."""
    for _ in range(24 * 60):
        judged = crawl.store.topics.counts().get(topic_of(crawl).id, {})
        if sum(judged.values()) - judged.get("guess", 0) >= count:
            return
        crawl.run(MINUTE)
    raise AssertionError(f"not {count} pages in a day")


def pages_learned_with(crawl: Watch, name: str = "bridges") -> int:
    """How many pages the stored model of a topic was trained beside."""
    model: int = json.loads(crawl.store.topics.model(topic_of(crawl, name).id))["pages"]
    return model


def rough(crawl: Watch, name: str = "bridges") -> bool:
    return "lacks.few_pages" in topic_of(crawl, name).warnings


def test_a_topic_that_began_without_pages_learns_again_after_a_restart(tmp_path: Path) -> None:
    """A restart counts neither as learning, nor anew."""
    pages, clock = small_news(36), SimulatedClock(START)
    with watch_topic(tmp_path, pages, settings=MANY_VERIFICATIONS) as crawl:
        clock = crawl.clock
        run_until_judged(crawl, 20)
        crawl.crawler.drain(clock.now())
    with Watch(tmp_path, FakeWeb(clock, pages), settings=MANY_VERIFICATIONS) as crawl:
        assert rough(crawl)
        run_until_judged(crawl, 31)
        assert not rough(crawl)


def test_a_topic_begun_on_a_young_site_learns_at_fifteen_and_thirty_pages(tmp_path: Path) -> None:
    """Another one, begun meanwhile by a command, learns from what was seen so far, and then with it."""
    with watch_topic(tmp_path, small_news(36), settings=MANY_VERIFICATIONS) as crawl:
        run_until_judged(crawl, 16)
        assert 15 <= pages_learned_with(crawl) <= 16
        begin(crawl.store, "soups", examples=(), keywords=["soup"], now=crawl.clock.now())
        TopicModelStore(crawl.store).learn(topic_of(crawl, "soups"))
        crawl.crawler.load(crawl.clock.now())
        assert 15 <= pages_learned_with(crawl, "soups") <= 16
        run_until_judged(crawl, 31)
        learned = [pages_learned_with(crawl, name) for name in ("bridges", "soups")]
        assert learned[0] == learned[1] >= 30
        assert not rough(crawl)
        assert not rough(crawl, "soups")


def test_the_first_topic_is_compared_with_the_pages_that_were_read_before_it(
    tmp_path: Path,
) -> None:
    pages = small_news(36)
    with Watch(tmp_path, FakeWeb(watch_clock(), pages), HOME, settings=MANY_VERIFICATIONS) as crawl:
        crawl.run(DAY)
        begin(crawl.store, "soups", examples=(), keywords=["soup"], now=crawl.clock.now())
        learned = TopicModelStore(crawl.store).learn(topic_of(crawl, "soups"))
        assert pages_learned_with(crawl, "soups") >= 30
        assert not rough(crawl, "soups")
        crawl.crawler.load(crawl.clock.now())
        assert topic_of(crawl, "soups").version == learned.version


def test_a_topic_that_a_command_trained_on_older_counts_learns_alone(tmp_path: Path) -> None:
    with watch_topic(tmp_path, small_news(70), settings=MANY_VERIFICATIONS) as crawl:
        run_until_judged(crawl, 40)
        before = topic_of(crawl).version
        begin(crawl.store, "soups", examples=(), keywords=["soup"], now=crawl.clock.now())
        counted = crawl.store.space.noted("pages")[1]
        older = json.dumps(Background(3).to_json())
        crawl.store.space.note("pages", older, now=START)
        TopicModelStore(crawl.store).learn(topic_of(crawl, "soups"))
        assert pages_learned_with(crawl, "soups") == 3
        crawl.store.space.note("pages", counted, now=START)
        crawl.crawler.load(crawl.clock.now())
        run_until_judged(crawl, 58)
        assert pages_learned_with(crawl, "soups") >= 40
        assert topic_of(crawl).version == before


def test_a_topic_is_explained_in_words_of_the_pages_that_it_judged(tmp_path: Path) -> None:
    """What it learned from them, it learned as stems."""
    pages = small_news(36)
    with Watch(tmp_path, FakeWeb(watch_clock(), pages), HOME, settings=MANY_VERIFICATIONS) as crawl:
        sentence = "Inspection of a viaduct"
        begin(crawl.store, "bridges", examples=(), keywords=(), description=sentence, now=START)
        crawl.crawler.load(START)
        run_until_judged(crawl, 31)
        crawl.crawler.drain(crawl.clock.now())
        facts = explain_topic(crawl.store, topic_of(crawl))
        written = {*WORDS["bridge"], *WORDS["soup"], *COMMON}
        assert len(facts["terms"]) > 5
        assert {one["word"] for one in facts["terms"]} <= written

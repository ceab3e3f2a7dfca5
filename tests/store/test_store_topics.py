"""Topics in the store: what they learn from, what they make of pages, and where they lead."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from stories import DAY, HOME, HOUR, START, news_site, seen, visit_of

from incremental.base.urls import canonical_key
from store import Store, open_store
from store.enums import ExampleOrigin
from store.topics.values import NewExample, PageScore
from store.values import TopicScore

STORY = HOME + "bridge"


def topic(store: Store, name: str = "bridges") -> int:
    return store.topics.add(name, ["bridge", "桥梁"], "fused", now=START)


def example(url: str = STORY, origin: str = "example", **fields: Any) -> NewExample:
    return NewExample(url, canonical_key(url), ExampleOrigin(origin), **fields)


def score(topic_id: int, url: str = STORY, **fields: Any) -> TopicScore:
    base = {"score": 0.8, "verdict": "relevant", "fetched": True, "method": "fused", "version": "1"}
    return TopicScore(canonical_key(url), topic_id, **{**base, **fields})


def announced(store: Store, *scores: TopicScore, at: float = START + HOUR) -> int:
    """Record a visit that tells the story with these scores; return the story's page id."""
    site, home = news_site(store)
    link = seen(STORY, fate="announce")
    store.write.visit(visit_of(site, home, at, link, topic_scores=scores))
    return int(store.read.find_page(STORY, "")[0]["id"])


def kept(store: Store, page_id: int) -> list[tuple[float, str, bool]]:
    return [(one.score, one.verdict, one.fetched) for one in store.topics.scores([page_id])]


def test_a_topic_begins_by_waiting(store: Store) -> None:
    topic(store)
    (row,) = store.topics.topics()
    assert (row.name, row.state, row.version) == ("bridges", "waiting", "")
    assert json.loads(row.keywords) == ["bridge", "桥梁"]
    assert store.topics.topic("bridges") == row
    assert store.topics.topic("rivers") is None


def test_adding_a_topic_again_changes_what_it_wants_and_keeps_what_it_learned(
    store: Store,
) -> None:
    first = topic(store)
    store.topics.put_examples(first, [example()], now=START)
    assert store.topics.add("bridges", ["span"], "vsm", now=START + 1) == first
    (row,) = store.topics.topics()
    assert (json.loads(row.keywords), row.method, row.changed_at) == (["span"], "vsm", START + 1)
    assert len(store.topics.examples(first)) == 1


def test_a_removed_topic_takes_all_that_is_its_own(store: Store) -> None:
    one = topic(store)
    page = announced(store, score(one))
    store.topics.put_examples(one, [example(due_at=START)], now=START)
    store.topics.remove(one)
    left: list[object] = [
        *store.topics.topics(),
        *store.topics.scores([page]),
    ]
    assert left == []
    assert store.topics.due_examples(START + 1e9) == []


def test_the_last_word_on_a_page_counts_and_its_text_stays(store: Store) -> None:
    one = topic(store)
    store.topics.put_examples(one, [example(text="{}", title="A bridge")], now=START)
    store.topics.put_examples(one, [example(origin="irrelevant")], now=START + 1)
    (row,) = store.topics.examples(one)
    assert (row.origin, row.text, row.title) == ("irrelevant", "{}", "A bridge")
    assert store.topics.topics()[0].changed_at == START + 1


def test_examples_are_due_in_order_and_put_off(store: Store) -> None:
    one = topic(store)
    for number in range(3):
        store.topics.put_examples(one, [example(f"{HOME}{number}", due_at=START + number)], now=0)
    due = store.topics.due_examples(START + 1)
    assert [row.url for row in due] == [f"{HOME}0", f"{HOME}1"]
    store.topics.update_example(due[0].id, due_at=None, status="fetched", text="{}")
    known = store.topics.example(due[0].id)
    assert known is not None
    assert (known.status, known.text) == ("fetched", "{}")


def test_what_topics_learn_from_is_counted(store: Store) -> None:
    one, two = topic(store), topic(store, "rivers")
    store.topics.put_examples(one, [example(), example(HOME + "x")], now=START)
    store.topics.put_examples(one, [example(HOME + "y", origin="irrelevant")], now=START)
    store.topics.put_examples(two, [example(origin="relevant")], now=START)
    assert store.topics.example_counts() == {
        one: {"example": 2, "irrelevant": 1},
        two: {"relevant": 1},
    }


def test_scores_come_with_the_visit_that_found_the_page(store: Store) -> None:
    one = topic(store)
    page = announced(store, score(one, terms=(("bridge", 0.51239), ("span", 0.2))))
    (row,) = store.topics.scores([page], one)
    assert (row.topic_id, row.score, row.at) == (one, 0.8, START + HOUR)
    assert json.loads(row.terms) == [["bridge", 0.5124], ["span", 0.2]]


def test_a_judgement_replaces_a_guess_and_never_the_other_way(store: Store) -> None:
    one = topic(store)
    guess = score(one, score=0.3, verdict="irrelevant", fetched=False)
    page = announced(store, guess)
    assert kept(store, page) == [(0.3, "irrelevant", False)]
    site = store.read.sites()[0].id
    store.topics.put_scores(site, [score(one)], now=START + 2 * HOUR)
    store.topics.put_scores(site, [guess], now=START + 3 * HOUR)
    assert kept(store, page) == [(0.8, "relevant", True)]


def test_a_refined_guess_replaces_a_guess_alone(store: Store) -> None:
    one, two = topic(store), topic(store, "rivers")
    guess = score(one, score=0.3, verdict="doubtful", fetched=False, method="links")
    page = announced(store, guess)
    site = store.read.sites()[0].id
    link = seen(HOME + "waits", verify_score=0.3, fate="verify", link_context="{}")
    store.write.add_pages(site, [link], now=START)
    waits = score(one, link.url, score=0.3, verdict="doubtful", fetched=False, method="links")
    store.topics.put_scores(site, [waits, score(two)], now=START)
    finer = [
        score(one, score=0.6, fetched=False, method="finer"),
        score(two, score=0.1, fetched=False, method="finer"),
        score(one, link.url, score=0.6, fetched=False, terms=((STORY, 0.5),)),
        score(one, HOME + "unknown", fetched=False),
        score(one + two, link.url, fetched=False),
    ]
    store.topics.refine_guesses(site, finer, now=START + DAY)
    assert sorted(kept(store, page)) == [(0.6, "relevant", False), (0.8, "relevant", True)]
    (row,) = store.read.find_page(link.url, "")
    assert row["verify_score"] == 0.6
    (refined,) = store.topics.scores([row["id"]])
    assert json.loads(refined.terms) == [[STORY, 0.5]]


def test_no_judgement_replaces_what_a_user_said(store: Store) -> None:
    one = topic(store)
    page = announced(store, score(one))
    site = store.read.sites()[0].id
    said = score(one, score=0.0, verdict="irrelevant", method="you")
    for each in (said, score(one)):
        store.topics.put_scores(site, [each], now=START + DAY)
    assert kept(store, page) == [(0.0, "irrelevant", True)]
    store.topics.put_scores(site, [score(one, score=1.0, method="you")], now=START + DAY)
    assert kept(store, page) == [(1.0, "relevant", True)]


def test_scores_of_pages_and_topics_that_are_gone_are_passed_over(store: Store) -> None:
    one = topic(store)
    page = announced(store, score(one), score(one + 5), score(one, HOME + "unknown"))
    assert len(store.topics.scores([page])) == 1


def test_announced_pages_are_counted_by_verdict(store: Store) -> None:
    one = topic(store)
    site, home = news_site(store)
    links = [seen(HOME + name, fate="announce") for name in "xyz"]
    older = seen(HOME + "old")  # was there before: no list of new pages shows it
    scores = [
        score(one, HOME + "x", verdict="doubtful"),
        score(one, HOME + "y", fetched=False),
        score(one, HOME + "z"),
        score(one, HOME + "old"),
    ]
    store.write.visit(visit_of(site, home, START + HOUR, *links, older, topic_scores=scores))
    assert store.topics.counts() == {one: {"relevant": 1, "doubtful": 1, "guess": 1}}


def test_a_removed_site_takes_the_scores_of_its_pages(store: Store) -> None:
    page = announced(store, score(topic(store)))
    store.write.remove_site(store.read.sites()[0].id)
    assert store.topics.scores([page]) == []


def test_pages_that_a_topic_never_judged_are_found_while_their_bodies_are_kept(
    store: Store,
) -> None:
    one, two = topic(store), topic(store, "rivers")
    page = announced(store, score(one))
    assert store.topics.unjudged(two, limit=9) == []
    store.write.update_page(page, body_md5="0" * 32, verified_at=START)
    site = store.read.sites()[0].id
    store.write.visit(visit_of(site, page, START + 2 * HOUR))
    (row,) = store.topics.unjudged(two, limit=9)
    assert (row.page_id, row.url, row.body_md5) == (page, STORY, "0" * 32)
    assert store.topics.unjudged(one, limit=9) == []
    assert store.topics.kept_pages(limit=9) == [row]
    assert store.topics.kept([9_999, page]) == [row]


def test_a_page_whose_body_was_never_kept_cannot_be_read_again(store: Store) -> None:
    assert store.topics.kept([announced(store, score(topic(store)))]) == []
    assert store.topics.kept([]) == []


def test_a_page_that_was_read_is_judged_before_it_is_announced(store: Store) -> None:
    """What another hub shows later may be announced long after a topic caught up."""
    one = topic(store)
    site, home = news_site(store)
    link = seen(STORY)
    store.write.visit(visit_of(site, home, START, link, seen(HOME + "unread")))
    page = int(store.read.find_page(STORY, "")[0]["id"])
    fields = {"body_md5": "0" * 32, "verified_at": START + HOUR}
    store.write.visit(visit_of(site, page, START + HOUR, links=None, page_fields=fields))
    assert [row.page_id for row in store.topics.unjudged(one, limit=9)] == [page]
    store.topics.put_scores(site, [score(one)], now=START + HOUR)
    assert store.topics.unjudged(one, limit=9) == []


def test_verifications_are_ordered_by_what_topics_expect_and_then_by_age(store: Store) -> None:
    site, home = news_site(store)
    expected = {"old": None, "low": 0.1, "high": 0.9, "lower": 0.05}
    for number, (path, value) in enumerate(expected.items()):
        link = seen(HOME + path, fate="verify", verify_score=value)
        store.write.visit(visit_of(site, home, START + number, link, keep_missing=True))

    def order(**how: bool) -> list[str]:
        rows = store.read.due_verifications(site, START + HOUR, limit=9, **how)
        return [row.url.removeprefix(HOME) for row in rows]

    assert order() == ["old", "low", "high", "lower"]
    assert order(likely_first=True) == ["high", "low", "lower", "old"]


def test_a_model_that_was_replaced_meanwhile_stays(store: Store) -> None:
    """The daemon's model moved, while a command taught the topic."""
    one = topic(store)
    store.topics.update(one, model="{}", version="taught")
    assert not store.topics.put_model(one, "[1]", "moved", before="old")
    assert store.topics.model(one) == "{}"
    assert store.topics.put_model(one, "[1]", "moved", before="taught")
    assert store.topics.model(one) == "[1]"
    assert store.topics.topics()[0].version == "moved"


def test_what_all_topics_compare_with_is_kept_by_name(store: Store) -> None:
    assert store.space.noted("pages")[1] == ""
    for text in ("{}", '{"pages": 2}'):
        store.space.note("pages", text, now=START)
    assert store.space.noted("pages")[1] == '{"pages": 2}'


def test_hostile_text_is_kept_as_the_database_takes_it(store: Store) -> None:
    one = topic(store, "a\0b")
    store.topics.put_examples(
        one, [example(title="\0" * 2_000, text='"\ud800"', due_at=None)], now=START
    )
    (row,) = store.topics.examples(one)
    assert (len(row.title), "\0" in row.title, row.text) == (500, False, '"\ufffd"')
    page = announced(store, score(one, terms=(("\0\udfff", 0.5),)))
    assert isinstance(store.topics.scores([page])[0], PageScore)


def test_another_connection_notices_what_becomes_of_a_topic(where: str, tmp_path: Path) -> None:
    with (
        open_store(where, cache_folder=tmp_path) as one,
        open_store(where, cache_folder=tmp_path) as two,
    ):
        seen = [one.read.generation()]
        number = topic(two)
        seen.append(one.read.generation())
        two.topics.put_examples(number, [example()], now=START + 1)
        seen.append(one.read.generation())
        two.topics.remove(number)
        seen.append(one.read.generation())
    assert all(before != after for before, after in pairwise(seen))

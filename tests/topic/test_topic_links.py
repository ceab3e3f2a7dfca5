"""Links are ordered before a fetch, and every fetched page teaches the order."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from topic_pages import give_feedback

from classifier.links.learned_order import LearnedOrder, LinkWeights
from classifier.links.memory import MAX_LINKS_PER_PAGE, LinkMemory
from classifier.links.places import key_of, places_of
from classifier.topic.model import TopicModel
from classifier.words.background import Background
from classifier.words.errors import TopicModelError
from classifier.words.text import weighted_terms
from classifier.words.values import LinkContext, PageText

BRIDGES = PageText(
    "https://a.example/bridges",
    title="Suspension bridges",
    body="A suspension bridge hangs its deck on cables. Bridge towers carry the cables.",
)


@pytest.fixture(scope="module")
def model() -> TopicModel:
    return TopicModel.learn([BRIDGES], ["bridge"], background=Background())


def _page(name: str, body: str = "") -> PageText:
    return PageText(f"https://a.example/{name}", body=body, language="en")


def _link(name: str, parent: str = "", anchor: str = "", score: float | None = None) -> LinkContext:
    parent_url = f"https://a.example/{parent}" if parent else ""
    return LinkContext(
        f"https://a.example/{name}", anchor, parent_url=parent_url, parent_score=score
    )


def _trained(scores: dict[str, float], links: dict[str, list[str]]) -> LearnedOrder:
    scorer = LearnedOrder()
    for name, score in scores.items():
        shown = [_link(target, name) for target in links.get(name, [])]
        scorer.observe(_page(name), (), shown, score)
    return scorer


def test_an_anchor_that_names_the_topic_comes_first(model: TopicModel) -> None:
    links = [_link("x", anchor="Cooking recipes"), _link("y", anchor="Cable bridges")]
    cooking, bridges = LearnedOrder().expect(links, model)
    assert 0 < cooking < bridges < 1


def test_links_of_relevant_pages_come_before_those_of_others(model: TopicModel) -> None:
    scorer = _trained({"good": 0.9, "bad": 0.1}, {"good": ["x"], "bad": ["y"]})
    from_good, from_bad = scorer.order([_link("x", "good"), _link("y", "bad")], model)
    assert from_good > from_bad


def test_all_known_parents_speak_not_only_the_one_that_is_asked_with(model: TopicModel) -> None:
    scores = {"g1": 0.9, "g2": 0.9, "g3": 0.8, "b1": 0.1, "b2": 0.2}
    scorer = _trained(scores, {"g1": ["x", "y"], "g2": ["x"], "g3": ["x"], "b1": ["y"]})
    many, mixed = scorer.order([_link("x", "g1"), _link("y", "g1")], model)
    assert many > mixed


def test_a_hub_that_led_to_relevant_pages_is_tunnelled_through(model: TopicModel) -> None:
    """The hub itself is off topic; what it shows is not."""
    shown = ["p1", "p2", "p3", "p4", "new1"]
    scorer = _trained({"hub": 0.1, "dull": 0.1, "other": 0.2}, {"hub": shown, "dull": ["new2"]})
    before = scorer.order([_link("new1", "hub")], model)[0]
    for name in shown[:4]:
        scorer.observe(_page(name), [_link(name, "hub")], [], 0.9)
    after, dull = scorer.order([_link("new1", "hub"), _link("new2", "dull")], model)
    assert after > before
    assert after > dull


def test_a_menu_link_of_every_page_gains_nothing_by_their_number() -> None:
    memory = LinkMemory()
    for number in range(40):
        score = 0.9 if number % 2 else 0.1
        own = "good" if number % 2 else "bad"
        memory.add(
            f"https://a.example/{number}",
            score,
            ["https://a.example/about", f"https://a.example/{own}"],
        )
    assert abs(memory.lift("https://a.example/about")) < 0.1
    assert memory.lift("https://a.example/good") > 1
    assert memory.lift("https://a.example/bad") < -1


def test_a_site_whose_pages_are_relevant_lifts_its_unknown_pages() -> None:
    memory = LinkMemory()
    for number in range(10):
        memory.add(f"https://good.example/{number}", 0.9, [])
        memory.add(f"https://bad.example/{number}", 0.1, [])
    assert memory.site("https://good.example/new") > 0 > memory.site("https://bad.example/new")
    assert memory.site("https://unknown.example/") == 0


def test_a_folder_whose_pages_are_relevant_lifts_its_unknown_pages() -> None:
    """Dates in between are no folders."""
    memory = LinkMemory()
    for day in range(10, 16):
        memory.add(f"https://a.example/2019/02/{day}/java/{day}", 0.9, [])
        memory.add(f"https://a.example/2019/02/{day}/life/{day}", 0.1, [])
    assert memory.folder("https://a.example/2024/12/01/java/new") > 0.2
    assert memory.folder("https://a.example/2024/12/01/life/new") < -0.2
    assert memory.folder("https://a.example/2024/12/01/other/new") == 0
    assert memory.folder("https://unknown.example/java/new") == 0


def test_the_places_of_a_page() -> None:
    java = places_of("https://A.example/2019/02/13/java/json.html")
    assert java == (key_of("a.example"), key_of("a.example/java"))
    assert places_of("https://a.example/java/json/") == java
    assert places_of("https://a.example/") == (key_of("a.example"),)
    assert places_of("") == places_of("https://[bad/x") == ()


def test_where_nearly_all_pages_are_good_none_counts_as_bad() -> None:
    memory = LinkMemory()
    for number in range(40):
        good = number % 10 != 0
        kind = "good" if good else "bad"
        memory.add(
            f"https://a.example/{number}", 0.9 if good else 0.1, [f"https://a.example/{kind}"]
        )
    assert memory.lift("https://a.example/good") > 0 > memory.lift("https://a.example/bad")


def test_the_words_of_relevant_pages_are_learned(model: TopicModel) -> None:
    scorer = LearnedOrder()
    link = _link("x", anchor="Viaduct")
    before = scorer.order([link], model)[0]
    for number in range(6):
        scorer.observe(
            _page(f"v{number}", "A viaduct is a long bridge. Viaduct arches."), (), [], 0.9
        )
        scorer.observe(_page(f"c{number}", "Recipes for soup and bread."), (), [], 0.1)
    assert scorer.order([link], model)[0] > before


def test_the_words_of_a_rejected_page_count_less_though_it_trained_on_them(
    model: TopicModel,
) -> None:
    scorer = LearnedOrder()
    page = _page("v", "A viaduct is a long bridge. Viaduct arches.")
    for number in range(6):
        scorer.observe(_page(f"v{number}", page.body), (), [], 0.9)
        scorer.observe(_page(f"c{number}", "Recipes for soup and bread."), (), [], 0.1)
    link = _link("x", anchor="Viaduct")
    before = scorer.order([link], model)[0]
    assert scorer.order([link], give_feedback(model, page, relevant=False))[0] < before


def test_a_parent_that_was_never_observed_counts_by_what_is_known(model: TopicModel) -> None:
    scorer = _trained({"good": 0.9, "bad": 0.1, "mid": 0.5}, {})
    likeness = [_link("x", "new", score=0.9), _link("y", "new", score=0.1), _link("z", "new")]
    high, low, unknown = scorer.order(likeness, model)
    assert high > unknown > low


def test_what_the_examples_say_counts_rather_than_the_judgement(model: TopicModel) -> None:
    """A judgement that was carried away by its feedback carries no crawl away."""
    scorer = LearnedOrder()
    near = _page("near", "Suspension bridges hang on cables between bridge towers.")
    far = _page("far", "Recipes for soup and bread.")
    scorer.observe(near, (), [_link("x", "near")], 0.1, model)
    scorer.observe(far, (), [_link("y", "far")], 0.9, model)
    from_near, from_far = scorer.order([_link("x", "near"), _link("y", "far")], model)
    assert from_near > from_far
    texts = [weighted_terms(near), weighted_terms(far)]
    (good, nearness), (bad, distance) = scorer.likeness(texts, model)
    assert 0 < bad < good < 1
    assert 0 <= distance < nearness < 1


def test_a_page_that_is_observed_again_gets_what_is_known_of_it_now(model: TopicModel) -> None:
    scorer = LearnedOrder()
    bridges, soup = "Suspension bridges hang on cables.", "Recipes for soup and bread."
    for words in ({"p": soup, "q": bridges}, {"p": bridges, "q": soup}):
        for name, text in words.items():
            scorer.observe(_page(name, text), (), [_link(f"of-{name}", name)], 0.5, model)
    of_p, of_q = scorer.order([_link("of-p", "p"), _link("of-q", "q")], model)
    assert of_p > of_q


def test_a_new_judgement_replaces_the_old_one(model: TopicModel) -> None:
    scorer = _trained({"p": 0.9, "q": 0.1, "r": 0.5}, {"p": ["x"], "q": ["y"]})
    scorer.revalue({"https://a.example/p": 0.1, "https://a.example/q": 0.9})
    first, second = scorer.order([_link("x", "p"), _link("y", "q")], model)
    assert second > first


def test_what_was_learned_survives_json(model: TopicModel) -> None:
    scorer = _trained({"good": 0.9, "bad": 0.1}, {"good": ["x", "bad"], "bad": ["y"]})
    links = [_link("x", "good", "Bridges"), _link("y", "bad", "Soup")]
    again = LearnedOrder.from_json(json.loads(json.dumps(scorer.to_json())))
    assert again.order(links, model) == pytest.approx(scorer.order(links, model), abs=1e-3)
    assert len(again.to_json()["memory"]["pages"]) == 2


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"memory": {"pages": [["x"]]}},
        {"memory": {"pages": []}, "words": {"pages": "x"}},
    ],
)
def test_damaged_json_is_refused(data: Any) -> None:
    with pytest.raises(TopicModelError):
        LearnedOrder.from_json(data)


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The older half goes, and what the younger half knew stays."""
    monkeypatch.setattr("classifier.links.memory.MAX_PAGES", 10)
    memory = LinkMemory()
    for number in range(11):
        targets = (f"https://a.example/{number}/{target}" for target in range(600))
        memory.add(f"https://a.example/{number}", number / 10, targets)
    assert len(memory) == 6
    assert memory.lift("https://a.example/0/1") == memory.lift("https://a.example/never")
    assert len(memory.to_json()["pages"][0][5]) == MAX_LINKS_PER_PAGE


_LINKS = st.lists(st.integers(0, 6), max_size=6)


@given(st.lists(st.tuples(st.integers(0, 6), st.floats(0, 1), _LINKS), max_size=12))
def test_any_crawl_gives_finite_promises(crawl: list[tuple[int, float, list[int]]]) -> None:
    memory = LinkMemory()
    for page, score, targets in crawl:
        memory.add(
            f"http://{page % 2}/{page}", score, [f"http://{one % 2}/{one}" for one in targets]
        )
    lifts = [memory.lift(f"http://{page % 2}/{page}") for page in range(7)]
    assert all(abs(lift) < 10 for lift in lifts)
    again = LinkMemory.from_json(json.loads(json.dumps(memory.to_json())))
    assert [again.lift(f"http://{page % 2}/{page}") for page in range(7)] == pytest.approx(
        lifts, abs=0.05
    )


def test_odd_links_have_promises_too(model: TopicModel) -> None:
    links = [
        LinkContext(""),
        LinkContext("http://[bad", anchor="\0 \ud800"),
        _link("x", anchor="桥梁"),
    ]
    assert all(0 < expected < 1 for expected in LearnedOrder().expect(links, model))


def test_what_is_expected_lies_on_the_scale_of_the_judgements(model: TopicModel) -> None:
    """Where nothing was ever judged relevant, no link is likely to be."""
    poor = _trained({f"p{n}": 0.02 * (n % 10) for n in range(40)}, {"p9": ["x"], "p0": ["y"]})
    rich = _trained({f"p{n}": 0.1 * (n % 10) for n in range(40)}, {"p9": ["x"], "p0": ["y"]})
    links = [_link("x", "p9", "Bridges"), _link("y", "p0")]
    assert max(poor.expect(links, model)) < 0.5
    assert rich.expect(links, model)[0] > 0.5 > rich.expect(links, model)[1]


def test_what_tells_good_links_apart_is_learned() -> None:
    """Here the anchor tells, and the parents tell nothing."""
    memory, weights = LinkMemory(), LinkWeights()
    lifted, named = (0.5, *[0.0] * 7), (0.0, 0.0, 0.5, *[0.0] * 5)
    before = weights.promise("q", named) - weights.promise("q", lifted)
    for number in range(60):
        good = number % 2 == 0
        url = f"https://a.example/{number}"
        weights.promise(url, (0.3 * (number % 3), 0.1, 0.6 * good, *[0.0] * 5))
        memory.add(url, 0.9 if good else 0.1, [])
        weights.learn(url, key_of(url), memory)
    again = LinkWeights.from_json(json.loads(json.dumps(weights.to_json())))
    after = again.promise("q", named) - again.promise("q", lifted)
    assert after > before


def test_the_best_parent_is_known_by_its_nearness() -> None:
    memory = LinkMemory()
    memory.add("https://a.example/near", 0.5, ["https://a.example/x"], likeness=(0.5, 0.4))
    memory.add("https://a.example/far", 0.5, ["https://a.example/x"], likeness=(0.5, 0.1))
    assert memory.best_nearness("https://a.example/x") == 0.4
    assert memory.best_nearness("https://a.example/y") == 0.0
    assert memory.best_nearness("https://a.example/y", "https://a.example/near") == 0.4

"""What the crawler knows of text in general: rarity, the sample, which words go together."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from make_topic_background import write_shares
from topic_pages import FIELDS, crawled_background, pages_of

from classifier.topic.model import TopicModel
from classifier.words.background import Background, read_shares, share_of
from classifier.words.concepts import Concepts
from classifier.words.errors import TopicModelError
from classifier.words.sample import PageSample
from classifier.words.text import weighted_terms
from classifier.words.values import PageText
from classifier.words.vectors import Vocabulary


def test_common_words_weigh_less_than_rare_ones_before_any_page_was_seen() -> None:
    background = Background()
    assert background.idf("year") < background.idf("galaxi") < background.idf("qqzx") + 1e-9
    assert background.idf("中国") < background.idf("望远镜")


def test_what_every_fetched_page_says_soon_weighs_little() -> None:
    background = Background()
    before = background.idf("galaxi")
    for _ in range(2_000):
        background.observe(["galaxi"])
    assert background.idf("galaxi") < before / 4


@given(st.lists(st.sets(st.sampled_from("abcdef")), max_size=20))
def test_rarity_is_positive(pages: list[set[str]]) -> None:
    background = Background()
    for page in pages:
        background.observe(page)
    for term in "abcdefxyz":
        assert background.idf(term) > 0


def test_a_background_survives_being_stored() -> None:
    background = crawled_background(per_field=12)
    read = Background.from_json(json.loads(json.dumps(background.to_json())))
    page = weighted_terms(pages_of("football", 1)[0])
    assert read.vector(page) == background.vector(page)
    assert read.sample.pages == background.sample.pages
    assert read.concepts is not None
    assert background.concepts is not None
    assert read.concepts.mark == background.concepts.mark


@pytest.mark.parametrize(
    "damage",
    [
        {"format": 99},
        {"pages": None},
        {"pages": "many"},
        {"counts": {"a": "often"}},
        {"counts": []},
        {"sample": None},
        {"sample": {"format": 1, "terms": [], "pages": [[[5], [1.0]]], "keys": [1], "ceiling": 2}},
        {"concepts": {"words": ["a"], "dimensions": 3, "vectors": "AAAA"}},
        {"concepts": "?"},
    ],
)
def test_a_damaged_background_is_refused(damage: dict[str, object]) -> None:
    data = {**crawled_background(per_field=12).to_json(), **damage}
    with pytest.raises(TopicModelError):
        Background.from_json(data)


def test_a_share_is_of_the_pages_of_the_languages_that_have_the_term(tmp_path: Path) -> None:
    write_shares(
        tmp_path, {"en": 10, "de": 30}, {"en": {"press": 5, "once": 1}, "de": {"press": 3}}
    )
    assert read_shares(tmp_path) == {"press": pytest.approx(8 / 40)}


def test_the_shipped_table_is_small_and_knows_common_words() -> None:
    assert share_of("market") > 0.05
    assert share_of("一种") > share_of("望远镜") > 0


def test_the_sample_stays_within_its_bound_whatever_comes() -> None:
    sample = PageSample(max_entries=100)
    for number in range(1_000):
        sample.add({f"term{number}": 1.0, "shared": 2.0})
    assert 10 <= len(sample) <= 50


@given(st.permutations(range(40)))
def test_the_sample_does_not_depend_on_the_order_of_the_pages(order: list[int]) -> None:
    """Nor does a page that is fetched twice count twice."""
    one, other = PageSample(max_entries=60), PageSample(max_entries=60)
    for number in range(40):
        one.add({f"term{number}": 1.0, "x": 1.0})
    for number in [*order, *order]:
        other.add({f"term{number}": 1.0, "x": 1.0})
    shared = [page for page in one.pages if page in other.pages]
    assert shared in (one.pages, other.pages)


def test_words_of_one_field_lie_together() -> None:
    """As many dimensions as there are fields: with more, every word is a concept of its own."""
    concepts = crawled_background().concepts
    assert concepts is not None
    striker, keeper, oven = (
        concepts.of_terms(Vocabulary({word: 0}))[0, : len(FIELDS)]
        for word in ("striker", "keeper", "oven")
    )
    assert striker @ keeper > 2 * abs(striker @ oven)


def article(number: int) -> PageText:
    """An article of 150 words, a few of them common, on nothing in particular."""
    draw = random.Random(number)
    ranks = (int(draw.paretovariate(0.6)) % 4_000 for _ in range(150))
    letters = ("".join(chr(97 + int(digit)) for digit in str(rank)) for rank in ranks)
    return PageText(f"https://site.example/{number}", body=" ".join(f"w{one}" for one in letters))


def test_new_articles_are_no_nearer_to_a_topic_than_those_that_concepts_were_learned_from() -> None:
    background = Background()
    for number in range(120):
        background.observe(weighted_terms(article(number)))
    background.learn_concepts()
    model = TopicModel.learn([article(number) for number in range(500, 503)], background=background)
    known, new = (
        model.fit.scores(model.batch([weighted_terms(article(one)) for one in numbers]))
        for numbers in (range(60), range(200, 260))
    )
    assert new.mean() == pytest.approx(known.mean(), abs=0.5)
    assert (new >= model.fit.decision.value).mean() < 0.3


def test_too_few_pages_show_no_concepts() -> None:
    background = crawled_background(per_field=2)
    assert background.concepts is None
    assert not background.learn_concepts()
    assert Concepts.learn({}) is None

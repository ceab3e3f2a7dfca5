"""Small pages of plain topics, made of word lists: what they are about is beyond doubt."""

import random
from collections.abc import Sequence
from dataclasses import replace

from classifier.topic.model import TopicModel
from classifier.words.background import Background
from classifier.words.evidence import MAX_TERMS
from classifier.words.text import weighted_terms
from classifier.words.values import PageText
from classifier.words.vectors import truncated

FIELDS = {
    "football": "football match goal striker referee league stadium penalty coach defender keeper cup",
    "cooking": "recipe oven butter flour dough sugar boil sauce onion garlic simmer pastry whisk",
    "astronomy": "galaxy telescope star orbit planet comet nebula eclipse lunar cosmic observatory",
    "banking": "loan interest bank credit deposit mortgage inflation currency investor stock dividend",
    "gardening": "soil seed compost prune rose lawn shrub mulch greenhouse harvest tulip watering",
    "music": "violin orchestra melody concert symphony piano composer chorus guitar rhythm opera",
}
EVERYDAY = "city school train window winter street morning letter family market bridge story"


def text_page(field: str, number: int, words: int = 30) -> PageText:
    """The n-th page of a field: half of its words are everyday ones."""
    draw = random.Random(f"{field}/{number}")
    own, common = FIELDS[field].split(), EVERYDAY.split()
    body = " ".join(
        draw.choice(own) if draw.random() < 0.5 else draw.choice(common) for _ in range(words)
    )
    return PageText(f"https://site.example/{field}/{number}", title=draw.choice(own), body=body)


def pages_of(field: str, count: int, start: int = 0) -> list[PageText]:
    """Pages of one field."""
    return [text_page(field, number) for number in range(start, start + count)]


def crawled_background(per_field: int = 40, fields: Sequence[str] = tuple(FIELDS)) -> Background:
    """A background that saw pages of all fields, and learned which words go together."""
    background = Background()
    for field in fields:
        for page in pages_of(field, per_field, start=1_000):
            background.observe(weighted_terms(page))
    background.learn_concepts()
    return background


def give_feedback(model: TopicModel, page: PageText, *, relevant: bool) -> TopicModel:
    """What a model becomes when a user corrects it: learned again from what it knew, and this page."""
    terms = truncated(weighted_terms(page), MAX_TERMS)
    known = model.evidence
    evidence = replace(
        known,
        judged=tuple(one for one in known.judged if one != terms),
        relevant=(*known.relevant, terms) if relevant else known.relevant,
        irrelevant=known.irrelevant if relevant else (*known.irrelevant, terms),
    )
    return TopicModel._fitted(model.method, evidence, model.background, model.tree)

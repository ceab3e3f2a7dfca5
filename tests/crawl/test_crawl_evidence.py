"""What the classifier judges by is the same for the crawler and for people who ask why."""

from pathlib import Path

import pytest
from fake_web import DAY, HOUR, START, page, watch

from classifier.hub.classifier import load_default
from incremental.crawl.site_evidence import read_context
from incremental.decide.hubs import score_targets
from incremental.interfaces.explain.hub import explain_hub
from incremental.topics.training.corrections import correct
from store.values import SeenLink

HOME = "https://news.example/"
SECTION = HOME + "sport/"
STORY = "A story that is announced at some length. " * 30


def site() -> dict[str, object]:
    """Home page, section, page of the section; a second story comes when the first was read."""
    first, second = "/sport/story-one.html", "/sport/story-two.html"
    return {
        HOME: page("/sport/", "/about.html"),
        SECTION: [
            (0, page("/sport/old.html")),
            (START + 6 * HOUR, page("/sport/old.html", first)),
            (START + 3 * DAY, page("/sport/old.html", first, second)),
        ],
        HOME + "sport/story-one.html": page(text=STORY),
        HOME + "sport/story-two.html": page(text=STORY),
    }


@pytest.mark.parametrize("said", [None, "hub", "article"])
def test_the_crawler_and_the_explanation_give_the_same_probability(
    tmp_path: Path, said: str | None
) -> None:
    """What users said of pages of the same form bears on both."""
    classifier = load_default()
    with watch(tmp_path, site(), scorer=classifier) as crawl:
        crawl.run(2 * DAY)
        store = crawl.store
        if said is not None:
            for name in ("one", "two", "three", "four"):
                correct(store, HOME + f"sport/story-{name}.html", said, now=crawl.clock.now())
        unseen = SeenLink(HOME + "sport/tale-five.html", HOME + "sport/tale-five.html", "")
        [row] = store.read.sites()
        context = read_context(store, row.id, crawl.clock.now())
        [decided] = score_targets([unseen], classifier, context).values()
        announced = explain_hub(store, None, unseen.url)
    assert announced["site_probability"] == pytest.approx(decided, abs=1e-4)
    if said is not None:
        assert (announced["site_probability"] > announced["probability"]) == (said == "hub")

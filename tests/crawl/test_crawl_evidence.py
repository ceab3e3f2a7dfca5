"""What the classifier is announced beside an address: steps from the seed, and the size of pages like it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from fake_web import DAY, HOUR, START, FolderScorer, Scored, feed, page, watch

from classifier.hub import LinkEvidence, load_default
from incremental.crawl.site_evidence import read_context
from incremental.decide.hubs import score_targets
from incremental.interfaces.explain.hub import explain_hub
from incremental.topics.training.corrections import correct
from store.values import SeenLink

HOME = "https://news.example/"
SECTION = HOME + "sport/"
STORY = "A story that is announced at some length. " * 30


class Listener(FolderScorer):
    """Remembers what it was asked, the last for each URL."""

    def __init__(self) -> None:
        self.links: dict[str, LinkEvidence] = {}
        self.pages: dict[str, LinkEvidence] = {}

    def score(self, links: Sequence[LinkEvidence]) -> list[float]:
        self.links |= {link.url: link for link in links}
        return super().score(links)

    def score_page(self, link: LinkEvidence, _page: str | tuple[float, ...]) -> Scored:
        self.pages[link.url] = link
        return Scored(0.9)


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


def test_a_link_carries_the_steps_by_which_it_was_found(tmp_path: Path) -> None:
    scorer = Listener()
    with watch(tmp_path, site(), scorer=scorer) as crawl:
        crawl.run(2 * DAY)
        assert scorer.links[SECTION].crawl_depth == 1
        assert scorer.links[HOME + "sport/old.html"].crawl_depth == 2
        read = crawl.store.read
        [home], [old] = (
            [row["id"] for row in read.find_page(url, "")]
            for url in (HOME, HOME + "sport/old.html")
        )
        assert (read.crawl_depth(home), read.crawl_depth(old)) == (0, 2)
        assert read.crawl_depth(9_999) is None


def test_a_page_that_is_read_has_its_own_size_and_depth(tmp_path: Path) -> None:
    scorer, pages = Listener(), site()
    pages[HOME + "x/"] = body = page("/x/1.html", "/x/2.html", "/x/3.html")
    pages[HOME] = page("/sport/", "/x/")
    with watch(tmp_path, pages, scorer=scorer) as crawl:
        crawl.run(DAY)
    read = scorer.pages[HOME + "x/"]
    assert (read.page_bytes, read.crawl_depth) == (len(body.encode()), 1)


def test_a_new_link_has_the_size_of_pages_like_it_once_some_were_read(tmp_path: Path) -> None:
    scorer = Listener()
    with watch(tmp_path, site(), scorer=scorer) as crawl:
        crawl.run(5 * DAY)
        [one] = crawl.store.read.find_page(HOME + "sport/story-one.html", "")
        size = crawl.store.read.page_size(one["id"])
    assert scorer.links[HOME + "sport/story-one.html"].page_bytes is None
    assert size is not None
    assert scorer.links[HOME + "sport/story-two.html"].page_bytes == size > 1_000


def test_what_no_page_showed_is_one_step_from_the_seed(tmp_path: Path) -> None:
    """A feed at its usual place; what it lists is one step further."""
    pages = {HOME: page("/a.html"), HOME + "feed.xml": feed(("/b.html", "B"))}
    with watch(tmp_path, pages) as crawl:
        crawl.run(DAY)
        read = crawl.store.read
        rows = {url: read.find_page(HOME + url, "") for url in ("feed.xml", "b.html")}
        depths = {url: read.crawl_depth(row[0]["id"]) for url, row in rows.items() if row}
    assert depths == {"feed.xml": 1, "b.html": 2}


def test_anchor_size_and_depth_of_such_a_link_are_known(tmp_path: Path) -> None:
    """Paper 003's features need nothing else that an address does not show."""
    scorer = Listener()
    with watch(tmp_path, site(), scorer=scorer) as crawl:
        crawl.run(5 * DAY)
    link = scorer.links[HOME + "sport/story-two.html"]
    assert link.anchor
    assert link.crawl_depth == 2
    assert link.page_bytes


def test_an_explanation_tells_size_and_depth(tmp_path: Path) -> None:
    with watch(tmp_path, site()) as crawl:
        crawl.run(2 * DAY)
        announced = explain_hub(crawl.store, None, HOME + "sport/story-one.html")
    assert announced["crawl_depth"] == 2
    assert announced["page_bytes"] > 1_000


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

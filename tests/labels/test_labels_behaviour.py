"""What a page does over its visits writes its label, on simulated time."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from fake_web import DAY, START, Content, FolderScorer, Versions, Watch, feed, page, watch

from classifier.hub import LinkEvidence
from incremental.base.urls import canonical_key
from incremental.topics.training.nightly_training import observe
from store.enums import LabelOrigin

HOME = "https://news.example/"
TAG = HOME + "tag/"


def growing(days: int, *always: str, since: int = 1, each: int = 1) -> list[tuple[float, Content]]:
    """A list on which *each* more stories stand every day from day *since* on."""
    counts = [max(day - since + 1, 0) * each for day in range(days)]
    versions = [[f"/story-{n}.html" for n in reversed(range(count))] for count in counts]
    return [(START + day * DAY, page(*always, *links)) for day, links in enumerate(versions)]


def said(crawl: Watch) -> dict[str, str]:
    """Let behaviour write its labels, and return those that it wrote."""
    observe(crawl.store, crawl.clock.now())
    return {one.url: one.label for one in crawl.store.read.labels(LabelOrigin.BEHAVIOUR)}


def test_a_page_that_keeps_bringing_links_is_a_hub(tmp_path: Path) -> None:
    with watch(tmp_path, {HOME: page("/tag/"), TAG: growing(9, "/old.html")}) as crawl:
        assert said(crawl.run(1.5 * DAY)) == {}
        assert said(crawl.run(5 * DAY)) == {TAG: "hub"}


def test_a_page_that_always_comes_second_is_a_hub_all_the_same(tmp_path: Path) -> None:
    """The home page is first to show each story and gets the credit of the news; the tag shows them, too."""
    home, later = growing(20, "/tag/"), growing(20, "/old.html", since=2)
    with watch(tmp_path, {HOME: home, TAG: later}) as crawl:
        crawl.run(19 * DAY)
        hub = crawl.hub(TAG)
        assert hub is not None
        assert hub.new_pages == 0
        assert said(crawl) == {HOME: "hub", TAG: "hub"}


def test_one_burst_is_not_enough(tmp_path: Path) -> None:
    once = [
        (0, page("/old.html")),
        (START + DAY, page("/old.html", "/a.html", "/b.html", "/c.html")),
    ]
    with watch(tmp_path, {HOME: page("/tag/"), TAG: once}) as crawl:
        assert said(crawl.run(12 * DAY)) == {}


class Doubtful(FolderScorer):
    """Takes folders for hubs, but is not sure of it."""

    def score(self, links: Sequence[LinkEvidence]) -> list[float]:
        return [0.6 if score > 0.5 else score for score in super().score(links)]


def busy_site(silent: Versions, days: int = 32) -> dict[str, Versions]:
    """A site with six lists that bring news, and a page that may not."""
    lists = [f"{HOME}list-{n}/" for n in range(6)]
    pages: dict[str, Versions] = {HOME: page("/tag/", *lists), TAG: silent}
    return pages | {url: growing(days, f"/old-{n}.html") for n, url in enumerate(lists)}


@pytest.mark.parametrize(("days", "label"), [(12, None), (30, "article")])
def test_a_page_that_is_silent_long_among_others_that_are_not_is_none(
    tmp_path: Path, days: int, label: str | None
) -> None:
    """The home page is as silent, but a seed is what the user wants watched."""
    with watch(tmp_path, busy_site(page("/only-here.html")), scorer=Doubtful()) as crawl:
        labels = said(crawl.run(days * DAY))
        assert (labels.get(TAG), labels.get(HOME)) == (label, None)
        assert labels[HOME + "list-0/"] == "hub"


def test_silence_says_nothing_on_a_quiet_site(tmp_path: Path) -> None:
    """On a blog that writes once a year, its tags are lists all the same."""
    tags = [f"{HOME}tag-{n}/" for n in range(9)]
    pages = {HOME: page(*tags), **{url: page(f"/only-{n}.html") for n, url in enumerate(tags)}}
    with watch(tmp_path, pages, scorer=Doubtful()) as crawl:
        assert said(crawl.run(40 * DAY)) == {}


def test_a_page_that_wakes_up_loses_its_label_and_then_gets_the_other(tmp_path: Path) -> None:
    waking = growing(50, "/only-here.html", since=30, each=2)
    with watch(tmp_path, busy_site(waking), scorer=Doubtful()) as crawl:
        seen = [said(crawl.run(DAY)).get(TAG) for _ in range(48)]
    changes = [label for label, before in zip(seen[1:], seen, strict=False) if label != before]
    assert changes in (["article", None, "hub"], ["article", "hub"])


def test_what_stands_in_the_frame_of_every_page_makes_no_hub(tmp_path: Path) -> None:
    """A box with the latest stories stands on twelve pages that bring nothing themselves."""
    urls = [f"{HOME}page-{n}/" for n in range(12)]
    pages: dict[str, Versions] = {HOME: growing(9, *urls)}
    pages |= {url: growing(9, f"/only-{n}.html") for n, url in enumerate(urls)}
    with watch(tmp_path, pages) as crawl:
        assert set(said(crawl.run(8 * DAY))) <= {HOME}


def test_links_to_other_hubs_and_old_pages_are_no_news(tmp_path: Path) -> None:
    """A box of proposals shows another old story each day."""
    stories = [f"/old-{n}.html" for n in range(30)]
    boxes = [
        (START + n * DAY, page("/only-here.html", stories[n % 30], f"/section-{n}/"))
        for n in range(30)
    ]
    pages: dict[str, Versions] = {HOME: page("/tag/", *stories), TAG: boxes}
    pages |= {f"{HOME}section-{n}/": page("/only-here.html", stories[n]) for n in range(30)}
    with watch(tmp_path, pages) as crawl:
        assert said(crawl.run(10 * DAY)).get(TAG) != "hub"


def test_feeds_get_no_label(tmp_path: Path) -> None:
    """They are found by what pages name, not by their addresses."""
    head = '<link rel="alternate" type="application/rss+xml" href="/feed/">'
    items = [
        (START + n * DAY, feed(*((f"{HOME}s-{m}.html", "") for m in range(n)))) for n in range(9)
    ]
    pages: dict[str, Versions] = {HOME: page(head=head), HOME + "feed/": items}
    pages |= {f"{HOME}s-{n}.html": page(text="A story. " * 99) for n in range(9)}
    with watch(tmp_path, pages) as crawl:
        crawl.run(8 * DAY)
        assert len(crawl.new()) > 3
        assert said(crawl) == {}


def test_saying_it_again_is_no_new_label(tmp_path: Path) -> None:
    with watch(tmp_path, {HOME: page("/tag/"), TAG: growing(9, "/old.html")}) as crawl:
        crawl.run(6 * DAY)
        counts: Sequence[int] = [observe(crawl.store, crawl.clock.now()) for _ in range(3)]
        assert counts == [1, 0, 0]
        assert [one.canonical_key for one in crawl.store.read.labels()] == [canonical_key(TAG)]

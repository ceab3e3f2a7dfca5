"""Candidates: what looks like a list is tried a few of a form at a time."""

from collections.abc import Sequence
from pathlib import Path

from fake_web import DAY, HOUR, MINUTE, START, Scored, page, watch

from classifier.hub import LinkEvidence
from incremental.decide.address_forms import form_of
from incremental.decide.hubs import NEVER_THERE
from store.enums import HubRole, PageState
from store.rules import Rule

HOME = "https://news.example/"
STORIES = [f"/name-{word}/" for word in "abcdefghijklmnopqrstuvwxyz"]
SECTIONS = ["/sport/", "/culture/"]


class Fooled:
    """Takes every folder for a list, until it is read."""

    version = "fooled"

    def score(self, links: Sequence[LinkEvidence]) -> list[float]:
        return [0.7 if link.url.endswith("/") else 0.1 for link in links]

    def score_page(self, link: LinkEvidence, *_: object) -> Scored:
        return Scored(0.9 if link.url.endswith(("/sport/", "/culture/")) else 0.1)


def site() -> dict[str, object]:
    pages: dict[str, object] = {HOME: page(*SECTIONS, *STORIES)}
    pages |= {HOME.rstrip("/") + story: page("/", title=story) for story in STORIES}
    pages |= {
        HOME.rstrip("/") + section: [
            (0, page(f"{section}one.html")),
            (START + 12 * HOUR, page(f"{section}two.html", f"{section}one.html")),
        ]
        for section in SECTIONS
    }
    return pages


def test_after_three_articles_the_others_of_their_form_are_not_read_as_lists(
    tmp_path: Path,
) -> None:
    """A weblog whose articles stand at ``/some-name/`` would be read whole, at the cost of its first days."""
    with watch(tmp_path, site(), scorer=Fooled()) as crawl:
        crawl.run(DAY)
        asked = set(crawl.web.urls())
        read = [path for path in STORIES if HOME.rstrip("/") + path in asked]
        assert 3 <= len(read) <= 6
        assert crawl.store.read.candidates(1) == {}
        lists = {hub.url for hub in crawl.store.read.hubs(1) if hub.role == HubRole.LIST}
        assert lists == {HOME.rstrip("/") + section for section in SECTIONS}


def test_lists_of_another_form_stay_and_announce(tmp_path: Path) -> None:
    with watch(tmp_path, site(), scorer=Fooled()) as crawl:
        crawl.run(3 * DAY)
        assert sorted(crawl.new()) == ["/culture/two.html", "/sport/two.html"]


def test_once_one_of_them_is_a_list_the_others_of_its_form_do_not_wait(tmp_path: Path) -> None:
    """A site with many sections would otherwise be known an hour later."""
    sections = [f"/section-{word}/" for word in "abcdefghij"]
    pages: dict[str, object] = {HOME: page(*sections)}
    pages |= {HOME.rstrip("/") + one: page(f"{one}x.html") for one in sections}
    with watch(tmp_path, pages) as crawl:
        crawl.run(HOUR / 2)
        assert {HOME.rstrip("/") + one for one in sections} <= set(crawl.web.urls())


def test_a_few_of_each_form_are_read_before_the_others(tmp_path: Path) -> None:
    """With one request a while, the sections come among the first."""
    with watch(tmp_path, site(), scorer=Fooled()) as crawl:
        crawl.run(MINUTE)
        due = {hub.url: hub.due_at for hub in crawl.store.read.hubs(1)}
        late = max(due[HOME.rstrip("/") + section] for section in SECTIONS)
        stories = sorted(due.get(HOME.rstrip("/") + path, 0.0) for path in STORIES)
        assert sum(at <= late for at in stories) <= 3
        assert stories[-1] >= late + HOUR / 2


def test_after_ten_lists_that_never_were_the_others_of_their_place_are_not_asked_for(
    tmp_path: Path,
) -> None:
    """The theme of a recorded weblog linked to a hundred categories that nobody had made."""
    tags = [f"/tags/{one}{two}/" for one in "abcdef" for two in "ghijkl"]
    with watch(tmp_path, {HOME: page(*tags)}, scorer=Fooled()) as crawl:
        crawl.run(2 * DAY)
        asked = [url for url in crawl.web.urls() if "/tags/" in url]
        assert len(asked) == NEVER_THERE
        assert crawl.store.read.candidates(1) == {}
        (row,) = crawl.store.read.find_page(HOME + tags[-1][1:], "")
        assert (row["rule"], row["state"]) == (Rule.NEVER_THERE, PageState.GONE)


def test_what_was_withdrawn_says_why(tmp_path: Path) -> None:
    with watch(tmp_path, site(), scorer=Fooled()) as crawl:
        crawl.run(DAY)
        (row,) = crawl.store.read.find_page(HOME + "name-z/", "//news.example/name-z")
        assert row["rule"] == "like_articles"


def test_forms() -> None:
    """A name before a slash is blanked; one word is another form than several."""
    same = ("https://a.org/some-name/", "https://a.org/other-name/")
    assert len({form_of(url) for url in same}) == 1
    assert form_of("https://a.org/news/") == form_of("https://a.org/about/")
    assert form_of("https://a.org/news/") != form_of(same[0])
    assert form_of("https://a.org/2024/05/") == "a.org/0/0/"
    assert form_of("https://a.org/") == "a.org/"
    assert form_of("https://a.org/x/name/?page=2") == "a.org/x/*/?page"
    assert form_of("https://a.org/x/name.html") == "a.org/x/*.html"

"""A bug in the work on one page, site or topic: noted with its trace, while everything else goes on."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fake_web import DAY, HOUR, START, FakeWeb, FolderScorer, Reply, Watch, page, watch
from lab.clocks import SimulatedClock
from topic_web import NEW, topic_of, two_subjects, verdicts, watch_topic

import store.crawl.quarantine
from classifier.hub.evidence import LinkEvidence
from incremental.crawl.upkeep import Upkeep
from incremental.topics.active_topic import ActiveTopic
from store.crawl.record import Recorder
from store.models import Page
from store.values import VisitRecord

SICK, WELL = "https://sick.example/", "https://well.example/"
POISON = SICK + "poison.html"
HOME = "https://news.example/"


class Squeamish(FolderScorer):
    """A classifier with a bug: it cannot bear one address."""

    cured = False

    def score(self, links: Sequence[LinkEvidence]) -> list[float]:
        if not self.cured and any(link.url == POISON for link in links):
            raise KeyError("poison")
        return super().score(links)


class Squeamer(Recorder):
    """A recorder with a bug: it cannot write of one page."""

    cured = False

    def visit(self, record: VisitRecord, *more: Any, **others: Any) -> list[int]:
        row = self._known_page(record.page_id)
        if not self.cured and row == POISON:
            raise ZeroDivisionError
        return super().visit(record, *more, **others)

    def _known_page(self, page_id: int) -> str | None:
        url: str | None = self._scalar(Page.select(Page.url).where(Page.id == page_id))
        return url


def two_sites(*sick: str) -> dict[str, Any]:
    """Two sites that bring a page a day; the first shows the *sick* links from the second day on."""
    pages: dict[str, Any] = {}
    for home, more in ((SICK, sick), (WELL, ())):
        shown = [f"/day-{n}.html" for n in range(8)]
        pages[home] = [
            (START + n * DAY if n else 0, page(*shown[: n + 1], *(more if n else ())))
            for n in range(8)
        ]
        pages |= {home + one[1:]: page(title=one, text="Words. " * 90) for one in shown}
    return pages | {POISON: page(title="Poison", text="Words. " * 90)}


def upgraded(crawl: Watch, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Return the next version of Hubwatch on the same store."""
    monkeypatch.setattr(store.crawl.quarantine, "version", lambda _: "99.0")
    return Watch(folder, crawl.web)


def announced_of(crawl: Watch) -> dict[str, int]:
    sites = {row.id: row.seed_url for row in crawl.store.read.sites()}
    counts = crawl.store.read.site_totals()
    return {seed: counts[key]["new_pages"] for key, seed in sites.items()}


def test_a_bug_in_judging_a_list_stops_that_list_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with watch(tmp_path, two_sites("/poison.html"), SICK, WELL, scorer=Squeamish()) as crawl:
        crawl.run(6.5 * DAY)
        assert announced_of(crawl) == {SICK: 0, WELL: 6}
        (row,) = crawl.store.quarantine.entries()
        assert (row.kind, row.purpose, row.error) == ("page", "hub", "KeyError: 'poison'")
        assert "Squeamish" in row.trace or "test_crawl_quarantine.py" in row.trace
        assert crawl.store.quarantine.urls([row]) == {row.id: SICK}
        statuses = crawl.statuses(SICK)
        assert statuses[0] == "fetched"
        assert set(statuses[-3:]) == {"internal_error"}
        assert statuses.count("internal_error") <= 60, "it is tried again, with pauses"
    with upgraded(crawl, tmp_path, monkeypatch) as fixed:
        assert fixed.store.quarantine.entries() == []
        fixed.run(HOUR)
        assert announced_of(fixed)[SICK] == 7
        assert "/poison.html" in fixed.new()


def test_a_bug_in_recording_a_page_leaves_the_others_of_its_site(tmp_path: Path) -> None:
    with watch(tmp_path, two_sites("/poison.html"), SICK, WELL) as crawl:
        squeamish = Squeamer(crawl.store.database, crawl.store.where, crawl.store.cache)
        vars(crawl.store)["write"] = squeamish
        crawl.run(6.5 * DAY)
        assert announced_of(crawl) == {SICK: 6, WELL: 6}
        (row,) = crawl.store.quarantine.entries()
        assert (row.purpose, row.error) == ("verify", "ZeroDivisionError")
        assert row.times >= 2
        assert crawl.web.urls().count(POISON) < 15, "ever longer pauses"
        squeamish.cured = True
        crawl.run(8 * DAY)
        assert "/poison.html" in crawl.new()
        assert crawl.store.quarantine.entries() == []


def test_a_bug_in_reading_a_body_counts_as_a_failed_visit(tmp_path: Path) -> None:
    pages = two_sites()

    class Breaking(FakeWeb):
        def _reply(self, url: str) -> Reply:
            if url == WELL and self.clock.now() > START + 2 * DAY:
                raise LookupError("no such thing")
            return super()._reply(url)

    web = Breaking(SimulatedClock(START), pages)
    with Watch(tmp_path, web, SICK, WELL) as crawl:
        crawl.run(6.5 * DAY)
        assert announced_of(crawl)[SICK] == 6
        (row,) = crawl.store.quarantine.entries()
        assert row.error == "LookupError: no such thing"
        assert crawl.statuses(WELL)[-1] == "internal_error"


def test_a_site_whose_row_is_broken_waits_and_the_others_go_on(tmp_path: Path) -> None:
    with watch(tmp_path, two_sites(), SICK, WELL) as crawl:
        crawl.run(DAY / 2)
        sick = crawl.store.read.sites()[0]
        crawl.store.write.update_site(sick.id, revisit="{", budget=sick.budget)
    with Watch(tmp_path, crawl.web) as again:
        again.run(3 * DAY)
        (row,) = again.store.quarantine.entries()
        assert (row.kind, row.key) == ("site", str(sick.id))
        assert "DecodeError" in row.error
        assert announced_of(again) == {SICK: 0, WELL: 3}
        again.store.write.update_site(sick.id, revisit="{}")
        again.run(4 * DAY)
        assert announced_of(again)[SICK] > 3
        assert again.store.quarantine.entries() == []


def test_a_topic_with_a_bug_keeps_no_page_from_being_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with watch_topic(tmp_path, two_subjects()) as crawl:
        judge = ActiveTopic.judge

        def broken(*_: Any, **__: Any) -> Any:
            raise IndexError("a bug")

        monkeypatch.setattr(ActiveTopic, "judge", broken)
        crawl.run(2 * DAY)
        assert len(crawl.new()) >= len(NEW)
        assert verdicts(crawl, NEW) == {}
        (row,) = crawl.store.quarantine.entries()
        assert (row.kind, row.key) == ("topic", str(topic_of(crawl).id))
        monkeypatch.setattr(ActiveTopic, "judge", judge)
        crawl.run(7 * DAY)
        while crawl.crawler.topics.catch_up(crawl.clock.now()):
            pass
        assert len(verdicts(crawl, NEW)) == len(NEW)
        assert crawl.store.quarantine.entries() == []


def test_a_bug_in_what_follows_a_page_that_robots_txt_denies_holds_up_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is announced all the same, once, and the site goes on."""
    after = Upkeep.after

    def with_bug(self: Upkeep, url: str, *others: Any, **named: Any) -> None:
        if "/secret/" in url:
            raise ValueError("a bug")
        after(self, url, *others, **named)

    monkeypatch.setattr(Upkeep, "after", with_bug)
    stories = [f"/story-{n}.html" for n in range(5)]

    def home(now: float) -> str:
        late = ["/late.html"] if now >= START + 1.5 * DAY else []
        secret = ["/secret/a.html"] if now >= START + DAY else []
        return page(*late, *secret, *stories)

    robots = Reply(b"User-agent: *\nDisallow: /secret/\n")
    with watch(tmp_path, {HOME: home, HOME + "robots.txt": robots}, HOME) as crawl:
        assert crawl.run(3 * DAY).new() == ["/secret/a.html", "/late.html"]
        (held,) = crawl.store.quarantine.entries()
        assert held.kind == "page"


def test_a_later_page_of_a_list_whose_reading_fails_is_not_waited_for(tmp_path: Path) -> None:
    def shown(now: float, first: int) -> str:
        stories = [f"/story-{n}.html" for n in range(60 if now >= START + DAY else 20)]
        older = f'<a rel="next" href="/page/{first // 10 + 2}/">Older</a>'
        return page(*stories[::-1][first : first + 10], text=older)

    pages: dict[str, Any] = {HOME: partial(shown, first=0)}
    pages |= {f"{HOME}page/{n}/": partial(shown, first=10 * n - 10) for n in range(2, 8)}
    pages[HOME + "page/3/"] = lambda now: now / 0
    with watch(tmp_path, pages, HOME) as crawl:
        crawl.run(1.5 * DAY)
        (site,) = crawl.crawler.frontier.watched
        assert (site.next_pages, site.may_go) == ({}, True)

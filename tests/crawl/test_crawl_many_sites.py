"""More sites than are kept in memory: each is read when it is its turn, and nothing is forgotten with it."""

from pathlib import Path
from typing import Any

import pytest
from fake_web import DAY, HOUR, START, Watch, page, watch
from stories import announced_pages

from incremental.base.urls import canonical_key
from incremental.schedule.allocation import Share
from incremental.schedule.budget import spend
from store.enums import HubKind, HubRole, SiteStatus
from store.values import NewHub, SeenLink

HOMES = [f"https://site-{number}.example/" for number in range(12)]


def pages() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for home in HOMES:
        days = [f"/day-{n}.html" for n in range(9)]
        found[home] = [(START + n * DAY if n else 0, page(*days[: n + 1])) for n in range(9)]
        found |= {home + day[1:]: page(title=day, text="Words. " * 90) for day in days}
    return found


def found(crawl: Watch) -> dict[str, int]:
    return {path: crawl.new().count(path) for path in crawl.new()}


@pytest.fixture(scope="module")
def found_with_all(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """What five days bring when every site stays in memory."""
    with watch(tmp_path_factory.mktemp("all"), pages(), *HOMES) as crawl:
        crawl.run(5 * DAY)
        assert len(list(crawl.crawler.frontier.watched)) == len(HOMES)
        return found(crawl)


@pytest.mark.parametrize("most", [1, 5])
def test_as_much_is_found_with_few_sites_in_memory_as_with_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, found_with_all: dict[str, int]
) -> None:
    assert found_with_all["/day-3.html"] == len(HOMES)
    monkeypatch.setattr("incremental.crawl.watched_sites.MOST_IN_MEMORY", most)
    with watch(tmp_path, pages(), *HOMES) as crawl:
        crawl.run(5 * DAY)
        assert found(crawl) == found_with_all
        assert len(list(crawl.crawler.frontier.watched)) <= most + 1


def test_at_the_start_no_site_is_read_before_its_turn(tmp_path: Path) -> None:
    with watch(tmp_path, pages(), *HOMES) as crawl:
        assert list(crawl.crawler.frontier.watched) == []
        crawl.run(HOUR)
        assert len(list(crawl.crawler.frontier.watched)) == len(HOMES)


def test_only_what_another_process_changed_is_read_again(tmp_path: Path) -> None:
    with watch(tmp_path, pages(), *HOMES) as crawl:
        crawl.run(2 * HOUR)
        frontier, now = crawl.crawler.frontier, crawl.clock.now()
        before = {site.row.id: site for site in list(frontier.watched)}
        changed, *others = before
        crawl.store.write.update_site(changed, requests_per_day=3.0)
        frontier.load(now)
        after = {site.row.id: site for site in list(frontier.watched)}
        assert after[changed].terms.requests_per_day == 3
        assert all(after[one] is before[one] for one in others)


def test_a_paused_site_goes_on_where_it_was(tmp_path: Path) -> None:
    with watch(tmp_path, pages(), *HOMES[:2]) as crawl:
        crawl.run(2.5 * DAY)
        crawl.store.write.update_site(1, state=SiteStatus.PAUSED)
        crawl.crawler.load(crawl.clock.now())
        crawl.run(DAY)
        assert crawl.new().count("/day-3.html") == 1
        crawl.store.write.update_site(1, state=SiteStatus.ACTIVE)
        crawl.crawler.load(crawl.clock.now())
        crawl.run(DAY)
        assert crawl.new().count("/day-3.html") == 2


def test_a_budget_spent_in_memory_survives_eviction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What features fetch beside the visits counts, though no visit writes it down."""
    monkeypatch.setattr("incremental.crawl.watched_sites.MOST_IN_MEMORY", 1)
    with watch(tmp_path, pages(), *HOMES[:2]) as crawl:
        crawl.run(600)
        sites, now = crawl.crawler.frontier.watched, crawl.clock.now()
        site = sites.get(1, now)
        assert site is not None
        site.budget = spent = spend(site.budget, site.terms.requests_per_day, now, others=5)
        sites.get(2, now)
        sites.evict()
        assert sites.in_memory(1) is None
        again = sites.get(1, now)
        assert again is not None
        assert again.budget == spent


@pytest.mark.parametrize("overdue", [False, True])
def test_a_hub_added_elsewhere_is_read_soon_whatever_else_waits(
    overdue: bool, tmp_path: Path
) -> None:
    """A refresh that waits for its share was the earliest of all, and hid that a hub was due."""
    section = HOMES[0] + "section/"
    with watch(tmp_path, pages() | {section: page("/section/x.html")}, HOMES[0]) as crawl:
        crawl.run(3 * DAY + HOUR / 3)
        now, (site,) = crawl.clock.now(), list(crawl.crawler.frontier.watched)
        if overdue:
            page_id = announced_pages(crawl.store)[0].page_id
            crawl.store.refreshes.postpone(page_id, now - 60)
            for _ in range(3):
                site.allocation.draw(Share.REFRESH)
        crawl.crawler.load(now)
        crawl.run(60)
        hub = NewHub(HubKind.HTML, HubRole.USER, 1.0, "labelled", crawl.clock.now())
        link = SeenLink(canonical_key(section), section, hub=hub)
        crawl.store.write.add_pages(1, [link], now=crawl.clock.now())
        crawl.crawler.load(crawl.clock.now())
        assert crawl.run(10 * 60).statuses(section) == ["fetched"]

"""More sites than are kept in memory: each is read when it is its turn, and nothing is forgotten with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fake_web import DAY, HOUR, START, Watch, page, watch

from incremental.crawl.watched_sites import WatchedSites
from incremental.scope import Reach
from incremental.seeds import SeedTerms, add_seed
from store.enums import SiteStatus

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


@pytest.mark.parametrize("most", [1, 5])
def test_as_much_is_found_with_few_sites_in_memory_as_with_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    with watch(tmp_path / "all", pages(), *HOMES) as crawl:
        crawl.run(8 * DAY)
        expected = found(crawl)
        assert len(crawl.crawler.frontier.sites()) == len(HOMES)
    assert expected["/day-3.html"] == len(HOMES)
    monkeypatch.setattr(WatchedSites.__init__, "__kwdefaults__", {"most": most})
    with watch(tmp_path / "few", pages(), *HOMES) as crawl:
        crawl.run(8 * DAY)
        assert found(crawl) == expected
        assert len(crawl.crawler.frontier.sites()) <= most + 1


def test_at_the_start_no_site_is_read_before_its_turn(tmp_path: Path) -> None:
    with watch(tmp_path, pages(), *HOMES) as crawl:
        assert crawl.crawler.frontier.sites() == []
        crawl.run(HOUR)
        assert len(crawl.crawler.frontier.sites()) == len(HOMES)


def test_only_what_another_process_changed_is_read_again(tmp_path: Path) -> None:
    with watch(tmp_path, pages(), *HOMES) as crawl:
        crawl.run(2 * HOUR)
        frontier, now = crawl.crawler.frontier, crawl.clock.now()
        before = {site.row.id: site for site in frontier.sites()}
        changed, *others = before
        crawl.store.write.update_site(changed, requests_per_day=3.0)
        frontier.load(now)
        after = {site.row.id: site for site in frontier.sites()}
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


def test_the_site_that_an_address_belongs_to_is_found_by_its_host(tmp_path: Path) -> None:
    with watch(tmp_path, pages(), *HOMES[:3]) as crawl:
        now = crawl.clock.now()
        wide = SeedTerms(reach=Reach.ANYWHERE, include=("*/tenders/*",))
        add_seed(crawl.store, "https://other.example/", now=now, terms=wide)
        sites: WatchedSites = crawl.crawler.frontier._sites
        sites.load(now)
        holding = {
            url: site.row.seed_url
            for url in (HOMES[1] + "a", "https://far.example/tenders/1", "https://far.example/a")
            if (site := sites.holding(url, now)) is not None
        }
    assert holding == {
        HOMES[1] + "a": HOMES[1],
        "https://far.example/tenders/1": "https://other.example/",
    }

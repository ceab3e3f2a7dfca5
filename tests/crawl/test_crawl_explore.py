"""Exploring: relevant links lead to new sites, a few, within the rules, and each says where it was found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fake_web import DAY, HOUR, SPARING, START, Reply, Watch, page
from topic_web import EXAMPLES, address, story, topic_of, two_subjects, watch_topic

from incremental.settings.seeds import SeedTerms

MUSEUM, KITCHEN = "https://museum.example/", "https://kitchen.test/"
WORKS = "https://works.example.net/"
BRIDGE = address("bridge", 10)


def outward(*links: str, **more: Any) -> dict[str, Any]:
    """The news with links out of the site on a story on topic."""
    pages = two_subjects(**{BRIDGE: story("bridge", 10, *links)})
    pages |= {
        MUSEUM: page("/exhibit|bridge truss", title="Museum"),
        MUSEUM + "exhibit": story("bridge", 40),
        KITCHEN + "tasty": story("soup", 40),
        WORKS: page("/span", title="Works"),
        WORKS + "span": story("bridge", 41),
    }
    return pages | more


LINKS = (
    f"{MUSEUM}exhibit|bridge arch girder exhibit",
    f"{KITCHEN}tasty|bridge arch girder",
    f"{WORKS}span|bridge truss span girder",
    "https://share.test/x|Share",
)


def found_sites(crawl: Watch) -> dict[str, dict[str, str]]:
    """Sites that were found by exploring, with how."""
    rows = crawl.store.read.sites()
    return {row.seed_url: json.loads(row.origin) for row in rows if row.origin != "{}"}


def exploring(folder: Path, pages: dict[str, Any], number: int, **more: Any) -> Watch:
    return watch_topic(folder, pages, explore=number, examples=EXAMPLES, **more)


def test_a_relevant_link_leads_to_a_new_site_which_is_announced_and_watched(tmp_path: Path) -> None:
    with exploring(tmp_path, outward(*LINKS[:1]), 5) as crawl:
        crawl.run(12 * HOUR)
        origin = found_sites(crawl)[MUSEUM]
        assert origin == {"topic": "bridges", "page": MUSEUM + "exhibit", "found_on": BRIDGE}
        assert "/exhibit" in crawl.new()
        assert crawl.hub(MUSEUM) is not None
        assert MUSEUM in crawl.hubs()
        assert topic_of(crawl).state == "ready"


def test_a_link_that_leads_off_topic_is_read_once_and_dropped(tmp_path: Path) -> None:
    with exploring(tmp_path, outward(*LINKS), 9) as crawl:
        crawl.run(16 * HOUR)
        assert KITCHEN not in found_sites(crawl)
        assert crawl.web.urls().count(KITCHEN + "tasty") == 1
        assert {MUSEUM, WORKS} <= set(found_sites(crawl))
        assert "https://share.test/x" not in crawl.web.urls()


def test_the_number_of_new_sites_holds_across_restarts(tmp_path: Path) -> None:
    pages = outward(*LINKS)
    with exploring(tmp_path, pages, 1) as crawl:
        crawl.run(12 * HOUR)
        assert len(found_sites(crawl)) == 1
        web = crawl.web
    with Watch(tmp_path, web, explore=1) as crawl:
        crawl.run(4 * HOUR)
        assert len(found_sites(crawl)) == 1


def test_without_being_asked_to_nothing_out_of_the_sites_is_fetched(tmp_path: Path) -> None:
    with watch_topic(tmp_path, outward(*LINKS)) as crawl:
        crawl.run(12 * HOUR)
        assert found_sites(crawl) == {}
        assert not [url for url in crawl.web.urls() if url.startswith((MUSEUM, KITCHEN, WORKS))]
        assert crawl.store.topics.external_candidates_after(0, limit=9)


def test_the_site_of_an_example_is_the_first_external_candidate(tmp_path: Path) -> None:
    with exploring(tmp_path, two_subjects(), 1) as crawl:
        crawl.run(HOUR)
        (origin,) = found_sites(crawl).values()
        assert origin["page"].startswith("https://library.example/bridge-")


def test_what_a_sites_rules_exclude_is_not_followed(tmp_path: Path) -> None:
    terms = SeedTerms(exclude=("*museum*",))
    with exploring(tmp_path, outward(*LINKS[:1]), 5, terms=terms) as crawl:
        crawl.run(12 * HOUR)
        assert not [url for url in crawl.web.urls() if url.startswith(MUSEUM)]


@pytest.mark.parametrize(
    "answer",
    [Reply(code=404), Reply(code=500), page(title="", text=""), Reply(b"\x00", headers={})],
)
def test_an_external_candidate_that_fails_is_tried_once(tmp_path: Path, answer: object) -> None:
    pages = outward(*LINKS[:1], **{MUSEUM + "exhibit": answer})
    with exploring(tmp_path, pages, 5) as crawl:
        crawl.run(12 * HOUR)
        assert MUSEUM not in found_sites(crawl)
        assert crawl.web.urls().count(MUSEUM + "exhibit") == 1


def test_robots_and_private_addresses_hold_for_external_candidates(tmp_path: Path) -> None:
    links = (LINKS[0], "http://10.0.0.1/x|bridge arch girder span")
    pages = outward(*links, **{MUSEUM + "robots.txt": "User-agent: *\nDisallow: /"})
    with exploring(tmp_path, pages, 5) as crawl:
        crawl.run(12 * HOUR)
        assert MUSEUM not in found_sites(crawl)
        assert MUSEUM + "exhibit" not in crawl.web.urls()
        assert not [
            url for url in crawl.web.urls() if "10.0.0.1" in url and not url.endswith("txt")
        ]


def test_a_day_has_so_many_requests_for_exploring(tmp_path: Path) -> None:
    few = msgspec.structs.replace(SPARING.topics, explore_requests_per_day=1)
    settings = msgspec.structs.replace(SPARING, topics=few)
    with exploring(tmp_path, outward(*LINKS), 9, settings=settings) as crawl:
        crawl.run(14 * HOUR)
        asked = [one for one in crawl.web.asked if one.url in {*EXAMPLES, MUSEUM + "exhibit"}]
        assert len(asked) == len(EXAMPLES) + 1
        assert crawl.clock.now() < START + DAY

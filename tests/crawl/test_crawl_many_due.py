"""Thousands of sites that are due at once."""

from pathlib import Path

from fake_web import START, watch

from incremental.crawl.frontier import MOST_HELD_AT_ONCE

SITES = 3 * MOST_HELD_AT_ONCE


def test_a_search_for_a_quick_host_looks_at_a_few_sites(tmp_path: Path) -> None:
    """While nobody knows how quick they are, a step that looked at all would keep everything waiting."""
    seeds = [f"https://site{number}.example/" for number in range(SITES)]
    with watch(tmp_path, {}, *seeds) as world:
        frontier = world.crawler.frontier
        later = START + 3_600
        assert frontier.next_task(later, quick=True) is None
        assert len(list(frontier.watched)) == MOST_HELD_AT_ONCE
        assert frontier.next_task(later, quick=True) is None
        assert len(list(frontier.watched)) == 2 * MOST_HELD_AT_ONCE
        assert frontier.wake_at(later) <= later


def test_sites_that_were_passed_over_have_their_turn(tmp_path: Path) -> None:
    seeds = [f"https://site{number}.example/" for number in range(SITES)]
    with watch(tmp_path, {}, *seeds) as world:
        frontier = world.crawler.frontier
        later = START + 3_600
        while frontier.wake_at(later) <= later:
            assert frontier.next_task(later, quick=True) is None
        asked = set()
        while (task := frontier.next_task(later)) is not None:
            asked.add(task.site_id)
        assert len(asked) == SITES

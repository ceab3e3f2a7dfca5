"""``hubwatch discover``: what a search found, and yes or no to it."""

from pathlib import Path

import pytest
from cli_runner import Run
from stories import START

from incremental.settings import Settings
from incremental.settings.storage import open_configured_store
from store.discovery.values import NewProposal, ProposedHub, ProposedPage

OF = ("--topic", "bridges")


@pytest.fixture
def searched(hubwatch: Run, tmp_path: Path) -> Run:
    """The command line, where a search of one round proposed two sites."""
    with open_configured_store(Settings(), tmp_path) as store:
        topic = store.topics.add("bridges", ["bridge"], "fused", now=START)
        store.discovery.begin(topic, now=START)
        store.discovery.end(topic, "all rounds done", "", now=START)
        best = (ProposedPage("https://spans.example/best", "The best", 0.8),)
        hubs = (ProposedHub("https://spans.example/list", 0.9),)
        proposals = [
            NewProposal("spans.example", 0.9, "", best, hubs),
            NewProposal("b.example", 0.4, "", (), ()),
        ]
        store.discovery.propose(topic, proposals, now=START)
    return hubwatch


def sites(hubwatch: Run, *options: str) -> list[str]:
    return [one["host"] for one in hubwatch("discover", "proposals", *OF, *options, "--json").json]


def test_one_site_is_no_sites(searched: Run) -> None:
    assert "1 site accepted" in searched("discover", "accept", "b.example", *OF).err
    assert "1 site for bridges" in searched("discover", "proposals", *OF).out


def test_proposals_are_listed_with_their_best_pages(searched: Run) -> None:
    assert sites(searched) == ["spans.example", "b.example"]
    table = searched("discover", "proposals", *OF).out
    assert "0.80 The best" in table
    assert "https://spans.example/list" in table


def test_a_site_is_accepted_and_the_others_turned_down(searched: Run) -> None:
    searched("discover", "accept", "spans.example", *OF)
    assert "spans.example" in [row["name"] for row in searched("list", "--json").json]
    assert searched("discover", "reject", "--all", *OF, "--json").json["sites"] == ["b.example"]
    assert sites(searched, "--state", "rejected") == ["b.example"]
    assert sites(searched) == []


def test_what_was_not_proposed_names_what_was(searched: Run) -> None:
    result = searched("discover", "accept", "c.example", *OF)
    assert result.code == 4
    assert "known: spans.example, b.example" in result.err
    assert searched("discover", "accept", *OF).code == 2

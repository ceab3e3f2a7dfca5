"""``hubwatch discover run``: from a topic's page over a search provider to other pages, one run at a time."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_runner import Run
from local_site import LocalSite
from topic_web import story

from incremental.settings import Settings
from incremental.settings.storage import only_one, open_configured_store

OF = ("--topic", "bridges")
SETTINGS = """
[fetch]
allowed_networks = ["127.0.0.0/8"]
[discovery]
url = "{url}"
query_interval_seconds = 0
"""


@pytest.fixture
def begun(hubwatch: Run, tmp_path: Path) -> Iterator[Run]:
    """The command line with a topic that has read its example; the provider has no JSON for anybody."""
    with LocalSite({"/bridge": story("bridge", 1, "/span"), "/span": story("bridge", 2)}) as site:
        (tmp_path / "hubwatch.toml").write_text(SETTINGS.format(url=site.url))
        hubwatch("topic", "add", "bridges", "--example", f"{site.url}/bridge")
        assert hubwatch("run", "--once").code == 0
        yield hubwatch


def test_a_run_reads_pages_and_says_what_is_wrong_with_the_provider(
    begun: Run, tmp_path: Path
) -> None:
    answer = begun("discover", "run", *OF, "--rounds", "3", "--pages", "5", "--json").json
    assert answer["run"]["ended_at"].startswith("20")
    assert "the search provider: " in answer["run"]["note"]
    with open_configured_store(Settings(), tmp_path) as store:
        (topic,) = store.topics.topics()
        assert [one.url[-5:] for one in store.discovery.pages(topic.id)] == ["ridge", "/span"]


def test_a_second_run_of_the_same_topic_is_refused(begun: Run, tmp_path: Path) -> None:
    with only_one(Settings(), tmp_path, "discovery-1.lock", "another search"):
        refused = begun("discover", "run", *OF)
    assert (refused.code, "another search" in refused.err) == (3, True)

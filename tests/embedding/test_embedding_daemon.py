"""The daemon as people run it gives announced pages their vectors, and says how far it is."""

from pathlib import Path

import pytest
from cli_runner import Run
from lab.daemon_process import command, wait_until

from incremental.settings import Settings
from incremental.settings.sections import EmbeddingSettings
from incremental.settings.storage import open_configured_store
from incremental.topics.embedding.choice import standing
from store.search.vectors import VectorCounts

SHIPPED = standing(EmbeddingSettings()).provider
# A loaded machine takes a while to start a process and to load a model.
PATIENCE_SECONDS = 240


def counts(folder: Path) -> VectorCounts:
    with open_configured_store(Settings(), folder) as store:
        return store.vectors.counts()


@pytest.mark.skipif(not SHIPPED, reason="the extra embeddings is missing")
def test_the_running_daemon_embeds_what_was_announced_and_a_search_finds_it(
    hubwatch: Run, found: list[str], tmp_path: Path
) -> None:
    assert found
    before = counts(tmp_path)
    assert (before.embedded, before.waiting) == (0, before.announced)
    daemon = command(tmp_path, "run")
    try:
        done = wait_until(
            lambda: counts(tmp_path).embedded == before.announced, PATIENCE_SECONDS, every=0.2
        )
    finally:
        daemon.terminate()
        daemon.wait()
    assert done, (tmp_path / "run.err").read_text()
    assert daemon.returncode == 0
    said = f"{before.announced} of {before.announced} announced pages have a vector by {SHIPPED}"
    assert said in hubwatch("status").err
    page, *_ = hubwatch("new", "--json").json
    like = hubwatch("search", "--like", page["url"], "--json").json["pages"]
    assert len(like) == before.announced - 1
    assert page["url"] not in {one["url"] for one in like}

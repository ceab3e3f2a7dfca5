"""Search by meaning from the command line, with a real model; and what it says without one."""

import contextlib
from pathlib import Path

import pytest
from cli_runner import Run

from classifier.embedding.local import LocalEmbedder
from classifier.embedding.packages import installed
from incremental.base.clock import SystemClock
from incremental.base.threads import pause
from incremental.settings import Settings
from incremental.settings.storage import open_configured_store
from incremental.topics.embedding.keeping import IDLE_SECONDS, VectorKeeper
from incremental.topics.embedding.page_embedder import PageEmbedder


@pytest.fixture
def embedded(found: list[str], tmp_path: Path) -> list[str]:
    """Have the announced pages embedded by the installed model."""
    if installed("auto") is None:
        pytest.skip("the extra `embeddings` is not installed")
    with (
        open_configured_store(Settings(), tmp_path) as store,
        contextlib.closing(PageEmbedder(LocalEmbedder("auto"), SystemClock().now)) as embedder,
    ):
        keeper = VectorKeeper(store, embedder)
        while keeper.step(0.0) != IDLE_SECONDS:
            pause(0.01)
    return found


def test_pages_like_one_are_listed_without_it(hubwatch: Run, embedded: list[str]) -> None:
    rows = hubwatch("search", "--like", embedded[0], "--json").json["pages"]
    assert {row["url"] for row in rows} == {*embedded[1:], "https://other.example/b.html"}
    likeness = [row["likeness"] for row in rows]
    assert likeness == sorted(likeness, reverse=True)
    assert all(0 <= one <= 1 for one in likeness)
    assert "likeness" in hubwatch("search", "--like", embedded[0]).out


def test_a_page_without_a_vector_says_so(hubwatch: Run, embedded: list[str]) -> None:
    done = hubwatch("search", "--like", "https://other.example/")
    assert (done.code, "has no vector" in done.err) == (4, True)
    assert embedded


def test_filters_and_the_limit_hold(hubwatch: Run, embedded: list[str]) -> None:
    near = hubwatch("search", "--like", embedded[0], "--site", "other.example", "--json").json
    assert [row["url"] for row in near["pages"]] == ["https://other.example/b.html"]
    assert (
        len(hubwatch("search", "--like", embedded[0], "--limit", "1", "--json").json["pages"]) == 1
    )


def test_status_says_how_many_pages_have_a_vector(hubwatch: Run, embedded: list[str]) -> None:
    facts = hubwatch("status", "--json").json["embeddings"]
    assert (facts["announced"], facts["embedded"]) == (len(embedded) + 1, len(embedded) + 1)
    assert (facts["waiting"], facts["missing"]) == (0, "")
    assert facts["space"].startswith(facts["provider"])
    assert f"{len(embedded) + 1} of {len(embedded) + 1} announced pages" in hubwatch("status").err


def test_a_single_run_embeds_what_waits(hubwatch: Run, found: list[str]) -> None:
    if installed("auto") is None:
        pytest.skip("the extra `embeddings` is not installed")
    hubwatch("run", "--once")
    facts = hubwatch("status", "--json").json["embeddings"]
    assert (facts["embedded"], facts["waiting"]) == (len(found) + 1, 0)


def test_before_anything_was_embedded_it_says_what_to_do(hubwatch: Run, found: list[str]) -> None:
    done = hubwatch("search", "--like", found[0])
    assert done.code != 0
    assert "hubwatch doctor" in done.err
    facts = hubwatch("status", "--json").json["embeddings"]
    assert (facts["space"], facts["embedded"], facts["waiting"]) == (None, 0, len(found) + 1)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "WORDS"),
        (("budget", "--like", "https://news.example/"), "--like"),
        (("--like", "https://news.example/", "--after", "3"), "--after"),
    ],
)
def test_what_has_no_answer_is_refused(
    hubwatch: Run, found: list[str], arguments: tuple[str, ...], says: str
) -> None:
    done = hubwatch("search", *arguments)
    assert done.code != 0
    assert says in done.err
    assert found


def test_no_web_address_is_named(hubwatch: Run, embedded: list[str]) -> None:
    done = hubwatch("search", "--like", "ht!tp:/")
    assert (done.code != 0, "ht!tp:/" in done.err) == (True, True)
    assert embedded


def test_a_search_by_meaning_needs_no_model(
    hubwatch: Run, embedded: list[str], tmp_path: Path
) -> None:
    settings = tmp_path / "hubwatch.toml"
    text = settings.read_text(encoding="utf-8") if settings.exists() else ""
    settings.write_text(text + '\n[embeddings]\nprovider = "none"\n', encoding="utf-8")
    assert hubwatch("search", "--like", embedded[0], "--json").json["pages"]

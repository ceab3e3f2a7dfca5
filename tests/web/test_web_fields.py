"""A page has the same fields with the same values wherever it is given out."""

import csv
import io
import json
from dataclasses import fields

import pytest
from cli_runner import Run
from web_served import Served

from classifier.words.values import Verdict
from incremental.features.messages.message import for_programs, of_page
from incremental.interfaces.results.schema import Page
from store.answers import NewQuery
from store.enums import TopicVerdict
from store.values import TopicScore

FIELDS = {one.name for one in fields(Page)}
COLUMNS = (FIELDS - {"topics"}) | {"harbour.score", "harbour.verdict", "harbour.fetched"}


@pytest.fixture
def judged(served: Served, hubwatch: Run, monkeypatch: pytest.MonkeyPatch) -> Served:
    """A page that the topic ``harbour`` may want, and commands in the folder of its store."""
    monkeypatch.chdir(served.web.folder)
    assert hubwatch("list").code == 0
    store = served.store
    topic = store.topics.add("harbour", ["harbour"], "fused", now=0.0)
    newest = store.answers.new(NewQuery(limit=1)).rows[0]
    page = store.read.find_page(newest.url, "")[0]
    score = TopicScore(page["canonical_key"], topic, 0.25, "doubtful", True, "fused", "1")
    store.topics.put_scores(page["site"], [score], now=0.0)
    return served


def test_commands_api_exports_and_hooks_give_the_same_object(judged: Served, hubwatch: Run) -> None:
    (row,) = judged.store.answers.new(NewQuery(limit=1)).rows
    (listed,) = hubwatch("new", "--limit", "1", "--json").json
    hook = json.loads(for_programs(of_page(row), "hook:a", "key"))["page"]
    api = judged.client().get("/api/v1/pages", params={"limit": 1}).json()["pages"][0]
    exported = [
        json.loads(line) for line in hubwatch("export", "--format", "jsonl").out.splitlines()
    ]
    assert listed == hook == api == exported[-1]
    assert set(listed) == FIELDS
    assert [(one["topic"], one["verdict"]) for one in listed["topics"]] == [("harbour", "doubtful")]


@pytest.mark.usefixtures("judged")
def test_tables_have_the_same_columns(hubwatch: Run) -> None:
    for command in (
        ("new", "--format", "csv"),
        ("export",),
        ("new", "--backfills", "--format", "csv"),
    ):
        table = csv.DictReader(io.StringIO(hubwatch(*command).out))
        rows = list(table)
        assert set(table.fieldnames or ()) == COLUMNS
        judgements = {row["harbour.verdict"] for row in rows}
        assert judgements == ({"", "doubtful"} if rows else set())


def test_an_assistant_gets_fields_of_the_same_names(judged: Served) -> None:
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    from incremental.features.assistants.server import quoted_page

    (row,) = judged.store.answers.new(NewQuery(limit=1)).rows
    quoted = quoted_page(row)
    assert {*quoted, *quoted["from_site"]} - {"from_site"} <= FIELDS


def test_the_store_and_the_classifier_say_the_same_verdicts() -> None:
    assert [one.value for one in Verdict] == [one.value for one in TopicVerdict]


def test_a_table_holds_texts_if_they_are_asked_for(judged: Served, hubwatch: Run) -> None:
    (last, *_) = reversed(list(csv.DictReader(io.StringIO(hubwatch("export", "--with-text").out))))
    page = judged.store.answers.text(int(last["id"]))
    assert page is not None
    assert last["text"] == page.text
    line = hubwatch("export", "--with-text", "--format", "jsonl", "--site", "other.example").out
    assert "招标文件" in json.loads(line)["text"]


@pytest.mark.usefixtures("judged")
def test_visits_are_a_time_series(hubwatch: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(hubwatch("export", "--visits").out)))
    assert {row["status"] for row in rows} >= {"fetched"}
    assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)
    assert {row["site"] for row in rows} == {"news.example", "other.example"}
    assert hubwatch("export", "--visits", "--format", "warc").code == 2


@pytest.mark.usefixtures("judged")
def test_a_column_store_gets_typed_columns(hubwatch: Run) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra `pandas` is not installed")
    assert hubwatch("export", "--format", "parquet", "-o", "pages.parquet").code == 0
    table = parquet.read_table("pages.parquet")
    assert set(table.column_names) == COLUMNS
    kinds = {name: str(table.schema.field(name).type) for name in ("found_at", "harbour.score")}
    assert kinds == {"found_at": "timestamp[us, tz=UTC]", "harbour.score": "double"}
    assert table.column("url").to_pylist() == hubwatch("new", "--format", "urls").out.split()[::-1]

"""``hubwatch compact``, beside a daemon and alone, and what ``status`` and ``init`` say of the store."""

from __future__ import annotations

import re
from pathlib import Path

from cli_runner import Run
from peewee import chunked

from incremental.settings import Settings
from incremental.settings.storage import only_writer
from store import open_store
from store.models import ALL, Visit

ROOT = Path(__file__).resolve().parents[2]


def write_old_visits(folder: Path) -> Path:
    """Log visits of long ago in the store of *folder*; return its file."""
    file = folder / "hubwatch-data" / "hubwatch.sqlite"
    with open_store(str(file), cache_folder=folder / "hubwatch-data" / "pages") as store:
        home = store.read.hubs()[0].page_id
        row = {"page": home, "at": 1.0, "status": "fetched", "detail": "x" * 500}
        with store.database.atomic():
            for batch in chunked([row] * 10_000, 100):
                Visit.insert_many(batch).execute(store.database)
    return file


def test_it_forgets_and_gives_the_space_back(hubwatch: Run, tmp_path: Path) -> None:
    assert hubwatch("add", "https://news.example/").code == 0
    file = write_old_visits(tmp_path)
    before = file.stat().st_size
    done = hubwatch("compact", "--json")
    assert done.code == 0
    answer = done.json
    visits = answer["tables"]["visit"]
    assert (visits["rows_before"], visits["rows_after"]) == (10_000, 0)
    assert visits["bytes_before"] > 5_000_000 > visits["bytes_after"]
    assert answer["forgotten"]["visits"] == 10_000
    assert answer["left"] is None
    assert answer["database_bytes_after"] < 0.2 * answer["database_bytes_before"]
    assert file.stat().st_size < 0.2 * before
    again = hubwatch("compact")
    assert (again.code, "forgotten: nothing" in again.err) == (0, True)
    status = hubwatch("status", "--json").json
    assert status["housekeeping"]["forgotten"]["visits"] == 0
    assert "housekeeping" in hubwatch("status").err


def test_beside_a_daemon_it_says_what_it_leaves(hubwatch: Run, tmp_path: Path) -> None:
    assert hubwatch("add", "https://news.example/").code == 0
    write_old_visits(tmp_path)
    with only_writer(Settings(), tmp_path):
        answer = hubwatch("compact", "--json").json
    assert answer["forgotten"]["visits"] == 10_000
    assert "stop the daemon and compact again" in answer["left"]
    # What the file does not need for its next days went back all the same.
    assert answer["database_bytes_after"] < answer["database_bytes_before"]


def test_the_document_names_every_table() -> None:
    text = (ROOT / "docs" / "retention.md").read_text(encoding="utf-8")
    listed = text.partition("## Every table")[2].partition("\n## ")[0]
    cells = "".join(line.split("|")[1] for line in listed.splitlines() if line.startswith("| `"))
    tables = {model._meta.table_name for model in ALL} | {"news_words"}
    assert set(re.findall(r"`(\w+)`", cells)) == tables


def test_the_document_names_the_settings_with_their_defaults() -> None:
    text = (ROOT / "docs" / "retention.md").read_text(encoding="utf-8")
    listed = text.partition("## A size budget")[0]
    named = re.findall(r"^\| `(\w+)` \| ([\d,]+)", listed, re.MULTILINE)
    assert len(named) == 8
    for name, value in named:
        assert getattr(Settings().store, name) == float(value.replace(",", "")), name

"""What ``status`` says of housekeeping."""

from pathlib import Path

from cli_runner import Run
from peewee import chunked

from incremental.daemon.housekeeping import Housekeeping
from incremental.settings import Settings
from store import open_store
from store.models import Visit


def test_status_says_what_was_forgotten_and_how_large_the_database_is(
    hubwatch: Run, tmp_path: Path
) -> None:
    assert hubwatch("add", "https://news.example/").code == 0
    home = tmp_path / "hubwatch-data"
    with open_store(str(home / "hubwatch.sqlite"), cache_folder=home / "pages") as store:
        row = {"page": store.read.hubs()[0].page_id, "at": 1.0, "status": "fetched"}
        with store.database.atomic():
            for batch in chunked([row] * 10_000, 100):
                Visit.insert_many(batch).execute(store.database)
        assert list(Housekeeping(store, Settings()).work(1e9))
    found = hubwatch("status", "--json").json["housekeeping"]
    assert found["forgotten"]["visits"] == 10_000
    assert found["database_bytes"] > 0
    assert "forgot 10,000 visits" in hubwatch("status").err

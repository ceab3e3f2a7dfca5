"""What a daemon keeps in memory for its summary does not grow with the time that it ran."""

from __future__ import annotations

import json

import pytest
from stories import START, news_site, seen, visit_of

from incremental.interfaces.cli import reporting
from incremental.interfaces.cli.reporting import Reporter
from incremental.settings import Settings
from incremental.visit.host_gate import HostGate
from store import Store

HOME = "https://news.example/"


def test_the_summary_names_the_latest_pages_only(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reporting, "MOST_REPORTED", 5)
    site, home = news_site(sqlite_store)
    reporter = Reporter(sqlite_store, HostGate(sqlite_store, Settings()), as_json=True)
    for number in range(12):
        link = seen(f"{HOME}story-{number}", fate="announce")
        record = visit_of(site, home, START + number, link, keep_missing=True)
        reporter.announced(record, sqlite_store.write.visit(record))
    reporter.finish(once=False)
    said = json.loads(capsys.readouterr().out)
    assert [one["url"][-2:] for one in said["new"]] == ["-7", "-8", "-9", "10", "11"]
    assert said["visits"] == {"fetched": 12}

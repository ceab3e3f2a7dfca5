"""What is set: ``settings``."""

from pathlib import Path

import pytest
from cli_runner import Run

FILE = """
[revisit]
requests_per_day = 7
[store]
database = "postgresql://reader:hush@db.example/news"
[web]
password = "hush"
[[site]]
url = "https://news.example/"
requests_per_day = 3
password = "hush"
username = "me"
[[messages.channel]]
name = "mail"
url = "mailto://me:hush@example.org"
"""


def test_each_setting_is_shown_with_its_value_and_source(
    hubwatch: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hubwatch.toml").write_text("[revisit]\nrequests_per_day = 7\n")
    monkeypatch.setenv("HUBWATCH_FETCH_CONTACT", "me@example.org")
    shown = {row["setting"]: row for row in hubwatch("settings", "--json").json["settings"]}
    assert shown["revisit.requests_per_day"] == {
        "setting": "revisit.requests_per_day",
        "value": 7,
        "source": "file",
    }
    assert shown["fetch.contact"]["source"] == "HUBWATCH_FETCH_CONTACT"
    assert shown["revisit.max_interval_hours"]["source"] == "default"
    changed = hubwatch("settings", "--changed", "--json").json["settings"]
    assert [row["setting"] for row in changed] == ["fetch.contact", "revisit.requests_per_day"]
    assert "revisit.requests_per_day" in hubwatch("settings").out


def test_nothing_changed_is_said(hubwatch: Run) -> None:
    done = hubwatch("settings", "--changed")
    assert (done.out, "every setting is at its default" in done.err) == ("", True)


def test_no_secret_is_shown(hubwatch: Run, tmp_path: Path) -> None:
    (tmp_path / "hubwatch.toml").write_text(FILE)
    for form in ((), ("--json",), ("--changed",)):
        done = hubwatch("settings", *form)
        assert (done.code, "hush" in done.out + done.err) == (0, False)
    shown = {
        row["setting"]: row["value"] for row in hubwatch("settings", "--json").json["settings"]
    }
    assert shown["site[0].requests_per_day"] == 3
    assert shown["messages.channel[0].name"] == "mail"
    assert shown["messages.channel[0].url"] == "..."
    assert "site[0].max_interval_hours" not in shown

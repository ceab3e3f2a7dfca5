"""Settings of an earlier version still count, and each says its new name."""

from __future__ import annotations

from pathlib import Path

import pytest

from incremental.errors import SettingsError
from incremental.settings import load_settings
from incremental.settings.loading import build_settings
from incremental.settings.renamed import NAMES, SECTIONS

OLD = """
[history]
share = 0.5
[news]
look_share = 0.75
max_per_day = 7
[revisit]
whole_requests_per_day = 1000
"""


def test_old_names_count_and_say_the_new_ones(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "hubwatch.toml"
    path.write_text(OLD)
    settings, _ = load_settings(path, {})
    assert (settings.refresh.share, settings.news.verify_share) == (0.5, 0.75)
    assert (settings.news.max_per_day, settings.revisit.total_requests_per_day) == (7, 1000)
    assert path.read_text() == OLD
    for new in ("[refresh]", "verify_share", "total_requests_per_day"):
        assert sum(f"is now {new}" in line for line in caplog.messages) == 1


def test_old_variables_count_and_say_the_new_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    environment = {
        "HUBWATCH_HISTORY_MAX_DAYS": "5",
        "HUBWATCH_NEWS_LOOK_SHARE": "0.125",
        "HUBWATCH_NEWS_MAX_PER_DAY": "9",
    }
    settings, _ = load_settings(environment=environment)
    assert (settings.refresh.max_days, settings.news.verify_share) == (5, 0.125)
    assert settings.news.max_per_day == 9
    assert any("HUBWATCH_REFRESH_MAX_DAYS" in line for line in caplog.messages)


@pytest.mark.parametrize(
    "text",
    [
        "[history]\nshare = 0.5\n[refresh]\nshare = 0.1",
        "[news]\nlook_share = 0.5\nverify_share = 0.5",
    ],
)
def test_an_old_name_beside_its_new_one_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "hubwatch.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match="is the old name of"):
        load_settings(path, {})


def test_an_old_variable_beside_its_new_one_is_refused() -> None:
    both = {"HUBWATCH_NEWS_LOOK_SHARE": "0.5", "HUBWATCH_NEWS_VERIFY_SHARE": "0.5"}
    with pytest.raises(SettingsError, match="HUBWATCH_NEWS_VERIFY_SHARE"):
        load_settings(environment=both)


def test_every_new_name_is_a_setting() -> None:
    settings = build_settings({})
    assert all(hasattr(settings, new) for new in SECTIONS.values())
    assert all(hasattr(getattr(settings, section), new) for (section, _), new in NAMES.items())

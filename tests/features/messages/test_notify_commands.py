"""``hubwatch notify``: what the channels are, whether they work, and what became of messages."""

import subprocess
import sys
from pathlib import Path

import pytest
from cli_runner import Run
from receivers import WebHook


def settings(folder: Path, url: str, more: str = "") -> None:
    (folder / "hubwatch.toml").write_text(
        '[fetch]\nallowed_networks = ["127.0.0.0/8"]\n'
        f'[[messages.channel]]\nname = "hook"\nurl = "{url}"\n{more}'
    )


def test_without_a_channel_it_says_how_to_have_one(hubwatch: Run) -> None:
    result = hubwatch("notify", "list")
    assert result.code == 0
    assert "[[messages.channel]]" in result.err


def test_a_channel_can_be_tried(hubwatch: Run, tmp_path: Path) -> None:
    with WebHook() as hook:
        settings(tmp_path, hook.url)
        result = hubwatch("notify", "test", "hook")
    assert (result.code, result.out.strip()) == (0, "sent to hook")
    assert hook.messages[0].title == "Hubwatch can reach this channel"


def test_a_channel_that_does_not_work_says_why_without_its_secret(
    hubwatch: Run, tmp_path: Path
) -> None:
    with WebHook(lambda _: 500) as hook:
        settings(tmp_path, hook.url)
        result = hubwatch("notify", "test", "hook")
    assert result.code == 1
    assert "channel hook" in result.err
    assert "hook-secret" not in result.err


def test_an_unknown_channel_names_the_known(hubwatch: Run, tmp_path: Path) -> None:
    settings(tmp_path, "json://127.0.0.1:9/x")
    result = hubwatch("notify", "retry", "hok")
    assert result.code == 4
    assert "known: hook" in result.err


def test_a_list_of_channels_loads_nothing_that_sends() -> None:
    code = "import sys, incremental.features.messages.commands; print('requests' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.usefixtures("found")
def test_a_run_refuses_a_service_that_cannot_be_guarded(hubwatch: Run, tmp_path: Path) -> None:
    settings(tmp_path, "syslog://")
    result = hubwatch("run", "--once")
    assert result.code == 2
    assert "messages.channel[0].url" in result.err


def test_the_list_shows_what_is_announced_and_when(hubwatch: Run, tmp_path: Path) -> None:
    settings(tmp_path, "json://127.0.0.1:9/x", 'topic = "bridges"\nquiet_hours = "22:00-07:00"\n')
    (row,) = hubwatch("notify", "list", "--json").json
    assert (row["about"], row["when"]) == ("topic bridges", "at once, not 22:00-07:00")
    assert row["last_sent_at"] is None
    assert "json://" not in hubwatch("notify", "list").out

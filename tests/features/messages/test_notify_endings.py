"""What a channel hears of when a run begins and ends, and what its errors keep to themselves."""

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from cli_runner import Run
from local_site import LocalSite
from receivers import Received, WebHook
from stories import START
from test_notify_stories import LATER, LOCAL, announce

from incremental.base.clock import SystemClock
from incremental.features.messages.hooks import deliver, without_secrets
from incremental.features.messages.message import Message
from incremental.features.messages.notifier import Notifier
from incremental.features.messages.settings import ChannelSettings, MessagesSettings
from incremental.fetch.libraries import LibraryGate
from incremental.settings import Settings
from store import Store, open_store

SITE = {"/": '<a href="/about">About us</a>', "/about": "<p>A story.</p>"}


@pytest.fixture
def site() -> Iterator[LocalSite]:
    with LocalSite(dict(SITE)) as local:
        yield local


def settings(folder: Path, url: str, more: str = "") -> None:
    (folder / "hubwatch.toml").write_text(
        '[fetch]\nallowed_networks = ["127.0.0.0/8"]\n'
        f'[[messages.channel]]\nname = "hook"\nurl = "{url}"\n{more}'
    )


def the_store(folder: Path) -> Store:
    (path,) = folder.rglob("*.sqlite")
    return open_store(str(path), cache_folder=path.parent / "cache")


def test_a_channel_hears_of_what_its_first_run_finds(
    hubwatch: Run, tmp_path: Path, site: LocalSite
) -> None:
    """A run for cron sends at its end; what it found before that is new for the channel too."""
    settings(tmp_path, "json://127.0.0.1:9/x")
    assert hubwatch("run", "--once", site.url).code == 0
    with the_store(tmp_path) as store:
        (hub, *_) = store.read.hubs()
        assert hub.baseline_at is not None
        assert store.outbox.since("hook", now=hub.baseline_at + 1) <= hub.baseline_at


def test_a_damaged_search_silences_its_channel_alone(
    hubwatch: Run, tmp_path: Path, site: LocalSite
) -> None:
    settings(tmp_path, "json://127.0.0.1:9/x", 'search = "odd"\n')
    hubwatch("add", site.url)
    for damaged in ("{", '{"since": "some day"}'):
        with the_store(tmp_path) as store:
            store.answers.save_search("odd", damaged, now=START)
        assert hubwatch("run", "--once").code == 0


def test_what_is_on_its_way_when_the_daemon_ends_is_not_sent_again(sqlite_store: Store) -> None:
    arrived, answered = Event(), Event()

    def answer(_: Received) -> int:
        arrived.set()
        answered.wait()
        return 200

    with WebHook(answer) as hook, ThreadPoolExecutor(1) as executor:
        channels = (ChannelSettings("hook", hook.url),)
        settings = Settings(fetch=LOCAL, further=(MessagesSettings(channel=channels),))
        messages = Notifier(sqlite_store, settings, SystemClock(), executor=executor)
        messages.begin(START)
        announce(sqlite_store, "bridge", "tower")
        messages.step(LATER)
        arrived.wait()
        answered.set()
        messages.settle(lambda: LATER + 1)
    assert sorted(one.state for one in sqlite_store.outbox.recent("hook")) == ["sent", "waiting"]


@pytest.mark.parametrize("said", ["p%40ssword", "p@ssword", "token abcdef", "abcdef-and-more"])
def test_no_part_of_an_address_is_in_an_error(said: str) -> None:
    """Nor as the service writes it: decoded, or out of a query of several parts."""
    address = "json://user:p%40ssword@hooks.example/?order=1&token=abcdef&id=abcdef-and-more"
    announced = without_secrets(f"refused: {said} is wrong", address)
    assert announced in {"refused: ... is wrong", "refused: ... ... is wrong"}


@pytest.mark.parametrize("said", ["pw", "user:pw", "dXNlcjpwdw=="])
def test_a_short_password_is_in_no_error_either(said: str) -> None:
    announced = without_secrets(f"refused: {said} is wrong", "json://user:pw@hooks.example/x")
    assert announced in {"refused: ... is wrong", "refused: ...:... is wrong"}


def test_an_address_is_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    """Its path holds the key of most services."""
    caplog.set_level(logging.DEBUG)
    with WebHook() as hook:
        announced = deliver(LibraryGate(LOCAL, SystemClock()), hook.url, Message("A", "b"), "key")
    assert announced.ok
    # Apprise's own logger is cut off from all others; pytest listens to it all the same.
    logged = [one.getMessage() for one in caplog.records if one.name != "apprise"]
    assert not [text for text in logged if "hook-secret" in text]
    assert not logging.getLogger("apprise").propagate


def test_an_error_does_not_end_in_what_hides_the_address() -> None:
    said = "A Connection error occurred sending JSON notification to hooks.example."
    shown = without_secrets(said, "json://hooks.example/x")
    assert shown == "A Connection error occurred sending JSON notification."

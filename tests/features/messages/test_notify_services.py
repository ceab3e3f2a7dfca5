"""No service leaves by a way of its own: each of Apprise's is tried, and its connections are counted."""

import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import pytest
from apprise_addresses import services

from incremental.base.clock import SystemClock
from incremental.base.errors import SettingsError
from incremental.features.messages.hooks import GUARDED, deliver, name_of, service_of
from incremental.features.messages.message import Message
from incremental.fetch.guard import Endpoint, ForbiddenAddressError
from incremental.fetch.libraries import LibraryGate
from incremental.fetch.options import FetchSettings

# Whose services the list names.
LISTED_VERSION = "2.3.0"
LOCAL = FetchSettings(allowed_networks=("127.0.0.0/8",))
# What was refused leaves a socket behind that its library never closes.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def plugins() -> list[Any]:
    """Every plug-in of Apprise that can work on this machine."""
    manager = pytest.importorskip("apprise.manager_plugins", reason="the extra notify is missing")
    found = manager.NotificationManager()
    found.load_modules()
    return sorted({one for one in found.plugins() if one.enabled}, key=name_of)


@dataclass
class Tried:
    """How a service tried to connect."""

    through_us: int = 0
    round_us: int = 0


@pytest.fixture(scope="module")
def closing_server() -> Iterator[int]:
    """Give the port of a server that hangs up at once."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up() -> None:
            while True:
                try:
                    server.accept()[0].close()
                except OSError:
                    return

        threading.Thread(target=hang_up, daemon=True).start()
        yield server.getsockname()[1]


@pytest.fixture(scope="module")
def tried(closing_server: int) -> dict[str, Tried]:
    """Have each service send a message, to addresses made up until one makes it connect."""
    asked: list[str] = []

    def resolve(host: str, _port: int) -> list[Endpoint]:
        asked.append(host)
        return [Endpoint(socket.AF_INET, ("127.0.0.1", closing_server))]

    gate = LibraryGate(LOCAL, SystemClock(), resolve)
    results: dict[str, Tried] = {}
    for plugin in plugins():
        result = results.setdefault(name_of(plugin), Tried())
        for _, service in services(plugin):
            asked.clear()
            with gate.opened() as watch:
                try:
                    service.notify(title="title", body="body", notify_type="failure")
                except ForbiddenAddressError:
                    assert watch.refused
            result.through_us += len(asked)
            result.round_us += watch.refused
            if asked or watch.refused:
                break
    return results


def test_what_is_allowed_was_seen_to_connect_through_us_and_no_other_way(
    tried: dict[str, Tried],
) -> None:
    known = GUARDED & tried.keys()  # an older version has fewer
    assert len(known) > len(GUARDED) / 2
    assert {name for name in known if not tried[name].through_us} == set()
    assert {name for name in known if tried[name].round_us} == set()


def test_all_that_connect_through_us_are_allowed(tried: dict[str, Tried]) -> None:
    """Of the version that the list was made with; what a later one brings is refused until it is listed."""
    found = {n for n, one in tried.items() if one.through_us and not one.round_us}
    if version("apprise") != LISTED_VERSION:
        pytest.skip(f"another version of Apprise; not listed: {sorted(found - GUARDED)}")
    assert found == GUARDED


def test_some_go_round_and_were_noticed(tried: dict[str, Tried]) -> None:
    """Otherwise the guard of this test would be blind."""
    assert {"aprs", "irc", "nostr", "rsyslog"} <= {n for n, one in tried.items() if one.round_us}


@pytest.mark.parametrize(
    ("address", "name"),
    [
        (f"nostr://{'1' * 64}?relay=ws://127.0.0.1:7447", "nostr"),
        ("irc://host.example/%23general", "irc"),
        ("rsyslog://127.0.0.1/user", "rsyslog"),
        ("syslog://user", "syslog"),
    ],
)
def test_others_are_refused_by_name_before_anything_is_sent(address: str, name: str) -> None:
    with pytest.raises(SettingsError, match=f"(?i){name}.*bypass the address guard") as caught:
        service_of(address, "notify[0].url")
    assert "1111" not in str(caught.value)


def test_a_service_that_is_allowed_and_goes_round_all_the_same_is_stopped(
    closing_server: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later version of a library may change its ways: the list is not all that stands in between."""
    from apprise.plugins.custom_json import NotifyJSON

    def send(*_: object, **__: object) -> bool:
        try:
            socket.create_connection(("127.0.0.1", closing_server)).close()
        except ForbiddenAddressError:
            return False  # as many do, who catch whatever comes
        return True

    monkeypatch.setattr(NotifyJSON, "send", send)
    gate = LibraryGate(LOCAL, SystemClock())
    announced = deliver(gate, "json://127.0.0.1/secret-key", Message("title", "body"), "key")
    assert not announced.ok
    assert "json" in announced.error
    assert "bypass the address guard" in announced.error


def test_a_thread_that_a_service_starts_is_stopped_too(closing_server: int) -> None:
    caught: list[Exception] = []

    def connect() -> None:
        try:
            socket.create_connection(("127.0.0.1", closing_server)).close()
        except ForbiddenAddressError as error:
            caught.append(error)

    with LibraryGate(LOCAL, SystemClock()).opened() as watch:
        thread = threading.Thread(target=connect)
        thread.start()
        thread.join()
    assert (len(caught), watch.refused) == (1, 1)


def test_threads_that_were_there_before_are_left_alone(closing_server: int) -> None:
    begin, done = threading.Event(), threading.Event()

    def connect() -> None:
        begin.wait()
        socket.create_connection(("127.0.0.1", closing_server)).close()
        done.set()

    thread = threading.Thread(target=connect)
    thread.start()
    with LibraryGate(LOCAL, SystemClock()).opened() as watch:
        begin.set()
        assert done.wait(5)
    thread.join()
    assert watch.refused == 0


def test_afterwards_everybody_may_connect(closing_server: int) -> None:
    with LibraryGate(LOCAL, SystemClock()).opened():
        pass
    socket.create_connection(("127.0.0.1", closing_server)).close()

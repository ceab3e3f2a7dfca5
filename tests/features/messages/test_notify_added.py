"""Channels that are added and removed while the daemon runs."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cli_runner import Run
from fake_web import START
from lab.clocks import SimulatedClock
from receivers import WebHook
from stories import news_site, target, visit_of

from incremental.features.messages.channels import put_channel, remove_channel
from incremental.features.messages.notifier import Notifier
from incremental.fetch.options import FetchSettings
from incremental.settings import Settings
from store import open_store

pytest.importorskip("apprise", reason="the extra `notify` is not installed")
LOCAL = FetchSettings(allowed_networks=("127.0.0.0/8",))


def test_a_channel_announces_what_is_found_after_it_was_added_and_nothing_after_it_was_removed(
    tmp_path: Path,
) -> None:
    clock = SimulatedClock(START)
    with (
        open_store(str(tmp_path / "s.sqlite"), cache_folder=tmp_path) as store,
        WebHook() as hook,
        ThreadPoolExecutor(1) as threads,
    ):
        site, home = news_site(store)
        notifier = Notifier(store, Settings(fetch=LOCAL), clock, executor=threads)
        assert notifier.step(clock.now()) > clock.now()

        def finds(path: str) -> None:
            clock.advance_to(clock.now() + 60)
            link = target(path, fate="announce")
            store.write.visit(visit_of(site, home, clock.now(), link))
            notifier.finish(clock.now)

        finds("/before.html")
        clock.advance_to(clock.now() + 60)
        put_channel(store, Settings(), "hook", {"url": hook.url}, now=clock.now())
        finds("/after.html")
        assert len(hook.messages) == 1
        assert "after.html" in hook.messages[0].body
        remove_channel(store, Settings(), "hook")
        finds("/later.html")
        assert len(hook.messages) == 1


def test_a_channel_with_words_announces_only_what_has_them(tmp_path: Path) -> None:
    clock = SimulatedClock(START)
    with (
        open_store(str(tmp_path / "s.sqlite"), cache_folder=tmp_path) as store,
        WebHook() as hook,
        ThreadPoolExecutor(1) as threads,
    ):
        site, home = news_site(store)
        words = {"include": ["bridge", "桥梁"], "exclude": ["draft"]}
        put_channel(store, Settings(), "hook", {"url": hook.url, **words}, now=clock.now())
        notifier = Notifier(store, Settings(fetch=LOCAL), clock, executor=threads)
        clock.advance_to(clock.now() + 60)
        titles = ("A bridge", "Draft of a bridge", "桥梁招标", "A tunnel")
        links = [target(f"/{n}.html", title, fate="announce") for n, title in enumerate(titles)]
        store.write.visit(visit_of(site, home, clock.now(), *links))
        notifier.finish(clock.now)
        said = " ".join(one.title + one.body for one in hook.messages)
        assert [title in said for title in titles] == [True, False, True, False]


def test_when_a_channel_sends_is_given_and_checked(hubwatch: Run) -> None:
    address = "json://hooks.example/key"
    assert hubwatch("notify", "add", "team", address).code == 0
    refused = hubwatch("notify", "add", "team", "--daily-at", "eight")
    assert (refused.code, "daily_at" in refused.err) == (2, True)
    hubwatch("notify", "add", "team", "--daily-at", "08:00")
    assert hubwatch("notify", "list", "--json").json[0]["when"] == "daily at 08:00"


def test_a_channel_says_that_its_topic_or_its_search_was_removed(hubwatch: Run) -> None:
    address = "json://hooks.example/key"
    hubwatch("topic", "add", "bridges", "--keyword", "bridge")
    hubwatch("searches", "save", "works", "building site")
    assert hubwatch("notify", "add", "one", address, "--topic", "bridges").code == 0
    assert hubwatch("notify", "add", "two", address, "--search", "works").code == 0
    assert [row["error"] for row in hubwatch("notify", "list", "--json").json] == ["", ""]
    hubwatch("topic", "remove", "bridges", "--yes")
    hubwatch("searches", "remove", "works")
    first, second = (row["error"] for row in hubwatch("notify", "list", "--json").json)
    assert (first, second) == (
        "gets nothing: the topic bridges was removed",
        "gets nothing: the saved search works was removed",
    )

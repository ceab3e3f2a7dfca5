"""The host gate: crawler, single fetch and explanation have the same answer of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from fake_web import DAY, HOUR, START, FakeWeb, Watch, page
from lab.clocks import SimulatedClock

from incremental.base.scope import Reach
from incremental.daemon.assembly import make_fetcher
from incremental.fetch.status import FetchStatus, Response
from incremental.interfaces.explain.page import explain
from incremental.settings import Settings, build_settings
from incremental.settings.seeds import SeedTerms
from incremental.settings.storage import open_configured_store
from incremental.visit.host_gate import MOST_HOSTS, HostGate, HostTurns
from incremental.visit.once import fetch_once
from store.daemons import Daemons
from store.values import HostRow

SEED = "https://news.example/list/"
ROBOTS = "https://news.example/robots.txt"
WEB = {SEED: page("/list/a.html")}


def rules(text: str | None, **fields: Any) -> dict[str, Any]:
    """Return robots.txt as it is stored, asked for an hour ago."""
    return {"text": text, "status": "fetched", "fetched_at": START - HOUR, "failures": 0, **fields}


CASES: dict[str, tuple[dict[str, Any] | None, str, list[str]]] = {
    "unknown": (None, "not asked yet", [ROBOTS, SEED]),
    "allowed": (rules(""), "allowed", [SEED]),
    "denied": (rules("User-agent: *\nDisallow: /list/"), "denied by robots.txt", []),
    "denied to others": (rules("User-agent: other\nDisallow: /"), "allowed", [SEED]),
    "expired": (rules("", fetched_at=START - 2 * DAY), "allowed", [ROBOTS, SEED]),
    "unreachable": (
        rules(None, status="timed_out", failures=6),
        "robots.txt unreachable (timed out): nothing is fetched until it answers",
        [],
    ),
    "unreachable, rules known": (rules("", status="timed_out", failures=6), "allowed", [SEED]),
    "refused by the settings then": (
        rules(None, status="forbidden_address", failures=6),
        "not public: name the address in [fetch] allowed_networks to allow it",
        [ROBOTS, SEED],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_crawler_single_fetch_and_explanation_agree(case: str, tmp_path: Path) -> None:
    stored, says, asked = CASES[case]
    robots = json.dumps({ROBOTS: stored} if stored else {})
    host = HostRow("news.example", 0.0, 0, None, robots)
    settings = Settings()
    with Watch(
        tmp_path / "crawler",
        FakeWeb(SimulatedClock(START), WEB),
        SEED,
        settings=settings,
        terms=SeedTerms(reach=Reach.PREFIX),
    ) as crawl:
        crawl.store.write.put_host(host)
        explained = explain(crawl.store, settings, SEED, now=START)
        crawl.run(20)
        by_crawler = [one.url for one in crawl.web.asked if one.url in (ROBOTS, SEED)]
    with open_configured_store(settings, tmp_path / "once") as store:
        store.write.put_host(host)
        web = FakeWeb(SimulatedClock(START), WEB)
        fetcher = make_fetcher(settings, web.clock, adapter=web)
        response = fetch_once(store, settings, SEED, fetcher.fetch, now=START)
    assert explained["robots"] == says
    assert by_crawler == asked
    assert [one.url for one in web.asked] == asked
    assert (response.status is FetchStatus.FETCHED) == bool(asked)


@pytest.mark.parametrize(("failures", "waits"), [(0, False), (3, True)])
def test_a_person_waits_for_a_host_in_trouble_and_not_for_the_pause(
    failures: int, waits: bool, tmp_path: Path
) -> None:
    with open_configured_store(Settings(), tmp_path) as store:
        robots = json.dumps({ROBOTS: rules("")})
        store.write.put_host(HostRow("news.example", START + 5, failures, None, robots))
        web = FakeWeb(SimulatedClock(START), WEB)
        fetcher = make_fetcher(Settings(), web.clock, adapter=web)
        response = fetch_once(store, Settings(), SEED, fetcher.fetch, now=START)
        assert (response.status is FetchStatus.RATE_LIMITED) == waits
        assert (web.asked == []) == waits
        host = store.read.host("news.example")
        assert host is not None
        assert host.next_allowed_at >= START + 5


def test_a_redirect_onto_a_denied_path_brings_nothing_and_is_paid_for(tmp_path: Path) -> None:
    with open_configured_store(Settings(), tmp_path) as store:
        gate = HostGate(store, Settings())
        answer = Response(ROBOTS, FetchStatus.FETCHED, body=b"User-agent: *\nDisallow: /secret")
        store.write.put_host(gate.release(ROBOTS, answer, START, robots=True))
        secret = "https://news.example/secret/b"
        landed = Response(secret, FetchStatus.FETCHED, body=b"x", redirects=(SEED,))
        later = START + DAY / 2
        assert gate.release(SEED, landed, later).next_allowed_at == later + 5
        obeyed = gate.obey(landed)
        assert (obeyed.status, obeyed.body) == (FetchStatus.ROBOTS_DENIED, b"")


def test_a_host_is_busy_from_a_request_to_its_end(tmp_path: Path) -> None:
    with open_configured_store(Settings(), tmp_path) as store:
        gate = HostGate(store, Settings())
        gate.occupy(SEED, START)
        assert gate.ask("https://www.news.example/other", START).busy
        gate.release(SEED, Response(SEED, FetchStatus.FETCHED), START)
        assert not gate.ask(SEED, START).busy


class Claims(HostTurns):
    """Keeps how long a host rests should the daemon end meanwhile; *waits*: another one asks it."""

    def __init__(self, daemons: Daemons, waits: float = 0.0) -> None:
        super().__init__(daemons)
        self.rests: list[float] = []
        self._waits = waits

    def take(self, host: str, delay_seconds: float, now: float) -> float:
        del host, now
        self.rests.append(delay_seconds)
        return self._waits


@pytest.mark.parametrize(
    ("engine", "rest"),
    [
        ({"kind": "threads"}, 5.0),
        ({"kind": "processes"}, 125.0),
        ({"kind": "dask", "address": "tcp://127.0.0.1:8786"}, 125.0),
    ],
)
def test_a_host_rests_as_long_as_a_visit_may_outlive_its_daemon(
    engine: dict[str, str], rest: float, tmp_path: Path
) -> None:
    """Threads end and stand still with the daemon; processes only end with it, workers do neither."""
    settings = build_settings({"engine": engine})
    with open_configured_store(settings, tmp_path) as store:
        claims = Claims(store.daemons)
        gate = HostGate(store, settings, claims)
        gate.take(SEED, gate.ask(SEED, START), START)
    assert claims.rests == [rest]


def test_a_host_is_kept_from_the_crawler_while_its_icon_is_asked_for(tmp_path: Path) -> None:
    with open_configured_store(Settings(), tmp_path) as store:
        gate = HostGate(store, Settings())
        gate.occupy(SEED, START)
        assert not gate.reserve(SEED, 40.0, START)
        gate.release(SEED, Response(SEED, FetchStatus.FETCHED), START + 1)
        assert not gate.reserve(SEED, 40.0, START + 2)
        rested = gate.allowed_at(SEED, START + 2)
        assert gate.reserve(SEED, 40.0, rested)
        assert gate.ask(SEED, rested).allowed_at == rested + 40.0
        assert not gate.reserve(SEED, 40.0, rested)


@pytest.mark.parametrize("waits", [0.0, 3.0])
def test_a_host_is_kept_from_other_daemons_as_well(waits: float, tmp_path: Path) -> None:
    with open_configured_store(Settings(), tmp_path) as store:
        claims = Claims(store.daemons, waits)
        gate = HostGate(store, Settings(), claims)
        assert gate.reserve(SEED, 40.0, START) is not bool(waits)
        assert claims.rests == [40.0]
        assert gate.allowed_at(SEED, START) == START + (waits or 40.0)


def test_a_host_is_quick_by_its_last_answer(tmp_path: Path) -> None:
    with open_configured_store(Settings(), tmp_path) as store:
        gate = HostGate(store, Settings())
        assert not gate.is_quick(SEED, START)
        answers = [
            (FetchStatus.FETCHED, 0, True),
            (FetchStatus.FETCHED, 30, False),
            (FetchStatus.FETCHED, 1, True),
            (FetchStatus.TIMED_OUT, 1, False),
            (FetchStatus.FETCHED, 1, True),
        ]
        for status, seconds, quick in answers:
            gate.occupy(SEED, START)
            row = gate.release(SEED, Response(SEED, status), START + seconds)
            assert gate.is_quick(SEED, START) is quick
        store.write.put_host(row)
        assert HostGate(store, Settings()).is_quick(SEED, START)


def test_the_policies_that_were_used_last_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("incremental.visit.host_gate.MOST_POLICIES", 2)
    with open_configured_store(Settings(), tmp_path) as store:
        gate = HostGate(store, Settings())
        hosts = [f"https://{name}.example/robots.txt" for name in "abc"]
        for url in hosts:
            gate.release(url, Response(url, FetchStatus.GONE), START, robots=True)
        says = [gate.ask(url, START).says for url in hosts]
        # Nothing was stored, so what is not remembered is not known.
        assert says == ["not asked yet", "allowed", "allowed"]


def test_hosts_that_never_come_again_are_not_kept_in_memory(tmp_path: Path) -> None:
    """One that was dropped is read from the store again, with what it is owed."""
    with open_configured_store(Settings(), tmp_path) as store:
        gate = HostGate(store, Settings())
        for number in range(MOST_HOSTS + 200):
            url = f"https://host{number}.example/"
            gate.occupy(url, START)
            gate.ask(url, START)
            busy = Response(url, FetchStatus.RATE_LIMITED, http_code=429, retry_after_seconds=HOUR)
            store.write.put_host(gate.release(url, busy, START))
        assert len(gate._hosts) == MOST_HOSTS
        first = gate.ask("https://host0.example/", START + 1)
        assert first.allowed_at == START + HOUR
        assert first.failures == gate.ask(f"https://host{MOST_HOSTS}.example/", START + 1).failures

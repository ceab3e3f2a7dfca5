"""What holds on every engine: outcomes, guard, credentials, politeness, and the news of a story."""

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
import pytest
from engine_site import EngineSite, news_site
from engine_story import EngineStory, elsewhere_of, engine_settings
from lab.dask_cluster import DaskCluster

from incremental.base.clock import SystemClock
from incremental.crawl.engine import Engine
from incremental.daemon.assembly import make_fetcher
from incremental.fetch.options import FetchSettings, SiteAccess, origin
from incremental.fetch.status import FetchStatus
from incremental.sandbox import read_body
from incremental.settings import Settings, SiteSettings
from incremental.settings.sections import EngineKind
from incremental.visit.engines.elsewhere import make_elsewhere, terms_of
from incremental.visit.engines.visits import EngineReport
from incremental.visit.engines.worker import access_of
from incremental.visit.visit import Outcome, Purpose, VisitTask, visit

HOUR, DAY = 3_600.0, 86_400.0
SECRET = "a-secret-of-one-site"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """Two workers with two threads each."""
    with DaskCluster(tmp_path_factory.mktemp("cluster")) as there:
        for _ in range(2):
            there.start_worker(threads=2)
        there.wait_for(2)
        yield there


@pytest.fixture(params=["threads", "processes", "dask"])
def settings(request: pytest.FixtureRequest) -> Settings:
    """Settings of each engine."""
    kind: EngineKind = request.param
    address = request.getfixturevalue("cluster").address if kind == "dask" else ""
    return engine_settings(kind, address)


def hub(url: str) -> VisitTask:
    return VisitTask(Purpose.HUB, url, 1, 1)


@contextmanager
def engine_of(settings: Settings) -> Iterator[Callable[[VisitTask], Future[Outcome]]]:
    """What begins visits on the engine of the settings, threads included."""
    with (
        ThreadPoolExecutor(settings.daemon.workers) as threads,
        elsewhere_of(settings) as elsewhere,
    ):
        if elsewhere is not None:
            yield lambda task: threads.submit(elsewhere.visit, task)
            return
        fetch = make_fetcher(settings, SystemClock()).fetch
        here = partial(visit, fetch=fetch, read=read_body)
        yield lambda task: threads.submit(here, task)


def test_a_visit_brings_the_same_wherever_it_runs(settings: Settings) -> None:
    with EngineSite(news_site(3)) as site, engine_of(settings) as start:
        found = start(hub(f"{site.url}/")).result(60)
        here = visit(hub(f"{site.url}/"), make_fetcher(settings, SystemClock()).fetch)
    assert len(found.page.links if found.page else ()) == 3
    assert (found.page, found.body_md5) == (here.page, here.body_md5)
    headers = {name: value for name, value in found.response.headers.items() if name != "date"}
    assert headers["content-type"] == "text/html; charset=utf-8"


def test_the_address_guard_runs_where_the_visit_does(settings: Settings) -> None:
    guarded = msgspec.structs.replace(settings, fetch=FetchSettings())
    with EngineSite(news_site(3)) as site, engine_of(guarded) as start:
        found = start(hub(f"{site.url}/")).result(60)
        assert (found.response.status, site.asked) == (FetchStatus.FORBIDDEN_ADDRESS, [])


def test_an_address_that_is_none_is_an_outcome(settings: Settings) -> None:
    with engine_of(settings) as start:
        found = start(hub("nowhere")).result(60)
        assert found.response.status is FetchStatus.INVALID_URL


def test_credentials_reach_their_origin_alone(settings: Settings) -> None:
    with EngineSite(news_site(1)) as one, EngineSite(news_site(1)) as other:
        secret = SiteSettings(url=f"{one.url}/", headers={"X-Key": SECRET})
        with engine_of(msgspec.structs.replace(settings, site=(secret,))) as start:
            for site in (one, other, one):
                start(hub(f"{site.url}/")).result(60)
        assert [headers.get("X-Key") for _, headers in one.headers] == [SECRET, SECRET]
        assert [headers.get("X-Key") for _, headers in other.headers] == [None]


def test_a_worker_is_sent_the_credentials_of_no_other_site() -> None:
    secrets = {
        f"https://{name}.example": SiteAccess(
            headers={"X-Key": f"key-{name}"}, username=name, password=f"password-{name}"
        )
        for name in ("one", "other")
    }
    settings = engine_settings(
        "processes",
        sites=[
            SiteSettings(url=f"{url}/", headers=dict(access.headers))
            for url, access in secrets.items()
        ],
    )
    by_origin = {origin(url): access for url, access in secrets.items()}
    terms = terms_of(settings, readers=1)
    sent = {
        url: (hub(f"{url}/list"), terms, access_of(hub(f"{url}/list"), by_origin))
        for url in (*secrets, "https://third.example")
    }
    one = pickle.dumps(sent["https://one.example"])
    assert b"key-one" in one
    assert b"password-one" in one
    assert b"key-other" not in one
    assert b"password-other" not in one
    assert b"key-" not in pickle.dumps(sent["https://third.example"])
    assert "key-one" not in repr(sent)
    assert "password-one" not in repr(sent)


def test_no_more_visits_are_under_way_than_workers_and_outcomes_that_nobody_takes_hold_them(
    settings: Settings,
) -> None:
    """A slow writer slows fetching: what has ended counts until it was taken."""
    with EngineSite(news_site(3)) as site, engine_of(settings) as start:
        engine = Engine(start, partial(EngineReport, settings.engine.kind, 2), workers=2)
        for number in range(2):
            engine.start(replace(hub(f"{site.url}/"), page_id=number))
        assert engine.free == 0
        engine.wait(60)
        assert (engine.free, engine.has_finished) == (0, True)
        while not engine.idle:
            engine.wait(60)
            assert all(outcome.page for outcome in engine.finished())
        assert (engine.free, len(site.asked)) == (2, 2)


def test_a_story_has_the_same_news_and_no_host_is_asked_twice_at_a_time(
    settings: Settings, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        sites = [
            stack.enter_context(EngineSite(news_site(4), host=f"127.0.0.{number}"))
            for number in (2, 3, 4)
        ]
        elsewhere = stack.enter_context(elsewhere_of(settings))
        story = stack.enter_context(EngineStory(tmp_path, settings, elsewhere, *sites))
        story.run(6 * HOUR)
        assert story.new() == []
        for site in sites:
            site.pages |= news_site(6)
        story.run(DAY)
        late = [f"/news/2026/story-number-{number}-of-the-day" for number in (4, 5)]
        expected = [(f"127.0.0.{host}", path) for host in (2, 3, 4) for path in late]
        assert sorted(story.new()) == expected
        assert [site.most_at_once for site in sites] == [1, 1, 1]


def test_threads_are_those_of_the_daemon() -> None:
    with make_elsewhere(engine_settings("threads"), SystemClock()) as elsewhere:
        assert elsewhere is None

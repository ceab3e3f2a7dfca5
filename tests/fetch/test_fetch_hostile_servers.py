"""Whatever a server does, a fetch of it ends within its limits, as a value with a status."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from lab.fault_server import BEHAVIOURS, FaultServer

from incremental.base.clock import SystemClock
from incremental.fetch.options import FetchSettings
from incremental.fetch.session import Fetcher
from incremental.fetch.status import FetchStatus, Request, Response

MOST_BYTES = 3_000_000
SETTINGS = FetchSettings(
    allowed_networks=("127.0.0.0/24", "127.0.1.0/24"),
    connect_timeout_seconds=2,
    read_timeout_seconds=1,
    total_timeout_seconds=2,
    max_body_bytes=MOST_BYTES,
)
OF = FetchStatus
# What a reader of these names expects; the others may end in several ways. On a slow machine all of them
# may time out.
EXPECTED: dict[str, set[FetchStatus]] = {
    "silence": set(),
    "slow headers": set(),
    "dripping body": set(),
    "endless body": {OF.TOO_LARGE},
    "gzip bomb": {OF.TOO_LARGE},
    "redirects to private addresses": {OF.FORBIDDEN_ADDRESS, OF.REDIRECTED},
    "304 for everything": {OF.HTTP_ERROR},  # nothing conditional was asked
    "429 for ever": {OF.RATE_LIMITED},
}
PATHS = {
    "robots.txt": "robots.txt",
    "feed": "feed.xml",
    "JSON": "feed.json",
    "map": "sitemap.xml.gz",
}


@pytest.fixture(scope="module")
def ended() -> Iterator[dict[str, Response]]:
    """Each host's answer where it behaves badly."""
    with FaultServer() as faults, ThreadPoolExecutor(12) as pool:
        fetcher = Fetcher(SETTINGS, clock=SystemClock())

        def fetch(name: str) -> Response:
            path = next((path for word, path in PATHS.items() if word in name), "")
            return fetcher.fetch(Request(faults.urls[name] + path))

        yield dict(zip(BEHAVIOURS, pool.map(fetch, BEHAVIOURS), strict=True))
        fetcher.close()


def test_there_are_many_behaviours() -> None:
    assert len(BEHAVIOURS) >= 40


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_a_fetch_of_a_hostile_host_ends_as_a_value(name: str, ended: dict[str, Response]) -> None:
    response = ended[name]
    usual = EXPECTED.get(name, set(FetchStatus) - {OF.INTERNAL_ERROR})
    assert response.status in usual | {OF.TIMED_OUT}
    assert len(response.body) <= MOST_BYTES


def test_every_expected_behaviour_is_one() -> None:
    assert EXPECTED.keys() <= BEHAVIOURS.keys()

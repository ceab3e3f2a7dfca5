"""Who looks after a daemon sees what runs its visits: status, doctor, metrics, page and health."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from cli_runner import Run
from engine_site import EngineSite, news_site
from lab.clocks import SimulatedClock
from lab.daemon_process import free_port
from lab.dask_cluster import DaskCluster
from web_served import Served

from incremental.base.errors import SettingsError
from incremental.daemon.health import Health, ProblemKind
from incremental.visit.engines.cluster import connect
from incremental.visit.engines.visits import EngineReport

DASK = EngineReport(
    "dask",
    6,
    processes=2,
    address="tcp://127.0.0.1:8786",
    refused=("tcp://127.0.0.1:9: it runs Hubwatch 0.0.1",),
)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """A worker with two threads, and one of another version."""
    with DaskCluster(tmp_path_factory.mktemp("cluster")) as there:
        there.start_worker(threads=2)
        there.start_worker(other_version=True)
        there.wait_for(2)
        yield there


def configure(folder: Path, engine: str) -> None:
    text = '[fetch]\ncontact = "me@example.org"\nallowed_networks = ["127.0.0.0/8"]\n'
    (folder / "hubwatch.toml").write_text(f"{text}[web]\nenabled = false\n[engine]\n{engine}\n")


def test_a_single_run_on_a_cluster_visits_what_is_due(
    cluster: DaskCluster, hubwatch: Run, tmp_path: Path
) -> None:
    configure(tmp_path, f'kind = "dask"\naddress = "{cluster.address}"')
    with EngineSite(news_site(3)) as site:
        done = hubwatch("run", "--once", "--json", f"{site.url}/")
    assert json.loads(done.out)["visits"]["fetched"] >= 1
    assert "/" in site.asked


def test_a_run_without_a_scheduler_ends_with_the_way_out(hubwatch: Run, tmp_path: Path) -> None:
    address = f"tcp://127.0.0.1:{free_port()}"
    configure(tmp_path, f'kind = "dask"\naddress = "{address}"')
    done = hubwatch("run", "--once", "https://news.example/")
    assert done.code == 2
    assert f"setting engine.address = '{address}': no Dask scheduler answers there" in done.err


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_another_kind_of_service_at_the_address_is_an_error_within_seconds(answer: bytes) -> None:
    """Dask's client waits without end for one that says nothing."""
    with speaking(answer) as address, pytest.raises(SettingsError, match="no Dask scheduler"):
        connect(address)


def test_tls_without_certificates_is_an_error_of_the_setting() -> None:
    with pytest.raises(SettingsError, match="TLS configuration"):
        connect(f"tls://127.0.0.1:{free_port()}")


@contextmanager
def speaking(answer: bytes) -> Iterator[str]:
    """A service that says the same to whoever connects, or nothing; yields its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener, ExitStack() as connections:

        def serve() -> None:
            with suppress(OSError):  # the listener was closed
                while True:
                    connections.enter_context(listener.accept()[0]).sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        yield f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


def test_what_a_cluster_waits_for_is_serious_and_a_refused_worker_is_not() -> None:
    health = Health(SimulatedClock(1_000.0))
    health.engine = lambda: DASK
    assert [one.kind for one in health.report().problems] == [ProblemKind.WORKER]
    assert health.report().well
    health.engine = lambda: replace(DASK, waits="no worker", since=900.0)
    first = health.report().problems[0]
    assert (first.kind, first.since) == (ProblemKind.ENGINE, 900.0)
    assert not health.report().well


def test_page_and_api_show_the_engine(served: Served) -> None:
    health = Health(served.clock)
    health.engine = lambda: replace(DASK, waits="no worker <b>")
    shown = Served(replace(served.web, health=health), served.store, served.clock)
    client = shown.client()
    page = client.get("/status").text
    assert "No worker can be reached" in page
    assert "no worker &lt;b&gt;" in page
    assert "Visits at a time" in page
    assert "并发访问数" in client.get("/status", headers={"Accept-Language": "zh"}).text
    engine = client.get("/api/v1/status").json()["daemon"]["engine"]
    assert (engine["kind"], engine["workers"], len(engine["refused"])) == ("dask", 6, 1)
    assert client.get("/healthz").text == "no worker can be reached\n"


def test_an_engine_in_words() -> None:
    assert DASK.text() == "Dask at tcp://127.0.0.1:8786, 2 workers, 6 visits at a time"

"""The executor of a Dask cluster, and who works there.

Dask chooses the worker, gives what a lost worker did to another one, and comes back to a scheduler that was
started again. What it does not know is looked at every half second: which workers have this version of
Hubwatch.
"""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import replace
from functools import partial
from typing import Any, ParamSpec, TypeVar

from incremental.base.attempts import Bug, attempt
from incremental.base.clock import Clock
from incremental.base.errors import SettingsError
from incremental.base.texts import Text
from incremental.visit.engines.visits import EngineReport
from incremental.visit.engines.worker import introduce, refusal

try:
    import distributed
    import distributed.comm.core as comms
except ImportError as error:
    way_out = "needs Dask: pip install 'hubwatch[dask]'"
    raise SettingsError("engine.kind", "dask", way_out) from error

logger = logging.getLogger("hubwatch.engine")

LOOK_SECONDS = 0.5
_CONNECT_SECONDS = 5.0
# Before a visit is made again: longer than most hosts want between two requests.
_AGAIN_SECONDS = 5.0
# Dask goes on asking for a scheduler that went for as long as its first connection may take.
_RECONNECT_SECONDS = 10 * 365 * 86_400.0

P = ParamSpec("P")
T = TypeVar("T")


class ClusterExecutor(Executor):
    """That of a Dask client, for workers of our version."""

    died = distributed.KilledWorker
    """Raised by a call whose workers died, one after the other."""

    def __init__(self, address: str, clock: Clock) -> None:
        """Connect to the scheduler at *address*.

        Raises:
            SettingsError: there is none.
        """
        # What they report is said below in words of ours. Dask gives several of them a level.
        for name in list(logging.root.manager.loggerDict):
            if name.startswith("distributed"):
                logging.getLogger(name).setLevel(logging.CRITICAL)
        self._now = clock.now
        self._ours = introduce()
        # By worker: the call by which it says its version.
        self._said: dict[str, Future[str]] = {}
        self._accepted: list[str] = []
        waits = Text("health.no_worker")
        self._report = EngineReport("dask", 0, 0, address, waits, clock.now())
        self._client = connect(address)
        self._executor = self._client.get_executor(pure=False)
        self._ending = threading.Event()
        self._looker = threading.Thread(target=self._look_on, name="cluster", daemon=True)
        self._looker.start()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Start a call.

        Raises:
            ConnectionError: the scheduler is gone; what is asked for meanwhile may never be answered.
        """
        if self._client.status != "running":
            raise ConnectionError(f"no scheduler answers at {self._report.address}")
        # Dask does not give a task that is bound to workers which are gone to one that comes.
        only = self._accepted if self._report.refused else None
        made: Future[T] = self._executor.submit(_politely, fn, *args, **kwargs, workers=only)
        return made

    def report(self) -> EngineReport:
        """Return who works for us, who is refused, and what is waited for."""
        if self._client.status == "running" or self._report.waits:
            return self._report
        return replace(self._unanswered(), since=self._now())  # the next look will say so as well

    def shutdown(self, *_: object, **_further: object) -> None:
        """Leave the cluster; calls under way are cancelled there, whatever is said."""
        self._ending.set()
        self._looker.join(timeout=_CONNECT_SECONDS)
        attempt(partial(self._client.close, _CONNECT_SECONDS))

    def _look_on(self) -> None:
        while not self._ending.wait(LOOK_SECONDS):
            found = attempt(self._look)
            if isinstance(found, Bug):
                found = EngineReport("dask", 0, 0, self._report.address, found.error)
            self._note(found)

    def _look(self) -> EngineReport:
        """Return which workers there are, and which of them have our version."""
        threads: dict[str, int] | None = None
        if self._client.status == "running":
            with contextlib.suppress(OSError):  # the connection broke before the client noticed
                threads = self._client.nthreads()
        if threads is None:
            self._said = {}
            return self._unanswered()
        said = {one: call for one, call in self._said.items() if not call.cancelled()}
        self._said = {
            one: said.get(one) or self._executor.submit(introduce, workers=[one]) for one in threads
        }
        why = {one: self._refusal(call) for one, call in self._said.items() if call.done()}
        self._accepted = [one for one, reason in why.items() if not reason]
        return EngineReport(
            "dask",
            sum(threads[one] for one in self._accepted),
            len(self._accepted),
            self._report.address,
            "" if self._accepted else Text("health.no_worker"),
            refused=tuple(
                Text("health.worker_refused", address=one, reason=reason)
                for one, reason in why.items()
                if reason
            ),
        )

    def _unanswered(self) -> EngineReport:
        address = self._report.address
        return EngineReport("dask", 0, 0, address, Text("health.no_scheduler", address=address))

    def _refusal(self, said: Future[str]) -> str:
        """Return why a worker gets no visits; empty = it gets some."""
        theirs = attempt(said.result)
        if isinstance(theirs, Bug):
            return Text("health.worker_cannot", reason=theirs.error)
        return refusal(theirs, self._ours)

    def _note(self, found: EngineReport) -> None:
        """Note who works for us, and say what has changed."""
        before, waits = self._report, found.waits
        since = before.since if waits == before.waits else self._now()
        self._report = replace(found, since=since if waits else 0.0)
        for one in set(found.refused) - set(before.refused):
            logger.warning("refused: %s", one)
        if waits and waits != before.waits:
            logger.warning("waiting for the cluster, nothing is fetched: %s", waits)
        elif before.waits and not waits:
            logger.warning("the cluster can be used: %d visits at a time", found.workers)


def _politely(fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Make a call on a worker; wait before it if the worker that had it ended.

    Dask gives it to another one at once, when its host may just have been asked.
    """
    key = distributed.get_worker().get_current_task()
    scheduler = distributed.get_client()
    if scheduler.run_on_scheduler(_lost_workers, key=key):  # type: ignore[no-untyped-call]
        threading.Event().wait(_AGAIN_SECONDS)
    return fn(*args, **kwargs)


def _lost_workers(key: str, dask_scheduler: Any = None) -> int:  # noqa: ANN401 - Dask's own
    """Return how many workers ended while they had a task; runs on the scheduler."""
    task = dask_scheduler.tasks.get(key)
    return 0 if task is None else int(task.suspicious)


def connect(address: str) -> Any:  # noqa: ANN401 - Dask's own
    """Return a client of the scheduler at *address*.

    Raises:
        SettingsError: none answers within a few seconds, or the address cannot be used.
    """
    found: Any = attempt(partial(_connected, address))
    if isinstance(found, Bug):
        way_out = (
            "no Dask scheduler answers there; start it (dask scheduler), or correct the address "
            f"({found.error})"
        )
        raise SettingsError("engine.address", address, way_out)
    return found


def _connected(address: str) -> Any:  # noqa: ANN401 - Dask's own
    """Return a client of the scheduler at *address*; raises what Dask raises."""
    # A client would wait without end for a service that says nothing, so Dask's protocol is tried first.
    asyncio.run(_greet(address))
    return distributed.Client(  # type: ignore[no-untyped-call]
        address, timeout=_RECONNECT_SECONDS, set_as_default=False, name="hubwatch"
    )


async def _greet(address: str) -> None:
    """Connect to a process of Dask, and disconnect."""
    terms = distributed.Security().get_connection_args("client")  # type: ignore[no-untyped-call]
    try:
        async with asyncio.timeout(2 * _CONNECT_SECONDS):
            comm = await comms.connect(address, timeout=_CONNECT_SECONDS, **terms)  # type: ignore[no-untyped-call]
            await comm.close()
    except MemoryError as error:  # the first bytes are taken for a length
        raise ValueError("another kind of service answers there") from error

"""Visits on the executor of a Dask cluster.

Dask chooses the worker, gives what a lost worker did to another one, and comes back to a scheduler that was
started again. What it does not know is looked at every half second: which workers have this version of
Hubwatch, and which visits were never answered.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any

from incremental.base.attempts import Bug, attempt
from incremental.base.clock import Clock
from incremental.base.errors import SettingsError
from incremental.base.texts import Text
from incremental.fetch.options import SiteAccess
from incremental.visit.engines.elsewhere import Call, VisitsElsewhere
from incremental.visit.engines.visits import EngineReport
from incremental.visit.engines.worker import WorkerTerms, introduce, refusal

try:
    import distributed
    import distributed.comm.core as comms
except ImportError as error:
    way_out = "needs Dask: pip install 'hubwatch[dask]'"
    raise SettingsError("engine.kind", "dask", way_out) from error

if TYPE_CHECKING:
    from incremental.visit.visit import Outcome, VisitTask

logger = logging.getLogger("hubwatch.engine")

LOOK_SECONDS = 0.5
_CONNECT_SECONDS = 5.0
# Dask goes on asking for a scheduler that went for as long as its first connection may take.
_RECONNECT_SECONDS = 10 * 365 * 86_400.0
# What sending a visit and its outcome may take, besides the visit itself.
_ON_THE_WAY_SECONDS = 10.0


class ClusterVisits(VisitsElsewhere):
    """Visits on a Dask cluster."""

    died = distributed.KilledWorker

    def __init__(
        self, address: str, terms: WorkerTerms, sites: Mapping[str, SiteAccess], clock: Clock
    ) -> None:
        """Connect to the scheduler at *address*. *sites*: credentials by origin.

        Raises:
            SettingsError: there is none.
        """
        super().__init__(terms, sites)
        # What they report is said below in words of ours. Dask gives several of them a level.
        for name in [
            one for one in logging.root.manager.loggerDict if one.startswith("distributed")
        ]:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._clock = clock
        self._lock = threading.Lock()
        self._under_way: dict[Future[Outcome], float] = {}
        # By worker: why it is refused, empty = it is not; or the call by which it says its version.
        self._said: dict[str, Any] = {}
        self._accepted: list[str] = []
        self._report = EngineReport(
            "dask",
            0,
            processes=0,
            address=address,
            waits=Text("health.no_worker"),
            since=clock.now(),
        )
        self._client = connect(address)
        self._executor = self._client.get_executor(pure=False)
        self._end_looking = threading.Event()
        self._looker = threading.Thread(target=self._look_on, name="cluster", daemon=True)
        self._looker.start()

    def start(self, task: VisitTask) -> Future[Outcome]:
        """Start a visit."""
        answer = super().start(task)
        with self._lock:
            self._under_way[answer] = self._clock.monotonic()
        return answer

    def _submit(self, call: Call) -> Future[Outcome]:
        if self._client.status != "running":  # what is asked for meanwhile may never be answered
            raise ConnectionError(self._gone())
        # Dask does not give a task that is bound to workers which are gone to one that comes.
        only = self._accepted if self._report.refused else None
        made: Future[Outcome] = self._executor.submit(call, workers=only)
        return made

    def _gone(self) -> str:
        return Text("health.no_scheduler", address=self._report.address)

    def report(self) -> EngineReport:
        """Return who works for us, who is refused, and what is waited for."""
        return self._report

    def close(self) -> None:
        """Leave the cluster; visits under way are cancelled there."""
        self._end_looking.set()
        self._looker.join(timeout=_CONNECT_SECONDS)
        attempt(partial(self._client.close, _CONNECT_SECONDS))
        for answer in self._under_way:
            self._lose(answer, "the daemon ends")

    def _look_on(self) -> None:
        while not self._end_looking.wait(LOOK_SECONDS):
            self._give_up()
            found = attempt(self._look)
            if isinstance(found, Bug):
                self._note({}, found.error)

    def _give_up(self) -> None:
        """Lose visits that should have ended: a worker may stand still, or an answer be lost."""
        terms = self._terms
        longest = terms.fetch.visit_timeout_seconds + terms.limits.seconds + _ON_THE_WAY_SECONDS
        with self._lock:
            self._under_way = {one: at for one, at in self._under_way.items() if not one.done()}
            begun = dict(self._under_way)
        for answer, at in begun.items():
            if self._clock.monotonic() - at > longest:
                self._lose(answer, "its worker does not answer")

    def _look(self) -> None:
        """See which workers there are, and which of them have our version."""
        if self._client.status != "running":
            self._said = {}
            self._note({}, self._gone())
            return
        threads: dict[str, int] = self._client.nthreads()
        self._said = {
            one: said
            for one, said in self._said.items()
            if one in threads and (isinstance(said, str) or not said.cancelled())
        }
        for worker in threads:
            said = self._said.get(worker)
            if said is None:
                self._said[worker] = self._client.submit(introduce, workers=[worker], pure=False)
            elif not isinstance(said, str) and said.done():
                self._said[worker] = self._judged(worker, said)
        self._note(
            {one: threads[one] for one, said in self._said.items() if said == ""},
            Text("health.no_worker"),
        )

    def _judged(self, worker: str, said: Any) -> str:  # noqa: ANN401 - a future of Dask's
        """Return why a worker gets no visits; empty = it gets some."""
        theirs = attempt(partial(said.result, _CONNECT_SECONDS))
        if isinstance(theirs, Bug):
            why: str = Text("health.worker_cannot", reason=theirs.error)
        else:
            why = refusal(theirs, self._ours)
        if why:
            logger.warning("the worker %s is refused: %s", worker, why)
        else:
            logger.info("the worker %s makes visits", worker)
        return why

    def _note(self, accepted: Mapping[str, int], waits: str) -> None:
        """Note who can be given visits, and what is waited for if nobody can."""
        before, waits = self._report, "" if accepted else waits
        self._accepted = list(accepted)
        since = before.since if waits == before.waits else self._clock.now()
        self._report = EngineReport(
            "dask",
            sum(accepted.values()),
            processes=len(accepted),
            address=before.address,
            waits=waits,
            since=since if waits else 0.0,
            unknown=sum(not isinstance(said, str) for said in self._said.values()),
            refused=tuple(
                Text("health.worker_refused", address=one, reason=said)
                for one, said in self._said.items()
                if said and isinstance(said, str)
            ),
        )
        if waits and waits != before.waits:
            logger.warning("waiting for the cluster, nothing is fetched: %s", waits)
        elif before.waits and not waits:
            logger.warning("the cluster can be used: %d visits at a time", self._report.workers)


def connect(address: str) -> Any:  # noqa: ANN401 - Dask's own
    """Return a client of the scheduler at *address*.

    Raises:
        SettingsError: none answers within a few seconds, or the address cannot be used.
    """
    # A client would wait without end for a service that says nothing, so Dask's protocol is tried first.
    found: Any = attempt(lambda: asyncio.run(_greet(address)))
    if not isinstance(found, Bug):
        found = attempt(
            partial(
                distributed.Client,
                address,
                timeout=_RECONNECT_SECONDS,
                set_as_default=False,
                name="hubwatch",
            )
        )
    if isinstance(found, Bug):
        way_out = (
            "no Dask scheduler answers there; start it (dask scheduler), or correct the address "
            f"({found.error})"
        )
        raise SettingsError("engine.address", address, way_out)
    return found


async def _greet(address: str) -> None:
    """Connect to a process of Dask, and disconnect; raises what Dask raises."""
    terms = distributed.Security().get_connection_args("client")  # type: ignore[no-untyped-call]
    try:
        async with asyncio.timeout(2 * _CONNECT_SECONDS):
            comm = await comms.connect(address, timeout=_CONNECT_SECONDS, **terms)  # type: ignore[no-untyped-call]
            await comm.close()
    except MemoryError as error:  # the first bytes are taken for a length
        raise ValueError("another kind of service answers there") from error

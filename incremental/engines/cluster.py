"""Visits on the workers of a Dask cluster.

::

    start(task) ──> the visitor of the worker with the least to do ──> Outcome
    keeper, every half second:
        scheduler gone   all visits are lost; asked again until one answers
        worker gone      its visits are lost, and their pages are blamed unless it was stopped on purpose
        worker new       it gets a visitor, which says its version; another one than ours is refused

A visit is bound to one worker, so that the daemon decides when its page is asked for again.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from incremental.attempts import Bug, attempt
from incremental.clock import Clock
from incremental.engines.roster import Roster, refusal, was_stopped
from incremental.engines.visits import EngineReport, LostVisitError
from incremental.engines.worker import WorkerTerms, access_of, introduce
from incremental.errors import SettingsError
from incremental.fetch.options import SiteAccess
from incremental.texts import Text

try:
    import distributed
    import distributed.comm.core as comms
except ImportError as error:
    way_out = "needs Dask: pip install 'hubwatch[dask]'"
    raise SettingsError("engine.kind", "dask", way_out) from error

from incremental.engines.visitor import VisitBugError, ask, begin, introduced

if TYPE_CHECKING:
    from incremental.visit import Outcome, VisitTask

logger = logging.getLogger("hubwatch.engine")

LOOK_SECONDS = 0.5
_CONNECT_SECONDS = 5.0
# For the scheduler to notice that a worker went which has stopped answering us.
_UNANSWERED_LOOKS = 10
# What sending a visit and its outcome may take, besides the visit itself.
_ON_THE_WAY_SECONDS = 10.0


@dataclass(slots=True)
class _UnderWay:
    """A visit that nobody has the outcome of yet."""

    worker: str
    call: Future[Outcome] | None = None
    unanswered: int | None = None
    """Looks since its worker stopped answering; None = it has not."""
    looks: int = 0
    """Since it was asked for."""


class ClusterVisits:
    """Visits on a Dask cluster; :meth:`close` it. Thread-safe."""

    def __init__(
        self, address: str, terms: WorkerTerms, sites: Mapping[str, SiteAccess], clock: Clock
    ) -> None:
        """Connect to the scheduler at *address*. *sites*: credentials by origin.

        Raises:
            SettingsError: there is none.
        """
        # What they report the keeper says in its own words. Dask gives several of them a level.
        for name in [
            one for one in logging.root.manager.loggerDict if one.startswith("distributed")
        ]:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._address, self._terms, self._sites = address, terms, sites
        self._clock = clock
        self._ours = introduce()
        self._lock = threading.Lock()
        self._roster = Roster()
        self._under_way: dict[Future[Outcome], _UnderWay] = {}
        # By worker: the future of its visitor, which keeps it there, and those that said their version.
        self._begun: dict[str, Any] = {}
        self._visitors: dict[str, Any] = {}
        self._waits: str = Text("health.no_worker")
        self._since = clock.now()
        self._client = connect(address)
        self._scheduler = ""
        self._end = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name="cluster", daemon=True)
        self._keeper.start()

    @property
    def most(self) -> int:
        """How many visits the accepted workers can make at a time."""
        with self._lock:
            return self._roster.most

    def start(self, task: VisitTask) -> Future[Outcome]:
        """Start a visit on the worker with the least to do."""
        answer: Future[Outcome] = Future()
        with self._lock:
            worker, client = self._roster.choose(), self._client
            if worker is not None:
                worker.visits += 1
                visitor = self._visitors[worker.address]
                under_way = self._under_way[answer] = _UnderWay(worker.address)
        if worker is None or client is None:
            self._settle(answer, self._lost(Text("health.no_worker")))
            return answer
        call = attempt(partial(ask, client, visitor, task, access_of(task, self._sites)))
        if isinstance(call, Bug):
            self._settle(answer, self._lost(call.error))
            return answer
        with self._lock:
            under_way.call = call
            waited_for = answer in self._under_way
        if waited_for:
            call.add_done_callback(partial(self._ended, answer))
        else:  # its worker went meanwhile
            call.cancel()
        return answer

    def report(self) -> EngineReport:
        """Return who works for us, who is refused, and what is waited for."""
        with self._lock:
            return EngineReport(
                "dask",
                self._roster.most,
                processes=len(self._roster.accepted),
                address=self._address,
                waits=self._waits,
                since=self._since,
                known=len(self._roster.workers) - self._roster.unknown,
                unknown=self._roster.unknown,
                refused=tuple(self._roster.refused()),
            )

    def close(self) -> None:
        """Leave the cluster; visits under way are cancelled there."""
        self._end.set()
        self._keeper.join(timeout=_CONNECT_SECONDS)
        self._lose_all("the daemon ends")
        if self._client is not None:
            attempt(partial(self._client.close, _CONNECT_SECONDS))

    # Visits that ended, and visits that are lost.

    def _ended(self, answer: Future[Outcome], call: Future[Outcome]) -> None:
        """Pass on what came of a visit; in a thread of Dask's client."""
        error = None if call.cancelled() else call.exception()
        if call.cancelled():
            self._settle(answer, self._lost("it was cancelled"))
        elif error is None:
            self._settle(answer, call.result())
        elif isinstance(error, VisitBugError):
            self._settle(answer, error)
        else:  # the keeper will see who went, and whether the page is to blame
            with self._lock:
                if answer in self._under_way:
                    self._under_way[answer].unanswered = 0

    def _settle(self, answer: Future[Outcome], found: Outcome | BaseException) -> None:
        """Answer, unless that was done."""
        with self._lock:
            known = self._under_way.pop(answer, None)
            worker = self._roster.workers.get(known.worker) if known else None
            if worker is not None:
                worker.visits -= 1
        if known is None and answer.done():
            return
        if isinstance(found, BaseException):
            answer.set_exception(found)
        else:
            answer.set_result(found)

    def _lost(self, reason: str, *, blamed: bool = False) -> LostVisitError:
        # A worker that cannot be reached may go on for a while.
        rest = self._terms.fetch.visit_timeout_seconds
        return LostVisitError(reason, blamed=blamed, rest_seconds=rest)

    def _lose(
        self, gone: Mapping[Future[Outcome], _UnderWay], reason: str, *, blamed: bool
    ) -> None:
        for answer, visit in gone.items():
            self._settle(answer, self._lost(reason, blamed=blamed))
            if visit.call is not None:
                visit.call.cancel()

    def _lose_all(self, reason: str) -> None:
        with self._lock:
            gone = dict(self._under_way)
            self._roster = Roster()
            self._begun, self._visitors = {}, {}
        self._lose(gone, reason, blamed=False)

    # The keeper.

    def _keep(self) -> None:
        while not self._end.wait(LOOK_SECONDS):
            found = attempt(self._look)
            if isinstance(found, Bug):
                self._away(found.error)

    def _look(self) -> None:
        """Compare the scheduler's workers with ours."""
        client = self._client
        if client is None:
            try:
                self._client = client = connect(self._address)
            except SettingsError:
                return  # as noted when it went
            logger.warning("the Dask scheduler at %s answers again", self._address)
        if client.status != "running":
            self._away(Text("health.no_scheduler", address=self._address))
            return
        # Of scheduler_info() only the id is sure: its workers may be those of Dask's own look, none.
        info, threads = client.scheduler_info(n_workers=0), client.nthreads()
        if self._scheduler not in ("", info["id"]):
            self._lose_all("the scheduler was started again")
        self._scheduler = info["id"]
        with self._lock:
            come, gone = self._roster.update(self._with_visitors(threads))
            left = {one: visit for one, visit in self._under_way.items() if visit.worker in gone}
            for address in gone:
                self._begun.pop(address, None)
                self._visitors.pop(address, None)
        self._lose_with_workers(client, left)
        self._lose(self._unanswered(), "its worker does not answer", blamed=False)
        for address in gone:
            logger.warning("the worker %s is gone", address)
        for address in come:
            self._begun[address] = begin(client, address, self._terms)
        for address in self._roster.not_known():
            if self._begun[address].done():
                self._judge(client, address)
        self._note("" if self.most else Text("health.no_worker"))

    def _lose_with_workers(
        self,
        client: Any,  # noqa: ANN401 - Dask's own
        left: Mapping[Future[Outcome], _UnderWay],
    ) -> None:
        """Fail visits of lost workers; unexpected exits count against the page."""
        for address in {visit.worker for visit in left.values()}:
            own = {answer: visit for answer, visit in left.items() if visit.worker == address}
            stopped = was_stopped(event for _, event in client.get_events(address))
            reason = "its worker was stopped" if stopped else "its worker ended"
            self._lose(own, reason, blamed=not stopped)

    def _with_visitors(self, there: Mapping[str, int]) -> dict[str, int]:
        """Leave out workers that came again at their address, without their visitor."""
        return {
            address: threads
            for address, threads in there.items()
            if address not in self._visitors or self._begun[address].status == "finished"
        }

    def _unanswered(self) -> dict[Future[Outcome], _UnderWay]:
        """Return visits whose worker is there, and has not answered for a while.

        An answer may be lost on the way, so a visit is given up once its longest time is over.
        """
        found = {}
        terms = self._terms
        longest = terms.fetch.visit_timeout_seconds + terms.limits.seconds + _ON_THE_WAY_SECONDS
        with self._lock:
            for answer, visit in self._under_way.items():
                visit.looks += 1
                if visit.looks * LOOK_SECONDS > longest:
                    found[answer] = visit
                if visit.unanswered is not None:
                    visit.unanswered += 1
                    if visit.unanswered > _UNANSWERED_LOOKS:
                        found[answer] = visit
        return found

    def _judge(self, client: Any, address: str) -> None:  # noqa: ANN401 - Dask's own
        """Accept a worker whose visitor has introduced itself, or refuse it."""
        why: str
        said = attempt(partial(introduced, client, self._begun[address], _CONNECT_SECONDS))
        if isinstance(said, Bug):
            why = Text("health.worker_cannot", reason=said.error)
        else:
            why = refusal(said[1], self._ours)
        with self._lock:
            worker = self._roster.workers[address]
            if not isinstance(said, Bug):
                self._visitors[address] = said[0]
            self._roster.workers[address] = replace(worker, refusal=why)
        if why:
            logger.warning("the worker %s is refused: %s", address, why)
        else:
            logger.info("the worker %s makes visits, %d at a time", address, worker.threads)

    def _away(self, reason: str) -> None:
        """Note that the scheduler does not answer; its visits are lost."""
        client, self._client = self._client, None
        self._scheduler = ""
        self._note(reason)
        self._lose_all(reason)
        if client is not None:
            attempt(partial(client.close, _CONNECT_SECONDS))

    def _note(self, waits: str) -> None:
        """Note what is waited for, if anything."""
        with self._lock:
            if waits == self._waits:
                return
            self._waits, self._since = waits, self._clock.now() if waits else 0.0
        if waits:
            logger.warning("waiting for the cluster, nothing is fetched: %s", waits)
        else:
            logger.warning("the cluster can be used: %d visits at a time", self.most)


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
                timeout=_CONNECT_SECONDS,
                set_as_default=False,
                direct_to_workers=True,
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

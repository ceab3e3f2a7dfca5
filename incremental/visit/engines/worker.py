"""What runs on a worker: a visit, with a fetcher and readers that the worker has made for itself.

A worker keeps them for the next visit, but no credentials: those of a task's origin come with the task.
"""

import threading
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version

from incremental.base.clock import SystemClock
from incremental.base.texts import Text
from incremental.base.threads import cores
from incremental.fetch.options import FetchSettings, SiteAccess, origin
from incremental.fetch.session import Fetcher
from incremental.sandbox import Read, read_body, with_features
from incremental.sandbox.process import ReaderLimits, ReaderPool
from incremental.settings import Settings
from incremental.visit.engines.visits import LostVisitError
from incremental.visit.visit import Outcome, VisitTask
from incremental.visit.ways.parts import PartFetcher
from incremental.visit.ways.visiting import HubVisitor

# More than there are processors read nothing sooner.
MAX_READERS = 4


@dataclass(frozen=True, slots=True)
class WorkerTerms:
    """What visits of one daemon are made with; holds no secret."""

    fetch: FetchSettings
    limits: ReaderLimits
    readers: int | None = None
    """Processes that read bodies, of each worker; None = one per processor, 0 = the worker itself."""
    by_type: tuple[tuple[str, str], ...] = ()
    """Readers of features by media type; their packages are installed on each worker as well."""
    signature: str = ""
    """The function of a feature that makes the signature of a text."""


@dataclass(frozen=True)
class _Tools:
    fetcher: Fetcher
    visit: HubVisitor
    read: Read


_lock = threading.Lock()


def introduce() -> str:
    """Return the version of Hubwatch at work here."""
    return version("hubwatch")


def refusal(theirs: str, ours: str) -> str:
    """Return why a worker of their version is refused; empty = it is not."""
    return "" if theirs == ours else Text("health.worker_version", theirs=theirs, ours=ours)


def access_of(task: VisitTask, sites: Mapping[str, SiteAccess]) -> SiteAccess | None:
    """Return the credentials that a worker is sent with a task; *sites*: by origin."""
    try:
        return sites.get(origin(task.url))
    except ValueError:
        return None  # the worker's fetcher says what is wrong with the address


def carry_out(
    daemon: str,
    task: VisitTask,
    terms: WorkerTerms,
    access: SiteAccess | None,
    asked_at: float,
) -> Outcome:
    """Carry out *task* if the *daemon* is of this version; *access* are credentials of its origin.

    A visit that would begin late is refused: its worker stood still, or others came first, and the daemon may
    have given it up. For the same reason it sends nothing after ``visit_timeout_seconds``. Both count from
    when it was asked for, so the clocks of the machines must agree to a few seconds.

    Raises:
        LostVisitError: it is of another version, or too late.
    """
    if why := refusal(introduce(), daemon):
        raise LostVisitError(why)
    clock = SystemClock()
    waited = max(clock.now() - asked_at, 0.0)
    if waited > terms.fetch.total_timeout_seconds:
        raise LostVisitError(f"it would have begun {waited:.0f} seconds late by its worker's clock")
    last_at = clock.monotonic() + terms.fetch.visit_timeout_seconds - waited
    return visit_on_worker(task, terms, access, last_at)


def visit_on_worker(
    task: VisitTask, terms: WorkerTerms, access: SiteAccess | None, last_at: float
) -> Outcome:
    """Carry out *task* here; *access* are the credentials of its origin.

    *last_at*: when its last request ends at the latest, in monotonic time.
    """
    with _lock:  # the first visits come at once
        tools = _tools(terms)
    with tools.fetcher.until(last_at):
        if access is None:
            return tools.visit(task, tools.fetcher.fetch, tools.read)
        own = tools.fetcher.with_sites({origin(task.url): access})
        return _visitor(own, terms)(task, own.fetch, tools.read)


@lru_cache(maxsize=4)  # of daemons with different settings that share a cluster
def _tools(terms: WorkerTerms) -> _Tools:
    """Return what visits on *terms* are made with; it is closed when others came and no visit uses it."""
    fetcher = Fetcher(terms.fetch, clock=SystemClock())
    readers = min(cores(), MAX_READERS) if terms.readers is None else terms.readers
    pool = ReaderPool(readers, terms.limits) if readers else None
    by_type, reads = dict(terms.by_type), read_body if pool is None else pool.read
    read = with_features(by_type, terms.signature, reads)
    tools = _Tools(fetcher, _visitor(fetcher, terms), read)
    weakref.finalize(tools, fetcher.close)
    if pool is not None:
        weakref.finalize(tools, pool.close)
    return tools


def _visitor(fetcher: Fetcher, terms: WorkerTerms) -> HubVisitor:
    return HubVisitor(PartFetcher(fetcher.fetch, Settings(fetch=terms.fetch), SystemClock()))

"""Pages, sites and topics that met a bug: noted with the trace, put off, and tried again.

::

    bug in a visit, in judging or recording   the page's visit counts as failed (``internal_error``)
    bug in that as well                       the page waits: 10 minutes, then twice as long each time
    bug in a site's row or queue              the site waits likewise, its other rows untouched
    bug in a topic                            it waits; pages are announced without its opinion

After an upgrade everything is tried again at once.
"""

import logging
import math
from dataclasses import replace

from incremental.base.attempts import Bug
from incremental.fetch.status import FetchStatus, Response
from incremental.schedule.state import HubState
from incremental.visit.visit import Outcome, Purpose, VisitTask
from store import Store
from store.crawl.quarantine import LONGEST_PAUSE_SECONDS, QuarantineKind
from store.values import HubUpdate

logger = logging.getLogger("hubwatch.quarantine")

_MOST_READ = 10_000


class CrawlQuarantine:
    """The crawler's part of the quarantine. Used by its thread only."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: set[tuple[str, str, str]] = set()
        # Sites and topics that wait, until when; from the rows, so that a restart shortens no pause.
        self._waits: dict[tuple[QuarantineKind, int], float] = {}

    def load(self, now: float) -> None:
        """Read the quarantine at start; what failed under another version is due at once."""
        for row in self._store.quarantine.of_other_versions():
            if row.kind is QuarantineKind.PAGE:
                put_off(self._store, Purpose(row.purpose), int(row.key), now)
                if row.purpose == Purpose.HUB:
                    self._forgive(int(row.key), now)
            self._store.quarantine.remove(row.kind, row.key, row.purpose)
        self._known = self._store.quarantine.keys()
        self._waits = {
            # The row may be of a clock that was ahead.
            (kind, int(row.key)): min(row.again_at, now + LONGEST_PAUSE_SECONDS)
            for kind in (QuarantineKind.SITE, QuarantineKind.TOPIC)
            for row in self._store.quarantine.entries(kind=kind, limit=_MOST_READ)
        }

    def visited(self, task: VisitTask, bug: Bug | None, now: float) -> None:
        """Note that a visit met a *bug*, or none; part of its transaction."""
        if bug is not None:
            self.page(task, bug, now)
        else:
            self.passed(QuarantineKind.PAGE, task.page_id, task.purpose)

    def page(self, task: VisitTask, bug: Bug, now: float, *, waits: bool = False) -> float:
        """Note a bug in a visit; *waits* puts the page off. Returns until when (unix seconds)."""
        named = f"{task.purpose} {task.url}"
        logger.error("a bug in the visit %s; please report it\n%s", named, bug.trace)
        with self._store.write.together():
            again_at = self._put(QuarantineKind.PAGE, task.page_id, bug, now, purpose=task.purpose)
            if waits:
                put_off(self._store, task.purpose, task.page_id, again_at)
        return again_at

    def hold(self, kind: QuarantineKind, key: int, bug: Bug, now: float) -> None:
        """Note a bug that the work on a site or topic met; it is left out until it is tried again."""
        logger.error("a bug: %s %d is left out for now; please report it\n%s", kind, key, bug.trace)
        self._waits[kind, key] = self._put(kind, key, bug, now)

    def holds(self, kind: QuarantineKind, key: int, now: float) -> bool:
        """Whether a site or topic waits."""
        return self._waits.get((kind, key), now) > now

    def next_at(self, now: float) -> float:
        """Return when a site or topic that waits is tried again; infinite = none waits."""
        return min((at for at in self._waits.values() if at > now), default=math.inf)

    def passed(self, kind: QuarantineKind, key: int, purpose: str = "") -> None:
        """Note that the work on something succeeded."""
        if (kind, str(key), purpose) in self._known:
            self._store.quarantine.remove(kind, key, purpose)
            self._known.discard((kind, str(key), purpose))
            self._waits.pop((kind, key), None)

    def _put(
        self, kind: QuarantineKind, key: int, bug: Bug, now: float, *, purpose: str = ""
    ) -> float:
        self._known.add((kind, str(key), purpose))
        return self._store.quarantine.put(
            kind,
            key,
            error=bug.error,
            trace=bug.trace,
            now=now,
            purpose=purpose,
        )

    def _forgive(self, page_id: int, now: float) -> None:
        """Forget the failures of a hub: they were ours, not the site's."""
        hub = self._store.read.hub(page_id)
        if hub is not None and hub.failures:
            state = replace(HubState.from_text(hub.revisit), failures=0, owed_at=now)
            fields = HubUpdate(failures=0, due_at=now, revisit=state.to_text())
            self._store.write.update_hub(page_id, **fields)


def put_off(store: Store, purpose: Purpose, page_id: int, until: float) -> None:
    """Let the next fetch of a page for this purpose be due at *until* (unix seconds)."""
    if purpose is Purpose.VERIFY:
        store.write.update_page(page_id, verify_due_at=until)
    elif purpose is Purpose.REFRESH:
        store.refreshes.postpone(page_id, until)
    elif purpose is Purpose.HUB:
        store.write.update_hub(page_id, due_at=until)


def as_failed(outcome: Outcome, bug: Bug) -> Outcome:
    """Return a visit whose page met a *bug* as one that failed."""
    task, detail = outcome.task, "internal error, see hubwatch status"
    response = Response(task.url, FetchStatus.INTERNAL_ERROR, detail=detail)
    return replace(
        outcome, response=response, body_md5=None, page=None, text=None, read=None, bug=bug
    )

"""The quarantine: pages, sites, topics and jobs that met a bug, until they succeed."""

from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import version
from typing import Any

from peewee import fn

from store.database import writing
from store.database.repository import Repository, Shape
from store.database.statements import upsert
from store.database.texts import storable
from store.models import Page, Quarantine, Site

_FIRST_PAUSE_SECONDS = 600.0
LONGEST_PAUSE_SECONDS = 7 * 86_400.0
_MOST_ERROR_CHARS = 1_000
_MOST_TRACE_CHARS = 10_000


# Purposes whose key is the id of a page; those of topics name examples and candidates.
OF_PAGES = ("", "hub", "verify", "refresh", "robots")


class QuarantineKind(StrEnum):
    """Kind of a quarantined item."""

    PAGE = "page"
    SITE = "site"
    TOPIC = "topic"
    JOB = "job"


@dataclass(frozen=True, slots=True)
class QuarantineRow:
    """A quarantine entry."""

    id: int
    kind: QuarantineKind
    key: str
    purpose: str
    at: float
    again_at: float
    times: int
    version: str
    error: str
    trace: str


_ROW = Shape(QuarantineRow, Quarantine)


def _named(kind: QuarantineKind, key: object, purpose: str) -> Any:  # noqa: ANN401 - a peewee expression
    same = (Quarantine.kind == kind) & (Quarantine.key == str(key))
    return same & (Quarantine.purpose == purpose)


class Quarantined(Repository):
    """Queries and writes, on one database."""

    def put(  # noqa: PLR0913 - the columns
        self,
        kind: QuarantineKind,
        key: object,
        *,
        error: str,
        trace: str,
        now: float,
        purpose: str = "",
        pause: float | None = None,
    ) -> float:
        """Record a failure; return the time of the next try.

        That is after *pause* seconds, or twice as long after each failure in a row.
        """
        with writing(self._db, self._where):
            entry = _named(kind, key, purpose)
            failed = self._scalar(Quarantine.select(Quarantine.times).where(entry)) or 0
            longer = _FIRST_PAUSE_SECONDS * 2.0 ** min(failed, 20)
            pause = min(longer, LONGEST_PAUSE_SECONDS) if pause is None else pause
            named = {"kind": kind, "key": str(key), "purpose": purpose}
            fields = {
                "at": now,
                "again_at": now + pause,
                "times": failed + 1,
                "version": version("hubwatch"),
                "error": storable(error, _MOST_ERROR_CHARS),
                "trace": storable(trace, _MOST_TRACE_CHARS),
            }
            upsert(Quarantine, named | fields, tuple(named), fields).execute(self._db)
        return now + pause

    def remove(self, kind: QuarantineKind, key: object, purpose: str = "") -> None:
        """Remove an entry: it succeeded."""
        self._write(Quarantine.delete().where(_named(kind, key, purpose)))

    def entries(
        self, *, limit: int = 100, kind: QuarantineKind | None = None
    ) -> list[QuarantineRow]:
        """Return entries, the latest failure first."""
        query = _ROW.select().order_by(Quarantine.at.desc(), Quarantine.id.desc()).limit(limit)
        return self._all(_ROW, query if kind is None else query.where(Quarantine.kind == kind))

    def keys(self) -> set[tuple[str, str, str]]:
        """Return kind, key and purpose of all entries."""
        query = Quarantine.select(Quarantine.kind, Quarantine.key, Quarantine.purpose)
        return set(self._rows(query))

    def counts(self) -> dict[str, int]:
        """Return the number of entries by kind."""
        query = Quarantine.select(Quarantine.kind, fn.COUNT(Quarantine.id))
        return dict(self._rows(query.group_by(Quarantine.kind)))

    def of_other_versions(self) -> list[QuarantineRow]:
        """Return entries of another version of Hubwatch, to be retried."""
        return self._all(_ROW, _ROW.select().where(Quarantine.version != version("hubwatch")))

    def forget(self, *, before: float) -> int:
        """Delete entries whose last failure was before *before* (unix seconds); return their number."""
        return self._write(Quarantine.delete().where(Quarantine.at < before))

    def urls(self, rows: list[QuarantineRow]) -> dict[int, str]:
        """Return, by the entry's id, the URL of its page or the seed of its site, if still known."""
        found: dict[int, str] = {}
        for kind, model, column in (
            (QuarantineKind.PAGE, Page, Page.url),
            (QuarantineKind.SITE, Site, Site.seed_url),
        ):
            named_so = [row for row in rows if row.kind is kind and row.purpose in OF_PAGES]
            ids = {int(row.key): row.id for row in named_so if row.key.isdigit()}
            named = self._rows(model.select(model.id, column).where(model.id.in_(list(ids))))
            found |= {ids[key]: url for key, url in named}
        return found

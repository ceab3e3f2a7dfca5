"""Problems as people and programs read them."""

from __future__ import annotations

from dataclasses import dataclass

from incremental.base.readable_urls import readable
from incremental.base.texts import Text
from store import Store
from store.problems import ProblemRow


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a site. Times are unix seconds, UTC."""

    site: str
    hub: str
    """URL; empty = the whole site."""
    kind: str
    says: Text
    since: float
    ended_at: float | None


def sentence(row: ProblemRow) -> Text:
    """Return what is wrong, with the evidence."""
    said = {**row.evidence, "hub": readable(row.hub_url)}
    if "status" in said:
        said["status"] = Text(f"fetch.{said['status']}")
    return Text(f"watchdog.{row.kind}", **said)


def problem(row: ProblemRow) -> Problem:
    """Return a problem as every interface shows it."""
    return Problem(row.site, row.hub_url, row.kind, sentence(row), row.since, row.ended_at)


def site_notes(store: Store) -> dict[int, Text]:
    """Return, by site id, what is wrong with each site: the earliest of its problems."""
    return {row.site_id: sentence(row) for row in store.problems.all()}

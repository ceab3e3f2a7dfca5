"""Problems as people and programs read them."""

from dataclasses import dataclass
from datetime import datetime

from incremental.base.readable_urls import readable
from incremental.base.texts import Text
from incremental.interfaces.results.schema import result_of
from store import Store
from store.problems import ProblemRow


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a site, though it may answer every visit."""

    site: str
    hub_url: str
    """Empty = the whole site."""
    kind: str
    says: str
    since: datetime
    ended_at: datetime | None
    """null = it lasts."""


def problems_of(store: Store, *, ended: bool = False) -> list[Problem]:
    """Return problems, latest first: those that last, or with *ended* all that are kept."""
    return [result_of(Problem, row, says=sentence(row)) for row in store.problems.all(ended=ended)]


def sentence(row: ProblemRow) -> Text:
    """Return the sentence about a problem."""
    said = {**row.evidence, "hub": readable(row.hub_url)}
    if "status" in said:
        said["status"] = Text(f"fetch.{said['status']}")
    return Text(f"watchdog.{row.kind}", **said)


def site_notes(store: Store) -> dict[int, Text]:
    """Return the sentence about each site's earliest problem, by site id."""
    return {row.site_id: sentence(row) for row in store.problems.all()}

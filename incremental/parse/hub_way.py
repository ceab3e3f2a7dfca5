"""How one hub is read: a value that the store keeps as JSON."""

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from incremental.base.json_state import JsonState


class WayKind(StrEnum):
    """Where the links of a hub come from."""

    PLAIN = "plain"
    """From the page as the server sends it."""
    EMBEDDED = "embedded"
    """From the state that the page carries for its scripts."""
    JSON = "json"
    """From the JSON that its scripts ask for."""
    RENDERED = "rendered"
    """From what a browser makes of it."""
    BROWSER_MISSING = "browser_missing"
    """From nowhere: it needs a browser, and there is none."""


class WayProblem(StrEnum):
    """Why no browser draws a shell although there is one."""

    BLANK = "blank"
    """It showed no links either."""
    PAUSES = "pauses"
    """robots.txt asks for longer pauses between requests than a page can wait."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Where a list of pages is found in a value."""

    name: str = ""
    """Of the embedded state; empty = the body is the JSON."""
    place: str = ""
    """Keys that lead to the largest list."""
    folder: str = ""
    """Below which its slugs are addresses."""


@dataclass(frozen=True, slots=True)
class Way(JsonState):
    """How a hub is read, and what the last visit in this way was like."""

    kind: str = WayKind.PLAIN
    sign: str = ""
    """By what the plain page was recognised as a shell; empty = it is none."""
    url: str = ""
    """Address of the JSON."""
    name: str = ""
    """Of the embedded state."""
    place: str = ""
    """Keys that lead to the list in the value."""
    folder: str = ""
    """Below which slugs of the list are addresses."""
    searched_at: float = 0.0
    """When other sources were last searched for; unix seconds."""
    again: bool = False
    """The next visit searches again."""
    blank: int = 0
    """Visits in a row that showed no links."""
    requests: int = 1
    """Of the last visit, all kinds."""
    seconds: float = 0.0
    """That a browser took at the last visit."""
    problem: str = ""
    """:class:`WayProblem`; empty = none."""

    @property
    def listing(self) -> Listing | None:
        """Where the list is in the value; None = the way has no value."""
        if self.kind not in (WayKind.EMBEDDED, WayKind.JSON):
            return None
        return Listing(self.name, self.place, self.folder)


@lru_cache(maxsize=512)  # most hubs of a site have the same
def read_way(text: str) -> Way | None:
    """Return a stored way; None = not decided yet."""
    return Way.from_text(text) if text else None

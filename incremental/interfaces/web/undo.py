"""What each browser changed last, and how to take it back; kept in this process only."""

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from fastapi import Request

from incremental.base.texts import Text
from incremental.interfaces.web.guard import form_cookie
from store import Store

_MOST_CHANGES = 200
TakeBack = Callable[[Store, float], object]
"""Called with the store and the time of the click."""


@dataclass
class Change:
    """A change that can be taken back."""

    browser: str
    said: Text
    """What was done."""
    take_back: TakeBack
    page_id: int | None = None
    """The page whose row shows it."""
    topic: int | None = None
    """The topic that the row's buttons train."""
    is_shown: bool = False

    @property
    def is_verdict(self) -> bool:
        """Whether a topic learned from it."""
        return self.said.key in ("undo.relevant", "undo.irrelevant")


def new_changes() -> deque[Change]:
    """Return room for the latest changes of all browsers."""
    # Handlers run in several threads: each step below is one call, which CPython does not interrupt.
    return deque(maxlen=_MOST_CHANGES)


def _changes(request: Request) -> deque[Change]:
    changes: deque[Change] = request.app.state.changes
    return changes


def _latest(request: Request) -> Change | None:
    """Return the latest change of this browser; None if there is none."""
    browser, newest = form_cookie(request), tuple(_changes(request))[::-1]
    return next((one for one in newest if one.browser == browser), None)


def unsaid(request: Request) -> Change | None:
    """Return what this browser did last, unless it was told so already."""
    change = _latest(request)
    if change is None or change.is_shown:
        return None
    change.is_shown = True
    return change


def undo_latest(request: Request, store: Store, now: float) -> Change | None:
    """Take back the latest change of this browser and return it; None if there is none."""
    change = _latest(request)
    if change is not None:
        with suppress(ValueError):  # a second click at the same time
            _changes(request).remove(change)
        change.take_back(store, now)
    return change


def undoable(  # noqa: PLR0913, PLR0917 - the parts of a change
    request: Request,
    key: str,
    take_back: TakeBack,
    page_id: int | None = None,
    topic: int | None = None,
    n: int = 0,
) -> None:
    """Offer to undo what was just done: the text *key*, of *n* pages, or of one and a topic."""
    said = Text(f"undo.{key}", n=n)
    _changes(request).append(Change(form_cookie(request), said, take_back, page_id, topic))

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


class Undos:
    """The latest changes of all browsers."""

    def __init__(self) -> None:
        # Handlers run in several threads: each step below is one call, which CPython does not interrupt.
        self._changes: deque[Change] = deque(maxlen=_MOST_CHANGES)

    def latest(self, request: Request) -> Change | None:
        """Return the latest change of this browser; None if there is none."""
        browser, newest = form_cookie(request), tuple(self._changes)[::-1]
        return next((one for one in newest if one.browser == browser), None)

    def unsaid(self, request: Request) -> Change | None:
        """Return what this browser did last, unless it was told so already."""
        change = self.latest(request)
        if change is None or change.is_shown:
            return None
        change.is_shown = True
        return change

    def keep(self, change: Change) -> None:
        """Remember a change, which the next page that its browser gets offers to undo."""
        self._changes.append(change)

    def forget(self, change: Change) -> None:
        """Forget a change that is taken back."""
        with suppress(ValueError):  # a second click at the same time
            self._changes.remove(change)


def undos_of(request: Request) -> Undos:
    """Return the :class:`Undos` of the application."""
    undos: Undos = request.app.state.undos
    return undos


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
    undos_of(request).keep(Change(form_cookie(request), said, take_back, page_id, topic))

"""What each browser changed last, and how to take it back; kept in this process only."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from fastapi import Request

from incremental.base.texts import Text
from incremental.interfaces.web.guard import form_cookie
from store import Store

_MOST_CHANGES = 20
_MOST_BROWSERS = 100
TakeBack = Callable[[Store, float], object]
"""Called with the store and the time of the click."""


@dataclass(frozen=True)
class Change:
    """A change that can be taken back."""

    said: Text
    """What was done."""
    take_back: TakeBack
    page_id: int | None = None
    """The page whose row shows it."""
    topic: int | None = None
    """The topic that the row's buttons train."""


class Undos:
    """The latest changes of each browser. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._changes: OrderedDict[str, list[Change]] = OrderedDict()
        self._unsaid: dict[str, Text] = {}

    def keep(self, request: Request, change: Change) -> None:
        """Remember a change of this browser, and say so on the next page that it gets."""
        browser = form_cookie(request)
        if not browser:
            return
        with self._lock:
            changes = self._changes.setdefault(browser, [])
            self._changes.move_to_end(browser)
            changes.append(change)
            del changes[:-_MOST_CHANGES]
            self._unsaid[browser] = change.said
            while len(self._changes) > _MOST_BROWSERS:
                forgotten, _ = self._changes.popitem(last=False)
                self._unsaid.pop(forgotten, None)

    def take(self, request: Request) -> Change | None:
        """Return the latest change of this browser and forget it; None if there is none."""
        with self._lock:
            changes = self._changes.get(form_cookie(request))
            return changes.pop() if changes else None

    def say(self, request: Request, said: Text) -> None:
        """Say something on the next page that this browser gets."""
        with self._lock:
            self._unsaid[form_cookie(request)] = said

    def unsaid(self, request: Request) -> Text | None:
        """Return what was done and not yet said to this browser, once."""
        with self._lock:
            return self._unsaid.pop(form_cookie(request), None)


def undos_of(request: Request) -> Undos:
    """Return the :class:`Undos` of the application."""
    undos: Undos = request.app.state.undos
    return undos


def undoable(request: Request, key: str, take_back: TakeBack, **said: object) -> None:
    """Remember that *take_back* undoes what was just done, which the text *key* names."""
    undos_of(request).keep(request, Change(Text(f"undo.{key}", **said), take_back))

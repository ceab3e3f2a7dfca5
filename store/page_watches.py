"""Page watches: pages watched for changes of the text.

::

    watch of a URL ── put ──► refresh of its page ── visit, due_at ──► change with its difference
                                                                        (in the visit's transaction)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from peewee import Case

from store.database import writing
from store.database.repository import Repository, Shape
from store.database.statements import upsert
from store.database.texts import MAX_ADDRESS, storable, to_json
from store.enums import WatchState
from store.models import BackfillPage, News, PageWatch, Refresh, Site
from store.values import NEVER_DUE


@dataclass(frozen=True, slots=True)
class WatchRow:
    """A watch, and the state of its page."""

    id: int
    site_id: int
    url: str
    state: WatchState
    every_seconds: float | None
    """Between two visits; None = as often as its changes make worthwhile."""
    receivers: tuple[str, ...]
    """To whom its changes are sent; empty = to all who did not narrow what they want."""
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    added_at: float
    page_id: int | None
    """None = its page is that of another watch."""
    status: str | None
    """Of the last visit."""
    checked_at: float | None
    changed_at: float | None
    next_at: float | None


_WATCH = Shape(
    WatchRow,
    PageWatch,
    site_id=PageWatch.site,
    page_id=Refresh.page,
    status=Refresh.status,
    checked_at=Refresh.checked_at,
    changed_at=Refresh.changed_at,
    next_at=Case(None, ((Refresh.due_at < NEVER_DUE, Refresh.due_at),)),
)


class PageWatches(Repository):
    """Queries and writes, on one database."""

    def put(  # noqa: PLR0913 - the columns of a row
        self,
        site_id: int,
        page_id: int,
        url: str,
        *,
        now: float,
        every_seconds: float | None = None,
        receivers: Sequence[str] = (),
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> int:
        """Watch a page, or set the columns of the watch with this URL; return its id.

        Unless it is paused, the page is due at once: it may be so with another interval.
        """
        fields: dict[str, Any] = {
            "every_seconds": every_seconds,
            "receivers": to_json(list(receivers)),
            "include": to_json(list(include)),
            "exclude": to_json(list(exclude)),
        }
        key = storable(url, MAX_ADDRESS)
        row = {"site": site_id, "url": key, "added_at": now, **fields}
        with writing(self._db, self._where):
            upsert(PageWatch, row, ["url"], fields).execute(self._db)
            ((watch, state),) = self._rows(
                PageWatch.select(PageWatch.id, PageWatch.state).where(PageWatch.url == key)
            )
            due_at = NEVER_DUE if state == WatchState.PAUSED else now
            refresh = {"page": page_id, "site_id": site_id, "watch": watch, "due_at": due_at}
            Refresh.insert(refresh).on_conflict(
                conflict_target=[Refresh.page], preserve=[Refresh.watch, Refresh.due_at]
            ).execute(self._db)
            self._note_edit(watch, now)
            return int(watch)

    def _note_edit(self, watch_id: int, now: float) -> None:
        """Let other processes notice an edit as one of the site."""
        site = PageWatch.select(PageWatch.site).where(PageWatch.id == watch_id)
        Site.update(changed_at=now).where(Site.id.in_(site)).execute(self._db)

    def watches(self) -> list[WatchRow]:
        """Return the watches in the order they were added."""
        return self._all(_WATCH, _rows().order_by(PageWatch.id))

    def watch(self, watch_id: int) -> WatchRow | None:
        """Return a watch."""
        return self._first(_WATCH, _rows().where(PageWatch.id == watch_id))

    def watch_of(self, url: str) -> WatchRow | None:
        """Return the watch of a URL."""
        return self._first(_WATCH, _rows().where(PageWatch.url == url))

    def set_state(self, watch_id: int, state: WatchState, *, now: float) -> None:
        """Pause or resume a watch; after a pause the text is compared with the last one before it."""
        due_at = NEVER_DUE if state is WatchState.PAUSED else now
        with writing(self._db, self._where):
            PageWatch.update(state=state).where(PageWatch.id == watch_id).execute(self._db)
            Refresh.update(due_at=due_at).where(Refresh.watch == watch_id).execute(self._db)
            self._note_edit(watch_id, now)

    def remove(self, watch_id: int, *, now: float) -> None:
        """Remove a watch; an announced page is refreshed as before."""
        with writing(self._db, self._where):
            announced = Refresh.page.in_(News.select(News.page)) | Refresh.page.in_(
                BackfillPage.select(BackfillPage.page)
            )
            mine = (Refresh.watch == watch_id) & announced
            Refresh.update({"watch": None, "due_at": now}).where(mine).execute(self._db)
            self._note_edit(watch_id, now)
            PageWatch.delete().where(PageWatch.id == watch_id).execute(self._db)


def _rows() -> Any:  # noqa: ANN401 - a peewee query
    return _WATCH.select().join(Refresh, "LEFT OUTER JOIN", on=Refresh.watch == PageWatch.id)

"""Page watches: URLs and URL patterns watched for changes of the text.

::

    watch (a URL or a pattern) ── take_in ──► refresh ── visit, due_at ──► change with its difference
                                                                            (in the visit's transaction)

A page belongs to one watch: that of its own URL, else the first pattern that took it in.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from peewee import Case, fn

from store.crawl.refreshes import WATCHED
from store.database import writing
from store.database.repository import Repository, Shape
from store.database.statements import Prepared, Updated
from store.database.texts import MAX_ADDRESS, storable, to_json
from store.enums import PageState, WatchState
from store.models import BackfillPage, News, Page, PageWatch, Refresh, Site
from store.values import NEVER_DUE


@dataclass(frozen=True, slots=True)
class WatchRow:
    """A stored watch."""

    id: int
    site_id: int
    pattern: str
    """A URL, or a glob over whole URLs."""
    state: WatchState
    every_seconds: float | None
    """Between two visits; None = as often as its changes make worthwhile."""
    receivers: tuple[str, ...]
    """To whom its changes are sent; empty = to all who did not narrow what they want."""
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    added_at: float
    taken_to: int
    """Highest page id that was compared with the pattern."""

    @property
    def is_pattern(self) -> bool:
        """Whether it may match several pages."""
        return "*" in self.pattern


@dataclass(frozen=True, slots=True)
class WatchStanding:
    """The state of a watch."""

    pages: int = 0
    checked_at: float | None = None
    changed_at: float | None = None
    gone: int = 0
    """Pages that are missing now."""
    next_at: float | None = None


# Maximum number of pages of a pattern.
MAX_PAGES = 500
_WATCH = Shape(WatchRow, PageWatch, site_id=PageWatch.site)
_SET = Updated(Refresh, lambda page: Refresh.page == page)
_KNOWN = Prepared(lambda page: Refresh.select(Refresh.watch).where(Refresh.page == page))


class PageWatches(Repository):
    """Queries and writes, on one database."""

    # Watches.

    def put(  # noqa: PLR0913 - the columns of a row
        self,
        site_id: int,
        pattern: str,
        *,
        now: float,
        every_seconds: float | None = None,
        receivers: Sequence[str] = (),
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> int:
        """Add a watch, or set the columns of the one with this pattern; return its id."""
        fields: dict[str, Any] = {
            "every_seconds": every_seconds,
            "receivers": to_json(list(receivers)),
            "include": to_json(list(include)),
            "exclude": to_json(list(exclude)),
        }
        key = storable(pattern, MAX_ADDRESS)
        with writing(self._db, self._where):
            known = PageWatch.select(PageWatch.id).where(PageWatch.pattern == key)
            found = known.scalar(self._db)
            self._note_edit(site_id, now)
            if found is None:
                row = {"site": site_id, "pattern": key, "added_at": now, **fields}
                return int(PageWatch.insert(row).execute(self._db))
            PageWatch.update(fields).where(PageWatch.id == found).execute(self._db)
            # As every visit asks for it with its refresh.
            mine = Refresh.update(every_seconds=every_seconds).where(Refresh.watch == found)
            mine.execute(self._db)
            # With another interval it may be due at once.
            active = (Refresh.watch == found) & (Refresh.due_at < NEVER_DUE)
            soon = (Refresh.due_at > now) & active
            Refresh.update(due_at=now).where(soon).execute(self._db)
            return int(found)

    def _note_edit(self, site_id: int, now: float) -> None:
        """Let other processes notice an edit as one of the site."""
        Site.update(changed_at=now).where(Site.id == site_id).execute(self._db)

    def watches(self, site_id: int | None = None) -> list[WatchRow]:
        """Return the watches, of one site or all, in the order they were added."""
        query = _WATCH.select().order_by(PageWatch.id)
        return self._all(
            _WATCH, query if site_id is None else query.where(PageWatch.site == site_id)
        )

    def watch(self, watch_id: int) -> WatchRow | None:
        """Return a watch."""
        return self._first(_WATCH, _WATCH.select().where(PageWatch.id == watch_id))

    def watch_of(self, pattern: str) -> WatchRow | None:
        """Return the watch with this URL or pattern."""
        return self._first(_WATCH, _WATCH.select().where(PageWatch.pattern == pattern))

    def set_state(self, watch_id: int, state: WatchState, *, now: float) -> None:
        """Pause or resume a watch; after a pause the text is compared with the last one before it."""
        due_at = NEVER_DUE if state is WatchState.PAUSED else now
        with writing(self._db, self._where):
            mine = PageWatch.id == watch_id
            PageWatch.update(state=state).where(mine).execute(self._db)
            site = PageWatch.select(PageWatch.site).where(mine).scalar(self._db)
            self._note_edit(site, now)
            pages = Refresh.watch == watch_id
            Refresh.update(due_at=due_at).where(pages).execute(self._db)

    def remove(self, watch_id: int, *, now: float) -> bool:
        """Remove a watch; return whether it existed. Patterns of its site may take its pages in again."""
        with writing(self._db, self._where):
            site = PageWatch.select(PageWatch.site).where(PageWatch.id == watch_id).scalar(self._db)
            if site is None:
                return False
            # Announced pages are refreshed as before.
            mine = Refresh.watch == watch_id
            announced = Refresh.page.in_(News.select(News.page)) | Refresh.page.in_(
                BackfillPage.select(BackfillPage.page)
            )
            plain = {"watch": None, "due_at": now, "every_seconds": None}
            Refresh.update(plain).where(mine & announced).execute(self._db)
            PageWatch.delete().where(PageWatch.id == watch_id).execute(self._db)
            others = PageWatch.site == site
            PageWatch.update(taken_to=0).where(others).execute(self._db)
            self._note_edit(site, now)
            return True

    def standings(self) -> defaultdict[int, WatchStanding]:
        """Return, by watch, how many pages it has, and when they were last checked and last changed."""
        gone = fn.COUNT(Refresh.gone_at)
        due = fn.MIN(Case(None, ((Refresh.due_at < NEVER_DUE, Refresh.due_at),)))
        query = Refresh.select(
            *(Refresh.watch, fn.COUNT(Refresh.page), fn.MAX(Refresh.checked_at)),
            *(fn.MAX(Refresh.changed_at), gone, due),
        )
        query = query.where(WATCHED).group_by(Refresh.watch)
        rows = {watch: WatchStanding(*row) for watch, *row in self._rows(query)}
        return defaultdict(WatchStanding, rows)

    # Pages.

    def take_in(
        self, watch: WatchRow, page_ids: Iterable[int], taken_to: int, *, now: float
    ) -> int:
        """Add pages to a watch, at most :data:`MAX_PAGES`; return the number added.

        The watch of a URL takes its page over from a pattern.
        """
        fields = {
            "watch": watch.id,
            "due_at": NEVER_DUE if watch.state is WatchState.PAUSED else now,
            "every_seconds": watch.every_seconds,
        }
        with writing(self._db, self._where):
            mine = Refresh.select(fn.COUNT(Refresh.page))
            count = before = int(mine.where(Refresh.watch == watch.id).scalar(self._db))
            for page_id in page_ids:
                if count >= MAX_PAGES:
                    break
                count += self._take(watch, page_id, fields)
            PageWatch.update(taken_to=taken_to).where(PageWatch.id == watch.id).execute(self._db)
            return count - before

    def _take(self, watch: WatchRow, page_id: int, fields: Mapping[str, Any]) -> int:
        known = _KNOWN.rows(self._db, page=page_id)
        if not known:
            row = {"page": page_id, "site_id": watch.site_id, **fields}
            Refresh.insert(row).execute(self._db)
            return 1
        mine = known[0][0]
        if mine == watch.id or (mine is not None and watch.is_pattern):
            return 0
        _SET.run(self._db, fields, page=page_id)
        return 1

    def pages_after(self, site_id: int, after: int, *, limit: int) -> list[tuple[int, str]]:
        """Return ids and URLs of a site's pages with higher ids, in order, except moved ones."""
        elsewhere = [PageState.MOVED, PageState.ALIAS]
        query = (
            Page.select(Page.id, Page.url)
            .where((Page.id > after) & (Page.site == site_id) & Page.state.not_in(elsewhere))
            .order_by(Page.id)
            .limit(limit)
        )
        return self._rows(query)

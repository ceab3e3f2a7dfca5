"""Merging a page into the page that it is a path alias of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from peewee import fn

from store.database import writing
from store.enums import ChangeKind, PageState
from store.models import Change, Hub, Page, Sighting, Visit
from store.news import move_news
from store.page_records import PageRecords
from store.rules import Rule
from store.values import SeenLink


class AliasRecords(PageRecords):
    """Writes of path aliases."""

    def fold_path_alias(
        self, site_id: int, moves: Sequence[tuple[int, SeenLink]], now: float
    ) -> None:
        """Merge each page of *moves* into the page it is an alias of: history, sightings and hub.

        What was announced or known of the old page holds for the other.
        """
        with writing(self._db, self._where):
            ids = self._put_pages(site_id, [link for _, link in moves], now, None)
            for old, link in moves:
                new = ids[link.canonical_key]
                if new != old:
                    self._fold_page(old, new)
                    move_news(self._db, old, new, now)

    def _fold_page(self, old: int, new: int) -> None:
        was = Page.alias()
        both = was.id.in_([old, new])
        folded = {
            "first_seen_at": fn.MIN(was.first_seen_at),
            "announced_at": fn.MIN(was.announced_at),
            "anchor": fn.MAX(was.anchor),
            "verify_due_at": fn.MIN(was.verify_due_at),
        }
        fields = {name: was.select(value).where(both) for name, value in folded.items()}
        Page.update(fields).where(Page.id == new).execute(self._db)
        rule = was.select(was.rule).where(was.id == old)
        undecided = (Page.id == new) & Page.rule.is_null()
        Page.update(rule=rule).where(undecided).execute(self._db)
        circle = (Page.id == new) & (Page.moved_to == old)
        Page.update(state=PageState.KNOWN, moved_to=None).where(circle).execute(self._db)
        moved = Page.update(
            state=PageState.MOVED, moved_to=new, verify_due_at=None, rule=Rule.ALIAS
        )
        moved.where(Page.id == old).execute(self._db)
        if not Hub.select(Hub.page).where(Hub.page == new).exists(self._db):
            Hub.update(page=new).where(Hub.page == old).execute(self._db)
        Hub.delete().where(Hub.page == old).execute(self._db)
        for column in (Sighting.page, Sighting.hub):
            self._repoint(column, old, new)
        Visit.update(page=new).where(Visit.page == old).execute(self._db)
        Change.update(page=new).where(Change.page == old).execute(self._db)
        # One announcement, the earlier.
        announced = (Change.page == new) & (Change.kind == ChangeKind.ADDED)
        query = Change.select(Change.id).where(announced).order_by(Change.id)
        again = [change for (change,) in query.tuples().execute(self._db)][1:]
        if again:
            Change.delete().where(Change.id.in_(again)).execute(self._db)

    def _repoint(self, column: Any, old: int, new: int) -> None:  # noqa: ANN401 - a peewee field
        """Repoint the sightings of *old* to *new*; where both have one, *new*'s stays."""
        other = Sighting.hub if column is Sighting.page else Sighting.page
        twin = Sighting.alias()
        taken = twin.select(getattr(twin, other.name)).where(getattr(twin, column.name) == new)
        free = (column == old) & other.not_in(taken)
        Sighting.update({column: new}).where(free).execute(self._db)
        Sighting.delete().where(column == old).execute(self._db)

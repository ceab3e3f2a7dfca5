"""Writing pages and hubs outside a visit's outcome: adding, changing, making due."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from peewee import fn

from store.crawl.queries.site_facts import refused
from store.crawl.refreshes import WATCHED
from store.database import writing
from store.database.failures import storage_errors
from store.database.repository import Repository, batches
from store.database.statements import Inserted, Prepared, Updated, any_of
from store.database.texts import columns, storable
from store.enums import HubRole, PageState
from store.models import LIVING, Hub, Page, Refresh, Site, Visit
from store.rules import COLUMNS, Rule
from store.values import NEVER_DUE, NewHub, SeenLink, SiteChanges

# Statements of every visit.
_IDS = Prepared(
    lambda site, keys: Page.select(Page.canonical_key, LIVING, Page.id).where(
        (Page.site == site) & any_of(Page.canonical_key, keys)
    )
)
_REFUSED = Prepared(lambda page: Page.select(Page.id).where((Page.id == page) & refused()))
_NEW_HUB = Inserted(Hub, ignore=True)
SET_HUB = Updated(Hub, lambda page: Hub.page == page)
SET_PAGE = Updated(Page, lambda page: Page.id == page)
_IS_LIST = fn.EXISTS(
    Hub.select(Hub.page).where((Hub.page == Page.id) & (Hub.role != HubRole.ARTICLE))
)
# Never read, and not planned otherwise: a list is read as a hub.
_UNREAD = Prepared(
    lambda pages: Page.select(Page.id).where(
        any_of(Page.id, pages)
        & Page.verified_at.is_null()
        & Page.verify_due_at.is_null()
        & ~_IS_LIST
    )
)
_NEW_PAGES = Inserted(Page, ignore=True)


class PageRecords(Repository):
    """Writes of pages and hubs."""

    def add_pages(
        self, site_id: int, links: Iterable[SeenLink], *, now: float, hub_id: int | None = None
    ) -> dict[str, int]:
        """Add pages and hubs that no visit showed (seeds, probes).

        Returns ids by canonical key, including pages already known.
        """
        with writing(self._db, self._where):
            return self._put_pages(site_id, tuple(links), now, hub_id)

    def update_page(self, page_id: int, **fields: object) -> None:
        """Set columns of a page."""
        with storage_errors(self._where):
            SET_PAGE.run(self._db, columns(fields), page=page_id)

    def update_hub(self, page_id: int, **fields: object) -> None:
        """Set columns of a hub."""
        with storage_errors(self._where):
            SET_HUB.run(self._db, columns(fields), page=page_id)

    def _change_hubs(self, site_id: int, changes: SiteChanges) -> None:
        for page_id, fields in changes.updated.items():
            SET_HUB.run(self._db, columns(fields), page=page_id)
        for page_id, hub in changes.begun.items():
            self._put_hub(page_id, site_id, hub)
        for batch in batches(changes.ended):
            Hub.delete().where(Hub.page.in_(batch)).execute(self._db)
        by_rule: dict[Rule, list[int]] = {}
        for page_id, rule in changes.withdrawn.items():
            by_rule.setdefault(rule, []).append(page_id)
        for rule, pages in by_rule.items():
            # Only what is there may be chosen to be monitored.
            there = PageState.GONE if rule == Rule.NEVER_THERE else PageState.KNOWN
            for batch in batches(pages):
                unread = Hub.page.in_(batch) & Hub.visited_at.is_null()
                Hub.delete().where(unread & (Hub.role == HubRole.LIST)).execute(self._db)
                was_hub = Page.id.in_(batch) & (Page.rule == Rule.HUB)
                Page.update(rule=rule, state=there).where(was_hub).execute(self._db)

    def bring_forward(self, seconds: float, now: float) -> None:
        """Bring visits that are due after *now* forward by *seconds*: the clock was ahead by them."""
        sites = Site.select(Site.id)  # the indexes begin with them
        planned: tuple[tuple[Any, Any], ...] = (
            (Hub.site_id.in_(sites), Hub.due_at),
            (Page.site.in_(sites), Page.verify_due_at),
            (Refresh.site_id.in_(sites) & WATCHED, Refresh.due_at),
        )
        with writing(self._db, self._where):
            for which, due_at in planned:
                late = which & (due_at > now) & (due_at < NEVER_DUE)
                due_at.model.update({due_at: due_at - seconds}).where(late).execute(self._db)

    def postpone(self, page_id: int, at: float, until: float, status: str) -> None:
        """Postpone everything due for a page that must not be fetched, and log the visit not made."""
        with writing(self._db, self._where):
            Visit.insert(page=page_id, at=at, status=status).execute(self._db)
            hub = Hub.update(due_at=until, last_status=status).where(Hub.page == page_id)
            hub.execute(self._db)
            planned = (Page.id == page_id) & Page.verify_due_at.is_null(is_null=False)
            Page.update(verify_due_at=until).where(planned).execute(self._db)

    def _put_pages(
        self, site_id: int, links: Sequence[SeenLink], now: float, hub_id: int | None
    ) -> dict[str, int]:
        """Insert unknown pages; return the ids of all by canonical key, of a former address its page's."""
        ids = self._ids(site_id, [link.canonical_key for link in links])
        # Inserting known rows too would use up an id for each conflict on PostgreSQL.
        unknown = [link for link in links if link.canonical_key not in ids]
        if unknown:
            _NEW_PAGES.run(self._db, [_page_row(site_id, link, now, hub_id) for link in unknown])
            ids |= self._ids(site_id, [link.canonical_key for link in unknown])
        for link in links:
            if link.hub is not None:
                self._put_hub(ids[link.canonical_key], site_id, link.hub)
        return ids

    def _plan_verification(self, links: Mapping[int, SeenLink], now: float) -> None:
        """Plan the verification of announced *links*, by page id, that were never read."""
        for (page,) in _UNREAD.rows(self._db, pages=list(links)) if links else ():
            SET_PAGE.run(self._db, _verification(links[page], now), page=page)

    def _ids(self, site_id: int, canonical_keys: Sequence[str]) -> dict[str, int]:
        return {key: page for key, page, _ in self._known(site_id, canonical_keys)}

    def _at(self, site_id: int, canonical_keys: Sequence[str]) -> dict[str, int]:
        """Return the ids of the rows that have these canonical keys, though it be as former addresses."""
        return {key: row for key, _, row in self._known(site_id, canonical_keys)}

    def _known(self, site_id: int, canonical_keys: Sequence[str]) -> list[tuple[str, int, int]]:
        keys = list(dict.fromkeys(canonical_keys))
        return _IDS.rows(self._db, site=site_id, keys=keys) if keys else []

    def _put_hub(self, page_id: int, site_id: int, hub: NewHub) -> None:
        """Make a page a hub unless a user labelled it an article; a seed overrides that label."""
        given = hub.role in (HubRole.SEED, HubRole.USER)
        if not given and _REFUSED.rows(self._db, page=page_id):
            return
        row = {"page": page_id, "site_id": site_id, **columns(asdict(hub))}
        _NEW_HUB.run(self._db, [row])


def _verification(link: SeenLink, now: float) -> dict[str, Any]:
    return {
        "verify_due_at": now if COLUMNS[link.fate].is_fetched else None,
        "verify_score": link.verify_score,
        "link_context": link.link_context,
    }


def _page_row(site_id: int, link: SeenLink, now: float, hub_id: int | None) -> dict[str, Any]:
    return {
        "site": site_id,
        "canonical_key": link.canonical_key,
        "url": link.url,
        "anchor": storable(link.anchor),
        "published_at": link.published_at,
        "first_seen_at": now,
        "first_hub_id": hub_id,
        "state": COLUMNS[link.fate].state,
        **_verification(link, now),
        # A hub that is known before its first visit (a seed, a probe, a feed named by a page).
        "rule": link.rule or (Rule.HUB if link.hub is not None else None),
    }

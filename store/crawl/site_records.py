"""Writing sites: adding, renaming, changing, removing."""

from collections.abc import Iterator
from contextlib import contextmanager

from store.answers.naming import free_name
from store.database import writing
from store.database.failures import storage_errors
from store.database.repository import Repository
from store.database.statements import Inserted, Prepared, Updated
from store.database.texts import columns
from store.enums import ChangeKind, LabelOrigin, SiteEventKind
from store.models import Change, Hub, Label, Page, Site
from store.search.news import forget_texts

# Texts taken out of the index in one transaction.
_TEXTS = 500
_BY_SEED = Prepared(lambda seed: Site.select(Site.id).where(Site.seed_url == seed))
_NAMED = Prepared(
    lambda name, but: Site.select(Site.id).where((Site.name == name) & (Site.id != but))
)
_NEW_SITE = Inserted(Site, ["seed_url"])
SET_SITE = Updated(Site, lambda site: Site.id == site)


class SiteRecords(Repository):
    """Writes of sites."""

    def add_site(self, seed_url: str, name: str, *, now: float, **fields: object) -> int:
        """Add a site, or return the id of the one with this seed; *fields* are set either way.

        If another site has this *name*, a longer one is used.
        """
        with writing(self._db, self._where):
            found = _BY_SEED.rows(self._db, seed=seed_url)
            if found:
                if fields:
                    changed = columns({**fields, "changed_at": now})
                    SET_SITE.run(self._db, changed, site=found[0][0])
                return int(found[0][0])
            new = {"seed_url": seed_url, "name": self._free_name(name, seed_url), "added_at": now}
            # If another process has just added it, its row stays.
            _NEW_SITE.run(self._db, [{**new, **columns(fields)}], update=["seed_url"])
            return int(_BY_SEED.rows(self._db, seed=seed_url)[0][0])

    @contextmanager
    def together(self, *, undo: bool = False) -> Iterator[None]:
        """Make the block's writes one transaction; *undo* rolls them back.

        Within another one, what the block wrote is undone alone if it raises.
        """
        within = self._db.in_transaction()
        with writing(self._db, self._where):
            if not (within or undo):
                yield
                return
            with self._db.savepoint() as point:
                yield
                if undo:
                    point.rollback()

    def replace_seed(self, site_id: int, canonical_key: str, url: str, *, now: float) -> None:
        """Give a site another address of its seed, the page with this key; it is visited at once.

        Nothing is done if that is the seed of another site.
        """
        with writing(self._db, self._where):
            if _BY_SEED.rows(self._db, seed=url):
                return
            Site.update(seed_url=url, changed_at=now).where(Site.id == site_id).execute(self._db)
            seed = (Page.site == site_id) & (Page.canonical_key == canonical_key)
            Page.update(url=url).where(seed).execute(self._db)
            pages = Page.select(Page.id).where(seed)
            Hub.update(due_at=now, failures=0).where(Hub.page.in_(pages)).execute(self._db)

    def rename_site(self, site_id: int, name: str, url: str) -> None:
        """Name a site *name*, extended by part of *url* if another site has that name."""
        with writing(self._db, self._where):
            own = self._free_name(name, url, but=site_id)
            Site.update(name=own).where(Site.id == site_id).execute(self._db)

    def _free_name(self, name: str, url: str, *, but: int = 0) -> str:
        def is_taken(one: str) -> bool:
            return bool(_NAMED.rows(self._db, name=one, but=but))

        return free_name(name, url, is_taken)

    def update_site(self, site_id: int, **fields: object) -> None:
        """Set columns of a site."""
        with storage_errors(self._where):
            SET_SITE.run(self._db, columns(fields), site=site_id)

    def remove_site(self, site_id: int) -> None:
        """Delete a site with its pages, hubs, sightings, visits and changes, and its behaviour labels."""
        # In batches, so that a large index does not block the crawler.
        more = True
        while more:
            with writing(self._db, self._where):
                more = forget_texts(self._db, site_id, limit=_TEXTS) == _TEXTS
        with writing(self._db, self._where):
            self._delete_site(site_id)

    def _delete_site(self, site_id: int) -> None:
        # Users' labels stay.
        written = (Label.site == site_id) & (Label.origin == LabelOrigin.BEHAVIOUR)
        Label.delete().where(written).execute(self._db)
        Site.delete().where(Site.id == site_id).execute(self._db)

    def withdraw_site(self, site_id: int) -> bool:
        """Delete a site that announced nothing and of which no user labelled a page; return whether it did.

        The only automatic deletion.
        """
        # Read and starred pages are among those announced.
        kinds = (ChangeKind.ADDED, SiteEventKind.BACKFILL)
        with writing(self._db, self._where):
            announced = (Change.site == site_id) & Change.kind.in_(kinds)
            said = (Label.site == site_id) & (Label.origin != LabelOrigin.BEHAVIOUR)
            for table, history in ((Change, announced), (Label, said)):
                if table.select().where(history).exists(self._db):
                    return False
            self._delete_site(site_id)  # nothing was announced, so nothing is indexed
            return True

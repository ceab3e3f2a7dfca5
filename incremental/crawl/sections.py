"""What comes up with a new page: the rest of its section, its translations, and where to look for more.

A list does not show everything. Pages of documentation link to one another, a section begins with its
pages, and a translation is led to by its original alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from incremental.crawl.sites import WatchedSite
from incremental.judge.editions import editions, language_of, translated
from incremental.judge.links import Target, targets
from incremental.judge.outcome import top_folder
from incremental.parse import Page
from incremental.scope import page_number
from incremental.times import DAY
from store import Store
from store.values import ARTICLE, KnownPage

MAX_NEW_SECTION = 40
"""Unknown pages on a hub that came up late, up to which they are news: an old archive has more."""
NEW_SECTION_SECONDS = 7 * DAY
SETTLED_SECONDS = 14 * DAY
"""Before a site was watched so long, a folder that comes up may be an old one found late."""
MAX_FOLDERS = 10
MAX_STRUCTURE = 20
"""Articles of new folders that are monitored at a time."""
MAX_ORIGINALS = 20
"""Pages read again for their translations after one page of a new edition."""
MIN_STRUCTURE_LINKS = 3


class Sections:
    """Asks the store what was known of a folder. Writes nothing but when originals are read again."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def section(
        self, page: Page, own: str, site: WatchedSite, now: float, *, found_by: int | None = None
    ) -> Sequence[Target]:
        """Return the unknown pages that a new page leads to in its folder, if the folder itself is new.

        A section often comes up with pages that only its other pages link to. *found_by* is the hub that
        showed the page: what a monitored article led to belongs to its section, however old that is by now.
        """
        near = self._neighbours_in_new_folder(page, own, site, now, found_by)
        known = self._store.read.known(site.row.id, [t.identity for t in near])
        unknown = [t for t in near if t.identity not in known]
        unknown = unknown if len(unknown) <= MAX_NEW_SECTION else []
        return (*unknown, *self._editions(page, own, site, now))

    def _editions(self, page: Page, own: str, site: WatchedSite, now: float) -> list[Target]:
        """Return the unknown pages that are a page in other languages, if they are as new as it is.

        A page of an edition that comes up also has the originals it leads to read again: they now lead
        to their own translations.
        """
        found = targets(page.links, site.scope, mirrors=site.mirrors, own=own)
        others = editions(own, found)
        is_edition = bool(language_of(own)) and self._came_up(top_folder(own), site, now)
        if not others and not is_edition:
            return []
        read = self._store.read
        known = read.known(site.row.id, [own, *(t.identity for t in found)])
        if is_edition:
            self._read_originals(own, found, known, site, now)
        settled = now - site.row.added_at > SETTLED_SECONDS
        fresh = settled and own in known and known[own].first_seen_at > now - NEW_SECTION_SECONDS
        return [
            t
            for t in others
            if t.identity not in known
            and (fresh or self._came_up(top_folder(t.identity), site, now))
        ]

    def _read_originals(
        self,
        own: str,
        found: Sequence[Target],
        known: Mapping[str, KnownPage],
        site: WatchedSite,
        now: float,
    ) -> None:
        """Plan looks at the original pages whose translation is not known, each once in a while."""
        language = language_of(own)
        originals = [
            t.identity for t in found if t.identity in known and not language_of(t.identity)
        ]
        wanted = {translated(one, language): known[one] for one in originals}
        there = self._store.read.known(site.row.id, list(wanted))
        missing = [page for name, page in wanted.items() if name not in there and not page.is_hub]
        for page in missing[:MAX_ORIGINALS]:
            look = self._store.read.look(page.id)
            if look is not None and (look.looked_at or 0.0) < now - NEW_SECTION_SECONDS:
                self._store.write.update_page(page.id, look_due_at=now)

    def is_structure(
        self, page: Page, own: str, site: WatchedSite, now: float, *, found_by: int | None = None
    ) -> bool:
        """Tell whether a new topic page is worth a look now and then, for the pages it leads to.

        Pages of documentation link to one another and stand on no list. Only in new folders, and only
        a few: elsewhere each article would be one.
        """
        near = self._neighbours_in_new_folder(page, own, site, now, found_by)
        if len(near) < MIN_STRUCTURE_LINKS:
            return False
        chosen = [one for one in self._store.read.monitored_articles(site.row.id) if one.chosen]
        return len(chosen) < MAX_STRUCTURE

    def _neighbours_in_new_folder(
        self, page: Page, own: str, site: WatchedSite, now: float, found_by: int | None
    ) -> list[Target]:
        folder = own.rsplit("/", 1)[0] + "/"
        hub = self._store.read.hub(found_by) if found_by is not None else None
        by_article = hub is not None and hub.role == ARTICLE
        if not top_folder(own) or not (by_article or self._came_up(folder, site, now)):
            return []
        found = targets(page.links, site.scope, mirrors=site.mirrors, own=own)
        return [t for t in found if t.identity.startswith(folder) and not page_number(t.url)]

    def new_folders(
        self, unknown: Sequence[Target], site: WatchedSite, now: float
    ) -> frozenset[str]:
        """Return the top folders of *unknown* below which nothing was known until lately."""
        folders = list(dict.fromkeys(filter(None, (top_folder(t.identity) for t in unknown))))
        return frozenset(f for f in folders[:MAX_FOLDERS] if self._came_up(f, site, now))

    def _came_up(self, folder: str, site: WatchedSite, now: float) -> bool:
        if now - site.row.added_at < SETTLED_SECONDS:
            return False
        before = now - NEW_SECTION_SECONDS
        return not self._store.read.known_below(site.row.id, folder, before=before)

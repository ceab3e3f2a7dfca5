"""Tools that change something; offered with ``--allow-changes`` alone. Nothing can be deleted here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Field

from incremental.base.errors import InputError, NotFoundError
from incremental.base.lookup import find_page, find_sites
from incremental.base.plain_text import one_line
from incremental.base.tagging import add_tags
from incremental.settings import Settings
from incremental.settings.seeds import add_seed
from incremental.topics.editing import give_feedback
from store import Store
from store.enums import SiteStatus

MOST_AT_ONCE = 100
PROPOSED = "assistant"
"""The tag of sites that an assistant added."""

Urls = Annotated[list[str], Field(min_length=1, max_length=MOST_AT_ONCE)]
Answer = dict[str, Any]


@dataclass(frozen=True)
class Changing:
    """The tools, on one store. Each runs in a thread of its own connection."""

    shared: Store
    settings: Settings
    now: Callable[[], float]

    NAMES: ClassVar = ("mark_pages", "judge_pages", "add_site", "set_site_paused")

    def tools(self) -> list[Callable[..., Answer]]:
        """Return the tools in the order in which they are offered."""
        return [getattr(self, name) for name in self.NAMES]

    def mark_pages(
        self, urls: Urls, read: bool | None = None, starred: bool | None = None
    ) -> Answer:
        """Mark announced pages as read, unread, starred or not; what is left out stays as it is."""
        if read is None and starred is None:
            raise InputError("read, starred", None, "give at least one of them")
        marked, failed = [], []
        with self.shared.in_this_thread() as store:
            for url in urls[:MOST_AT_ONCE]:
                try:
                    page = find_page(store, url)
                except (InputError, NotFoundError) as error:
                    failed.append(one_line(str(error), 500))
                    continue
                done = store.answers.mark([page["id"]], now=self.now(), read=read, starred=starred)
                if done:
                    marked.append(one_line(url, 500))
                else:
                    failed.append(f"{one_line(url, 500)} was never announced as new")
        return {"marked": marked, "failed": failed}

    def judge_pages(self, topic: str, urls: Urls, relevant: bool) -> Answer:
        """Tell a topic that announced pages are relevant or irrelevant to it; the daemon lets it learn."""
        with self.shared.in_this_thread() as store:
            # The daemon fetches what it judges: an address that an assistant made up could carry data out.
            pages = [find_page(store, url) for url in urls[:MOST_AT_ONCE]]
            for page in pages:
                if page["announced_at"] is None:
                    raise InputError("url", page["url"], "was never announced as new")
            known = [page["url"] for page in pages]
            row, given = give_feedback(store, topic, known, relevant=relevant, now=self.now())
        waiting = [one_line(one.url, 500) for one in given if not one.at_hand]
        return {"topic": row.name, "state": row.state, "fetched_by_the_daemon_first": waiting}

    def add_site(self, url: str) -> Answer:
        """Propose a site to watch; give its home page or a list of its news.

        It is paused and has the tag "assistant"; nothing is fetched from it until the user resumes it.
        """
        with self.shared.in_this_thread() as store, store.write.together():
            before = {row.id for row in store.read.sites()}
            site_id = add_seed(store, url, now=self.now(), fetch=self.settings.fetch)
            waits = {}
            if site_id not in before:
                store.write.update_site(site_id, state=SiteStatus.PAUSED)
                add_tags(store, site_id, (PROPOSED,))
                waits = {"waits_for": "the user, who runs: hubwatch resume NAME"}
            row = store.read.site(site_id)
        assert row is not None, "it was just added"
        return {"id": row.id, "name": row.name, "seed": row.seed_url, "state": row.state, **waits}

    def set_site_paused(self, site: str, paused: bool) -> Answer:
        """Pause a site, so that nothing is fetched from it, or resume one that was read before."""
        state = SiteStatus.PAUSED if paused else SiteStatus.ACTIVE
        with self.shared.in_this_thread() as store:
            (row,) = find_sites(store, [site])
            if not (paused or any(hub.last_status for hub in store.read.hubs(row.id))):
                way_out = f"was never fetched; ask the user to run: hubwatch resume {row.name}"
                raise InputError("site", row.name, way_out)
            store.write.update_site(row.id, state=state)
        return {"id": row.id, "name": row.name, "state": state}

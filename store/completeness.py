"""How the new pages of a site were found, for estimating what was missed: ``store.completeness``.

Times are unix seconds, UTC.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from peewee import fn

from store.database.repository import Repository, Shape, batches
from store.database.statements import Inserted, upsert
from store.enums import HubKind, HubRole, PageState, SiteStatus, TopicVerdict
from store.models import (
    Audited,
    Hub,
    News,
    Page,
    PageTopic,
    Sighting,
    Site,
    SiteCompleteness,
    Visit,
)
from store.rules import Rule

MOST_PAGES = 1_000
"""New pages of a site that are looked at, latest first."""
# Rules by which a page that is there is not announced. Of pages that are older by their address or text,
# that a user refused, or that are none, nothing was missed.
_NOT_ANNOUNCED = (Rule.BASELINE, Rule.MIGRATED, Rule.BURST)
_AUDITED = Inserted(Audited, ignore=True)
_UNSEEN = (PageState.GONE, PageState.MISSING, PageState.MOVED, PageState.ALIAS)


@dataclass(frozen=True, slots=True)
class NewPage:
    """A new page, and the hubs that showed it."""

    id: int
    url: str
    found_at: float
    published_at: float | None
    first_seen_at: float
    first_hub: int | None
    """The hub that showed it first."""
    shown_by: frozenset[int]
    rule: str
    """By which it was announced; empty = unknown."""
    audited_at: float | None
    """When an announced page was first found to have come to link to it; None = never."""

    @property
    def is_only_audited(self) -> bool:
        """Whether no hub had shown it by then."""
        return self.audited_at is not None and self.first_seen_at >= self.audited_at


@dataclass(frozen=True, slots=True)
class WithheldPage:
    """A page that was not announced, although it is dated after its site was added."""

    url: str
    first_hub: int | None
    rule: str


@dataclass(frozen=True, slots=True)
class KeptEstimate:
    """How complete a site was when it was last estimated, as ``completeness.showing`` has it."""

    site: int
    at: float
    pages: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Shower:
    """A hub, whether it is still visited or not."""

    id: int
    url: str
    view: str
    """feed, sitemap, list or article: what kind of page finds others in the same way."""
    status: str
    """Of its last visit."""
    baseline_at: float | None
    """When it was first read; None = never."""
    read_at: float
    """When it was last read; 0 = never."""
    failures: int
    """Visits in a row that failed."""


class Completeness(Repository):
    """Queries, on one database."""

    def new_pages(self, site_id: int, since: float) -> list[NewPage]:
        """Return the site's new pages since then, latest first."""
        of = (News.site == site_id) & (News.found_at >= since)
        rows = self._rows(
            News.select(
                *(News.page, Page.url, News.found_at, Page.published_at),
                *(Page.first_seen_at, Page.first_hub_id, Page.rule, Audited.at),
            )
            .join(Page, on=Page.id == News.page)
            .left_outer_join(Audited, on=Audited.page == News.page)
            .where(of)
            .order_by(News.id.desc())
            .limit(MOST_PAGES)
        )
        shown: dict[int, set[int]] = {page: set() for page, *_ in rows}
        for some in batches(shown):
            seen = Sighting.select(Sighting.page, Sighting.hub).where(Sighting.page.in_(some))
            for page, hub in self._rows(seen):
                shown[page].add(hub)
        return [
            NewPage(page, url, found, dated, seen, hub, frozenset(shown[page]), rule or "", audited)
            for page, url, found, dated, seen, hub, rule, audited in rows
        ]

    def audited(self, site_id: int, keys: Collection[str], since: float, at: float) -> None:
        """Note that links to these pages were found at an audit: those announced since then, or not yet."""
        for some in batches(keys):
            new = (Page.announced_at >= since) | (Page.first_seen_at == at)
            of = (Page.site == site_id) & Page.canonical_key.in_(some) & new
            found = self._column(Page.select(Page.id).where(of))
            _AUDITED.run(self._db, [{"page": page, "at": at} for page in found])

    def withheld(self, site_id: int, since: float, until: float) -> list[WithheldPage]:
        """Return pages dated in between and after the site was added that were not announced."""
        of = (Page.site == site_id) & Page.published_at.between(since, until)
        # As an expression: SQLite would read every unannounced page of all sites by the index of that column.
        never = fn.COALESCE(Page.announced_at, -1) == -1
        mine = of & never & Page.rule.in_(_NOT_ANNOUNCED)
        rows = self._rows(
            Page.select(Page.url, Page.first_hub_id, Page.rule)
            .join(Site, on=Site.id == Page.site)
            .left_outer_join(Hub, on=Hub.page == Page.id)
            .where(mine & Page.state.not_in(_UNSEEN) & Hub.page.is_null())
            .where(Page.published_at > Site.added_at, Page.first_seen_at > Page.published_at)
            .order_by(Page.id.desc())
            .limit(MOST_PAGES)
        )
        return [WithheldPage(*row) for row in rows]

    def refused(self, pages: Collection[int]) -> set[int]:
        """Return those of *pages* that topics judged, and that none of them took."""
        found = set[int]()
        for some in batches(pages):
            of = PageTopic.page.in_(some) & PageTopic.fetched
            judged = PageTopic.select(PageTopic.page).where(of)
            taken = judged.where(PageTopic.verdict != TopicVerdict.IRRELEVANT)
            found |= set(self._column(judged)) - set(self._column(taken))
        return found

    def overflows(self, site_id: int, since: float) -> list[tuple[float, int]]:
        """Return the visits since then at which every link of a hub was new: time and page id, in order."""
        hubs = Hub.select(Hub.page).where(Hub.site_id == site_id)
        of = Visit.page.in_(hubs) & Visit.overflow & (Visit.at >= since)
        query = Visit.select(Visit.at, Visit.page).where(of).order_by(Visit.at, Visit.id)
        return [(at, page) for at, page in self._rows(query)]

    def showers(self, site_id: int) -> dict[int, Shower]:
        """Return the site's hubs by page id, those that are no longer visited as well."""
        rows = self._rows(
            Hub.select(
                *(Hub.page, Page.url, Hub.kind, Hub.role, Hub.last_status),
                *(Hub.baseline_at, Hub.visited_at, Hub.failures),
            )
            .join(Page, on=Page.id == Hub.page)
            .where(Hub.site_id == site_id)
        )
        return {
            page: Shower(page, url, _view(kind, role), status or "", first, at or 0.0, failures)
            for page, url, kind, role, status, first, at, failures in rows
        }

    def visits(self, page: int, since: float, until: float) -> list[str]:
        """Return how the visits of a page from *since* until before *until* ended."""
        of = (Visit.page == page) & (Visit.at >= since) & (Visit.at < until)
        return [status for (status,) in self._rows(Visit.select(Visit.status).where(of))]

    def on_topic(self, topic: int, since: float) -> dict[int, int]:
        """Count the new pages since then that a topic took, by site."""
        taken = (PageTopic.topic == topic) & (PageTopic.verdict != TopicVerdict.IRRELEVANT)
        query = (
            News.select(News.site, fn.COUNT(News.id))
            .join(PageTopic, on=PageTopic.page == News.page)
            .where(taken & (News.found_at >= since))
            .group_by(News.site)
        )
        return dict(self._rows(query))

    def due(self, before: float, most: int) -> list[tuple[int, str]]:
        """Return id and name of active sites that were not estimated since then, the longest ago first."""
        query = (
            Site.select(Site.id, Site.name)
            .left_outer_join(SiteCompleteness, on=SiteCompleteness.site == Site.id)
            .where(Site.state == SiteStatus.ACTIVE)
            .where(SiteCompleteness.at.is_null() | (SiteCompleteness.at < before))
            .order_by(fn.COALESCE(SiteCompleteness.at, 0.0), Site.id)
            .limit(most)
        )
        return [(site, name) for site, name in self._rows(query)]

    def keep(
        self,
        site: int,
        at: float,
        pages: int,
        shares: Sequence[float | None],
        causes: Mapping[str, int],
    ) -> None:
        """Keep an estimate in place of the last.

        *shares*: the estimate and its interval, None = unknown. *causes*: pages missed or late, by cause.
        """
        row: dict[str, object] = dict(zip(("share", "low", "high"), shares, strict=True))
        row |= {"at": at, "pages": pages, "causes": json.dumps(causes)}
        self._write(upsert(SiteCompleteness, {"site": site, **row}, ["site"], row))

    def kept(self) -> list[KeptEstimate]:
        """Return the kept estimates, the least complete sites first; unknown ones are left out."""
        order = (SiteCompleteness.share, SiteCompleteness.site)
        known = SiteCompleteness.share.is_null(is_null=False)
        query = _KEPT.select().where(known).order_by(*order)
        return self._all(_KEPT, query)

    def causes(self) -> dict[int, dict[str, int]]:
        """Return how many pages were missed or late when a site was last estimated, by site and cause."""
        rows = self._rows(SiteCompleteness.select(SiteCompleteness.site, SiteCompleteness.causes))
        return {site: json.loads(causes) for site, causes in rows}


_KEPT = Shape(KeptEstimate, SiteCompleteness, site=SiteCompleteness.site)


def _view(kind: str, role: str) -> str:
    if kind != HubKind.HTML:
        return kind
    return "article" if role == HubRole.ARTICLE else "list"

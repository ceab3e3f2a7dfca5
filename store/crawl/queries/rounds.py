"""Queries of a crawl round: due fetches, known pages, host state."""

from collections.abc import Iterable, Sequence
from typing import Any

from peewee import JOIN, SQL, Case, fn

from store.crawl.refreshes import PLANNED, WATCHED
from store.database import is_sqlite
from store.database.repository import Repository, Shape
from store.database.statements import Prepared, any_of
from store.enums import HubClass, HubKind, HubRole, HubStatus, PageState, SiteStatus
from store.models import (
    BackfillPage,
    Change,
    Host,
    Hub,
    Label,
    Page,
    Refresh,
    Sighting,
    Site,
    Topic,
    VisitRequest,
)
from store.rules import Rule
from store.values import (
    DueTimes,
    HostRow,
    HubRow,
    KnownPage,
    SeenLink,
    Sight,
    SiteRow,
    VerificationRow,
    VisitedHub,
)

_SITE = Shape(SiteRow, Site)
_HOST = Shape(HostRow, Host)
_HUB = Shape(HubRow, Hub, page_id=Hub.page, url=Page.url, canonical_key=Page.canonical_key)
_PAGE = Shape(VerificationRow, Page, page_id=Page.id)
_SIGHT = Shape(Sight, Sighting)
_IS_ARTICLE = Hub.role == HubRole.ARTICLE
_IS_LIST = Hub.role != HubRole.ARTICLE
_KNOWN = Shape(KnownPage, Page, is_hub=Hub.page.is_null(is_null=False) & _IS_LIST)
_READ = Hub.baseline_at.is_null(is_null=False)
_CLASSES: dict[HubClass, Any] = {
    HubClass.REVISIT: _READ & _IS_LIST & (Hub.state != HubStatus.DORMANT),
    HubClass.COVERED: _READ & _IS_LIST & (Hub.state == HubStatus.DORMANT),
    HubClass.EXPLORE: Hub.baseline_at.is_null() & _IS_LIST,
    HubClass.ARTICLE: _IS_ARTICLE,
}
# Pages announced once verified.
_AWAITED_STATES = (PageState.PENDING, PageState.MISSING)
_AWAITED = Page.state.in_(_AWAITED_STATES)
# Not null, as a range: SQLite uses no index for ``IS NOT NULL`` and would read every page of a site.
_PLANNED = Page.verify_due_at > -1e12  # noqa: PLR2004 - before any time
# Sitemaps, seeds and the usual places of feeds go first: they are few, and sometimes the only place that
# shows a page. Behind two hundred covered tag pages, the sitemap of a recorded weblog waited four days.
_FIRST = (Hub.kind == HubKind.SITEMAP) | Hub.role.in_((HubRole.SEED, HubRole.PROBE))
_ORDINARY = Case(None, ((_FIRST, 0),), 1)
_ALL = 1_000_000


def _hubs() -> Any:  # noqa: ANN401 - a peewee query
    return _HUB.select().join(Page, on=Page.id == Hub.page)


def _due_hubs(of_class: Any) -> Prepared:  # noqa: ANN401 - a peewee expression
    return Prepared(
        lambda site, now, limit: (
            _hubs()
            .where((Hub.site_id == site) & (Hub.due_at <= now) & of_class)
            .order_by(_ORDINARY, Hub.due_at, Hub.page)
            .limit(limit)
        )
    )


def _due_verifications(*, likely_first: bool, pending: bool) -> Prepared:
    likely = [Page.verify_score.desc(nulls="LAST")] if likely_first else []
    awaited = [_AWAITED] if pending else []
    return Prepared(
        lambda site, now, limit: (
            _PAGE.select()
            .where((Page.site == site) & (Page.verify_due_at <= now), *awaited)
            .order_by(*likely, Page.verify_due_at, Page.id)
            .limit(limit)
        )
    )


# What is due besides hubs, in the order of the fields of DueTimes: a table's site, its due time, which rows.
_OTHERS_DUE: tuple[tuple[Any, Any, Any], ...] = (
    (Page.site, Page.verify_due_at, _PLANNED & _AWAITED),
    (Page.site, Page.verify_due_at, _PLANNED & Page.state.not_in(_AWAITED_STATES)),
    (Refresh.site_id, Refresh.due_at, PLANNED),
    (Refresh.site_id, Refresh.due_at, WATCHED),
)
_FIRST_HUBS = [fn.MIN(Case(None, ((_CLASSES[name], Hub.due_at),))) for name in HubClass]


def _due_times(site: Any) -> Any:  # noqa: ANN401 - peewee expressions
    others = [
        of_site.model.select(fn.MIN(due_at)).where((of_site == site) & of_kind)
        for of_site, due_at, of_kind in _OTHERS_DUE
    ]
    return Hub.select(*_FIRST_HUBS, *others).where(Hub.site_id == site)


def _first_due(of_site: Any, due_at: Any, of_kind: Any) -> Prepared:  # noqa: ANN401 - likewise
    return Prepared(
        lambda: of_site.model.select(of_site, fn.MIN(due_at)).where(of_kind).group_by(of_site)
    )


_BOTH = (True, False)
_DUE_HUBS = {name: _due_hubs(of_class) for name, of_class in _CLASSES.items()}
_DUE_VERIFICATIONS = {
    (likely, pending): _due_verifications(likely_first=likely, pending=pending)
    for likely in _BOTH
    for pending in _BOTH
}
_DUE_TIMES = Prepared(_due_times)
_ACTIVE = Prepared(
    lambda: Site.select(Site.id).where(Site.state == SiteStatus.ACTIVE).order_by(Site.id)
)
_BY_SEED = Prepared(lambda seed: _SITE.select().where(Site.seed_url == seed))
_SEEDS = Prepared(lambda: Site.select(Site.id, Site.seed_url))
_SITES = Prepared(lambda sites: _SITE.select().where(any_of(Site.id, sites)).order_by(Site.id))


_FIRST_DUE = (
    Prepared(lambda: Hub.select(Hub.site_id, *_FIRST_HUBS).group_by(Hub.site_id)),
    *(_first_due(*one) for one in _OTHERS_DUE),
)
_ONE_HUB = Prepared(lambda page: _hubs().where(Hub.page == page))
_OTHER = Hub.alias("other")


def _visited_hub(page: Any, digest: Any) -> Any:  # noqa: ANN401 - peewee expressions
    events = BackfillPage.select(SQL("1")).where(BackfillPage.page == page)
    versions = Change.select(SQL("1")).where(
        (Change.page == page) & Change.body_after.is_null(is_null=False)
    )
    twins = _OTHER.select(SQL("1")).where(
        (_OTHER.site_id == Hub.site_id) & (_OTHER.page != page) & (_OTHER.body_md5 == digest)
    )
    query = Hub.select(*_HUB.columns, *_PAGE.columns, *map(fn.EXISTS, (events, versions, twins)))
    return query.join(Page, on=Page.id == Hub.page).where(Hub.page == page)


_VISITED_HUB = Prepared(_visited_hub)
_ONE_PAGE = Prepared(lambda page: _PAGE.select().where(Page.id == page))
_ONE_HOST = Prepared(lambda name: _HOST.select().where(Host.name == name))
_PRODUCTIVE_FIRST = (Hub.new_pages.desc(), Hub.visits.desc(), Hub.page)
_HUBS_OF_SITE = Prepared(
    lambda site: _hubs().where(Hub.site_id == site).order_by(*_PRODUCTIVE_FIRST)
)
_CANDIDATES = Prepared(
    lambda site: (
        Page.select(Page.id, Page.canonical_key, Page.url, Page.anchor)
        .join(Hub, on=Hub.page == Page.id)
        .where((Hub.site_id == site) & (Hub.role == HubRole.LIST) & Hub.visited_at.is_null())
        .where((Hub.state == HubStatus.CANDIDATE) & (Page.state == PageState.KNOWN))
    )
)
_LED_TO = Prepared(
    lambda site, page, rule: (
        Page.select(Page.id)
        .where((Page.site == site) & (Page.moved_to == page) & (Page.rule == rule))
        .limit(1)
    )
)


_KNOWN_PAGES = Prepared(
    lambda site, keys: (
        _KNOWN.select()
        .join(Hub, JOIN.LEFT_OUTER, on=Hub.page == Page.id)
        .where((Page.site == site) & any_of(Page.canonical_key, keys))
    )
)
_SIGHTS = Prepared(lambda hub: _SIGHT.select().where(Sighting.hub == hub))
_SHOWN_BY = Prepared(
    lambda hub: (
        Page.select(Page.canonical_key)
        .join(Sighting, on=Sighting.page == Page.id)
        .where((Sighting.hub == hub) & Sighting.gone_at.is_null())
    )
)
_URLS = Prepared(lambda pages: Page.select(Page.url).where(any_of(Page.id, pages)))


class RoundQueries(Repository):
    """Queries of the crawler."""

    def generation(self) -> object:
        """Return a value that changes when another connection changes the database."""
        if is_sqlite(self._db):
            return self._sql("PRAGMA data_version")[0][0]
        # The counter is SQLite's; on PostgreSQL these values stand for it. Hubs are not among them: the
        # crawler adds hubs all the time, and other writers of hubs also label, edit or add something.
        paused = Site.select(fn.COUNT(Site.id), fn.SUM(Site.id))
        paused = paused.where(Site.state == SiteStatus.PAUSED)
        labels = Label.select(fn.COUNT(Label.at), fn.MAX(Label.at))
        changed = (fn.MAX(Topic.changed_at), fn.MAX(Topic.learned_at))
        topics = Topic.select(fn.COUNT(Topic.id), fn.SUM(Topic.id), *changed)
        sites = Site.select(fn.COUNT(Site.id), fn.MAX(Site.id), fn.MAX(Site.changed_at))
        requests = VisitRequest.select(fn.COUNT(VisitRequest.page), fn.MAX(VisitRequest.at))
        asked = (sites, paused, labels, topics, requests)
        return tuple(value for query in asked for value in self._rows(query)[0])

    def site(self, site_id: int) -> SiteRow | None:
        """Return a site."""
        return self._asked_one(_SITE, _SITES, sites=[site_id])

    def sites(self) -> list[SiteRow]:
        """Return all sites in the order they were added."""
        return self._all(_SITE, _SITE.select().order_by(Site.id))

    def site_by_seed(self, seed_url: str) -> SiteRow | None:
        """Return the site with this seed."""
        return self._asked_one(_SITE, _BY_SEED, seed=seed_url)

    def active_sites(self) -> list[int]:
        """Return the ids of the sites that are not paused, in the order they were added."""
        return [one for (one,) in self._asked(_ACTIVE)]

    def seeds(self) -> dict[int, str]:
        """Return the seed of each site, by id."""
        return dict(self._asked(_SEEDS))

    def sites_by_id(self, site_ids: Sequence[int]) -> list[SiteRow]:
        """Return the sites with these ids."""
        return self._asked_all(_SITE, _SITES, sites=site_ids) if site_ids else []

    def all_due_times(self) -> dict[int, DueTimes]:
        """Return the next due time of each kind of fetch, by site; sites without any are omitted."""
        hubs, *others = (
            {site_id: due_at for site_id, *due_at in self._asked(query)} for query in _FIRST_DUE
        )
        nothing: list[float | None] = [None] * len(HubClass)
        return {
            site_id: DueTimes(
                dict(zip(HubClass, hubs.get(site_id, nothing), strict=True)),
                *(one.get(site_id, (None,))[0] for one in others),
            )
            for site_id in sorted(hubs.keys() | set().union(*others))
        }

    def due_hubs(
        self, site_id: int, now: float, share: HubClass, *, limit: int | None = 1
    ) -> list[HubRow]:
        """Return hubs of a class due at *now*; *limit* None = all.

        Sitemaps, seeds and the usual places of feeds come first, then the longest overdue.
        """
        most = _ALL if limit is None else limit
        return self._asked_all(_HUB, _DUE_HUBS[share], site=site_id, now=now, limit=most)

    def due_verifications(
        self,
        site_id: int,
        now: float,
        *,
        limit: int = 1,
        likely_first: bool = False,
        pending: bool = False,
    ) -> list[VerificationRow]:
        """Return pages to verify, longest due first.

        *pending*: only pages announced once verified. *likely_first*: by expected relevance; unscored pages
        last.
        """
        query = _DUE_VERIFICATIONS[likely_first, pending]
        return self._asked_all(_PAGE, query, site=site_id, now=now, limit=limit)

    def due_times(self, site_id: int) -> DueTimes:
        """Return the next due time of each kind of fetch of a site; may be in the past."""
        *hubs, awaited, other, refresh, watch = self._asked(_DUE_TIMES, site=site_id)[0]
        return DueTimes(dict(zip(HubClass, hubs, strict=True)), awaited, other, refresh, watch)

    def known(self, site_id: int, canonical_keys: Sequence[str]) -> dict[str, KnownPage]:
        """Return the known pages of a site by canonical key."""
        keys = list(dict.fromkeys(canonical_keys))
        if not keys:
            return {}
        rows = self._asked(_KNOWN_PAGES, site=site_id, keys=keys)
        return {page.canonical_key: page for page in map(_KNOWN, rows)}

    def was_led_to(self, site_id: int, page_id: int) -> bool:
        """Whether the page replaced one that redirected to it."""
        return bool(self._asked(_LED_TO, site=site_id, page=page_id, rule=Rule.LED_ON))

    def visible(self, hub_id: int) -> set[int]:
        """Return the ids of the pages that the hub showed at its last visit."""
        return {one.page_id for one in self.sights(hub_id) if one.gone_at is None}

    def sights(self, hub_id: int) -> list[Sight]:
        """Return every page the hub ever showed, with its first position."""
        return self._asked_all(_SIGHT, _SIGHTS, hub=hub_id)

    def shown_by(self, hub_id: int) -> set[str]:
        """Return the canonical keys of the pages the hub showed at its last visit."""
        return {key for (key,) in self._asked(_SHOWN_BY, hub=hub_id)}

    def hubs(self, site_id: int | None = None) -> list[HubRow]:
        """Return hubs, of one site or all, most new pages first."""
        if site_id is not None:
            return self._asked_all(_HUB, _HUBS_OF_SITE, site=site_id)
        return self._all(_HUB, _hubs().order_by(*_PRODUCTIVE_FIRST))

    def candidates(self, site_id: int) -> dict[int, SeenLink]:
        """Return the addresses that look like lists and were never read, by page id.

        Without those that are announced once they are read.
        """
        return {page: SeenLink(*link) for page, *link in self._asked(_CANDIDATES, site=site_id)}

    def hub(self, page_id: int) -> HubRow | None:
        """Return one hub."""
        return self._asked_one(_HUB, _ONE_HUB, page=page_id)

    def visited_hub(self, page_id: int, digest: str | None) -> VisitedHub | None:
        """Return what bears on a visit of a hub; *digest*: the MD5 of the body that it brought."""
        for row in self._asked(_VISITED_HUB, page=page_id, digest=digest):
            *both, of_event, has_versions, has_twin = row
            hub, page = both[: len(_HUB.columns)], both[len(_HUB.columns) :]
            others = map(bool, (of_event, has_versions, has_twin))
            return VisitedHub(_HUB(hub), _PAGE(page), *others)
        return None

    def page(self, page_id: int) -> VerificationRow | None:
        """Return one page."""
        return self._asked_one(_PAGE, _ONE_PAGE, page=page_id)

    def urls(self, page_ids: Iterable[int]) -> list[str]:
        """Return the URLs of pages."""
        wanted = list(dict.fromkeys(page_ids))
        return [url for (url,) in self._asked(_URLS, pages=wanted)] if wanted else []

    def host(self, name: str) -> HostRow | None:
        """Return a host's politeness state; None = never fetched from."""
        return self._asked_one(_HOST, _ONE_HOST, name=name)

"""Facts about a whole site for decisions and training: URLs, lists, links shown."""

from collections.abc import Sequence
from typing import Any

from peewee import JOIN, Case, fn

from store.database.repository import Repository
from store.database.statements import Prepared, any_of
from store.database.texts import storable
from store.enums import (
    ChangeKind,
    HubKind,
    HubRole,
    HubStatus,
    LabelOrigin,
    PageLabel,
    PageState,
)
from store.models import Backfill, BackfillPage, Change, Hub, Label, Page, Sighting
from store.rules import Rule
from store.values import ArticleCandidate, HubNews, MonitoredArticle

_GONE_AFTER = 3
# Fetch statuses.
_ENDED = ("gone", "no_list")
_LISTED = (PageState.KNOWN, PageState.PENDING, PageState.MISSING, PageState.GONE)
_ADDED = Change.kind == ChangeKind.ADDED
_IS_ARTICLE = Hub.role == HubRole.ARTICLE


def refused() -> Any:  # noqa: ANN401 - a peewee expression
    """Return the condition that a user labelled a page an article."""
    said = (Label.origin == LabelOrigin.USER) & (Label.label == PageLabel.ARTICLE)
    return fn.EXISTS(
        Label.select(Label.canonical_key).where((Label.canonical_key == Page.canonical_key) & said)
    )


def _gained(site: Any, since: Any) -> Any:  # noqa: ANN401 - likewise
    last = (
        BackfillPage.select(BackfillPage.page, Backfill.found_at)
        .join(Backfill, on=Backfill.id == BackfillPage.event)
        .where((Backfill.site == site) & (Backfill.found_at >= since))
        .order_by(BackfillPage.id.desc())
        .limit(200)
        .alias("last")
    )
    return _shown(last, last.c.found_at)


def _announced(site: Any) -> Any:  # noqa: ANN401 - likewise
    last = (
        Change.select(Change.page, Change.at)
        .where((Change.site == site) & _ADDED)
        .order_by(Change.id.desc())
        .limit(200)
        .alias("last")
    )
    return _shown(last, last.c.at)


def _shown(last: Any, at: Any) -> Any:  # noqa: ANN401 - likewise
    columns = (Sighting.hub, Sighting.page, Sighting.first_seen_at, at)
    return Sighting.select(*columns).join(last, on=last.c.page_id == Sighting.page)


def _in_folder(page: Any, prefix: str) -> Any:  # noqa: ANN401 - likewise
    return page.canonical_key.startswith(prefix) | (page.canonical_key == prefix.rstrip("/"))


_GAINED = Prepared(_gained)
_ANNOUNCED = Prepared(_announced)
_HUB_URLS = Prepared(
    lambda site: (
        Page.select(Page.url)
        .join(Hub, on=Hub.page == Page.id)
        .where((Hub.site_id == site) & (Hub.kind == HubKind.HTML))
        .where((Hub.state != HubStatus.DROPPED) & (Hub.role != HubRole.ARTICLE))
    )
)


_MISSING_PAGES = Prepared(
    lambda site: Page.select(fn.COUNT(Page.id)).where(
        (Page.site == site) & (Page.state == PageState.MISSING)
    )
)
# What a page led to before it was read as a monitored article is no reason to make it a hub: on a recorded
# site two articles became one before their first reading, were found to be none, and began again, every day.
_PRODUCTIVE = Change.select(fn.COUNT(Change.at.distinct())).where(
    (Change.hub_id == Hub.page) & (Change.at > Hub.baseline_at) & _ADDED
)
_MONITORED = Prepared(
    lambda site: Hub.select(
        Hub.page,
        fn.COALESCE(Hub.visited_at - Hub.baseline_at, 0.0),
        _PRODUCTIVE,
        *(Hub.score, Hub.state, Hub.failures, Hub.last_status),
    ).where((Hub.site_id == site) & _IS_ARTICLE)
)
# Rules of pages that never existed when requested.
_NEVER_THERE = (Rule.NOT_THERE, Rule.NOT_THERE_YET)
_SHOWN_BY_SEED = Prepared(
    lambda site: (
        Page.select(Page.canonical_key)
        .join(Sighting, on=Sighting.page == Page.id)
        .join(Hub, on=Hub.page == Sighting.hub)
        .where((Hub.site_id == site) & Hub.role.in_((HubRole.SEED, HubRole.HOME)))
        .where(Sighting.gone_at.is_null())
    )
)
_ANCHORS = Prepared(
    lambda site, anchors: Page.select(Page.anchor, Page.id).where(
        (Page.site == site) & any_of(Page.anchor, anchors)
    )
)


class SiteQueries(Repository):
    """Queries of one site's pages and hubs."""

    def hubs_with_body(self, site_id: int, digest: str) -> list[str]:
        """Return the URLs of the site's hubs whose last body had this MD5."""
        query = Page.select(Page.url).join(Hub, on=Hub.page == Page.id)
        return self._column(query.where((Hub.site_id == site_id) & (Hub.body_md5 == digest)))

    def articles_shown(self, site_id: int, gone_since: float | None) -> list[tuple[int, int]]:
        """Return (hub, page) for every article that a hub shows now, or showed until *gone_since*."""
        since = float("inf") if gone_since is None else gone_since
        as_hub = Hub.alias()
        query = (
            Sighting.select(Sighting.hub, Sighting.page)
            .join(Hub, on=Hub.page == Sighting.hub)
            .join(as_hub, JOIN.LEFT_OUTER, on=as_hub.page == Sighting.page)
            .where(Hub.site_id == site_id)
            .where(Sighting.gone_at.is_null() | (Sighting.gone_at >= since))
            .where(as_hub.page.is_null() | (as_hub.role == HubRole.ARTICLE))
        )
        return self._rows(query)

    def gained_shown(self, site_id: int, since: float) -> list[tuple[int, int, float, float]]:
        """Return (hub, page, seen, announced) for the last older pages that lists gained since *since*."""
        return self._asked(_GAINED, site=site_id, since=since)

    def announced_shown(self, site_id: int) -> list[tuple[int, int, float, float]]:
        """Return (hub, page, seen, announced) for the site's latest announced pages, on every hub."""
        return self._asked(_ANNOUNCED, site=site_id)

    def announced_since(self, site_id: int, since: float) -> int:
        """Count the pages of a site announced since *since* (unix seconds)."""
        announced = (Change.site == site_id) & (Change.at >= since) & _ADDED
        return int(self._scalar(Change.select(fn.COUNT(Change.id)).where(announced)))

    def other_hubs(self, site_id: int) -> int:
        """Count a site's feeds and sitemaps, dead ones included."""
        others = (Hub.site_id == site_id) & (Hub.kind != HubKind.HTML)
        return int(self._scalar(Hub.select(fn.COUNT(Hub.page)).where(others)))

    def article_candidates(self, site_id: int, *, before: float) -> list[ArticleCandidate]:
        """Return articles that hubs have shown since *before* or earlier and still show, most shown first.

        Excludes pages announced since then, gone, or labelled an article by a user.
        """
        # A page that a user labelled as an article never becomes a hub.
        itself = Hub.alias()
        seed, feed, article = (
            fn.MAX(Case(None, ((shower, 1),), 0))
            for shower in (Hub.role == HubRole.SEED, Hub.kind == HubKind.FEED, _IS_ARTICLE)
        )
        shown = fn.COUNT(Sighting.hub)
        query = (
            Sighting.select(Sighting.page, Page.url, shown, seed, feed, article)
            .join(Hub, on=Hub.page == Sighting.hub)
            .join(Page, on=Page.id == Sighting.page)
            .join(itself, JOIN.LEFT_OUTER, on=itself.page == Sighting.page)
            .where(
                (Hub.site_id == site_id)
                & Sighting.gone_at.is_null()
                & (Sighting.first_seen_at <= before)
                & (Page.state == PageState.KNOWN)
                & (itself.page.is_null() | (itself.role == HubRole.ARTICLE))
                & (Page.announced_at.is_null() | (Page.announced_at <= before))
                & ~refused()
            )
            .group_by(Sighting.page, Page.url)
            .order_by(seed.desc(), shown.desc(), Sighting.page)
            .limit(200)
        )
        return [
            ArticleCandidate(page, url, hubs, bool(seed), bool(feed), bool(article))
            for page, url, hubs, seed, feed, article in self._rows(query)
        ]

    def monitored_articles(self, site_id: int) -> list[MonitoredArticle]:
        """Return a site's monitored articles and the yield of monitoring them."""
        return [
            MonitoredArticle(
                page_id=page,
                watched_seconds=watched,
                productive_visits=productive,
                chosen=score > 0,
                gone=state == HubStatus.DROPPED or (failures >= _GONE_AFTER and status in _ENDED),
            )
            for page, watched, productive, score, state, failures, status in self._asked(
                _MONITORED, site=site_id
            )
        ]

    def article_gained_at(self, site_id: int, since: float) -> float:
        """Return the time a monitored article last led to a new page; 0 = not since *since*."""
        query = Change.select(fn.MAX(Change.at)).join(Hub, on=Hub.page == Change.hub_id)
        gained = (Change.site == site_id) & (Change.at >= since) & _ADDED & _IS_ARTICLE
        return float(self._scalar(query.where(gained)) or 0.0)

    def missing_pages(self, site_id: int) -> int:
        """Count a site's missing pages that are scheduled for a retry."""
        return int(self._asked(_MISSING_PAGES, site=site_id)[0][0])

    def known_below(self, site_id: int, prefix: str, *, before: float) -> bool:
        """Return whether a folder, given as a canonical key with its slash, existed before *before*.

        Its own page counts, and so do pages that an older hub showed on its first visit.
        """
        # A recorded site's menu, and an article that was read after two weeks, named lists whose 780 pages
        # were mistaken for new sections.
        shown = Page.alias("shown")
        late = (shown.first_seen_at == Hub.baseline_at) & (Page.first_seen_at < before)
        older = (
            shown.select(shown.id)
            .join(Hub, on=Hub.page == shown.first_hub_id)
            .join(Page, on=Page.id == Hub.page)
            .where((shown.site == site_id) & _in_folder(shown, prefix) & late)
        )
        known = (Page.site == site_id) & _in_folder(Page, prefix) & (Page.first_seen_at < before)
        return any(
            bool(self._rows(query.limit(1))) for query in (Page.select(Page.id).where(known), older)
        )

    def known_urls(self, site_id: int) -> list[tuple[str, str, float | None]]:
        """Return (URL, anchor, publication date) of a site's pages, longest known first."""
        query = Page.select(Page.url, Page.anchor, Page.published_at).where(Page.site == site_id)
        return self._rows(query.order_by(Page.id).limit(5_000))

    def asked_for(self, site_id: int) -> list[tuple[str, bool]]:
        """Return (URL, ever was there) of pages asked for because of a link to them, latest first."""
        query = (
            Page.select(Page.url, fn.COALESCE(Page.rule, "").not_in(_NEVER_THERE))
            .where((Page.site == site_id) & Page.verified_at.is_null(is_null=False))
            .order_by(Page.verified_at.desc(), Page.id.desc())
            .limit(2_000)
        )
        return [(url, bool(there)) for url, there in self._rows(query)]

    def judged_urls(self, site_id: int) -> list[tuple[str, bool]]:
        """Return (URL, is a hub) of pages judged by their first fetch, latest first."""
        is_hub = Hub.page.is_null(is_null=False)
        read_list = Hub.role.in_((HubRole.LIST, HubRole.USER)) & Hub.baseline_at.is_null(
            is_null=False
        )
        read_article = Page.verified_at.is_null(is_null=False) & Hub.page.is_null()
        query = (
            Page.select(Page.url, is_hub)
            .join(Hub, JOIN.LEFT_OUTER, on=Hub.page == Page.id)
            .where((Page.site == site_id) & (read_article | read_list))
            .order_by(Page.id.desc())
            .limit(2_000)
        )
        return [(url, bool(found)) for url, found in self._rows(query)]

    def shown_by_seed(self, site_id: int) -> set[str]:
        """Return canonical keys of pages that the site's seeds and home showed at their last visits."""
        return {key for (key,) in self._asked(_SHOWN_BY_SEED, site=site_id)}

    def hub_urls(self, site_id: int) -> list[str]:
        """Return the URLs of a site's live HTML hubs."""
        return [url for (url,) in self._asked(_HUB_URLS, site=site_id)]

    def known_anchors(self, site_id: int, anchors: Sequence[str]) -> dict[str, int]:
        """Return page ids by anchor text."""
        stored = {anchor: storable(anchor) for anchor in anchors}
        if not stored:
            return {}
        wanted = list(dict.fromkeys(stored.values()))
        found = dict(self._asked(_ANCHORS, site=site_id, anchors=wanted))
        return {anchor: found[kept] for anchor, kept in stored.items() if kept in found}

    def pages_below(self, site_id: int, prefix: str) -> list[tuple[int, str, int | None]]:
        """Return id, URL and hub, if it is one, of pages whose canonical key begins with *prefix*."""
        query = (
            Page.select(Page.id, Page.url, Hub.page)
            .join(Hub, JOIN.LEFT_OUTER, on=Hub.page == Page.id)
            .where((Page.site == site_id) & Page.canonical_key.startswith(prefix))
            .where(Page.state != PageState.MOVED)
        )
        return self._rows(query.order_by(Page.id))

    def hub_news(self, site_id: int, *, most_hubs: int | None = None) -> dict[int, HubNews]:
        """Return the links of each hub after its baseline, by page id; no entry = none.

        Pages on more than *most_hubs* hubs do not count: they are part of the site's frame.
        """
        # Sightings of articles unknown at the baseline: an old page that comes and goes in a box of
        # recommendations is not news; one that another hub showed first is.
        as_hub = Hub.alias()
        since = Hub.baseline_at
        query = (
            Sighting.select(
                Sighting.hub,
                fn.COUNT(Sighting.page),
                fn.COUNT(Sighting.first_seen_at.distinct()),
            )
            .join(Hub, on=Hub.page == Sighting.hub)
            .join(Page, on=Page.id == Sighting.page)
            .join(as_hub, JOIN.LEFT_OUTER, on=as_hub.page == Sighting.page)
            .where(
                (Hub.site_id == site_id)
                & (Sighting.first_seen_at > since)
                & (Page.first_seen_at > since)
                & Page.state.in_(_LISTED)
                & as_hub.page.is_null()
            )
            .group_by(Sighting.hub)
        )
        if most_hubs is not None:
            query = query.where(Sighting.page.not_in(_frame(site_id, most_hubs)))
        return {hub: HubNews(links, visits) for hub, links, visits in self._rows(query)}


def _frame(site_id: int, most_hubs: int) -> Any:  # noqa: ANN401 - a peewee query
    shown, shower = Sighting.alias(), Hub.alias()
    return (
        shown.select(shown.page)
        .join(shower, on=shower.page == shown.hub)
        .where(shower.site_id == site_id)
        .group_by(shown.page)
        .having(fn.COUNT(shown.hub) > most_hubs)
    )

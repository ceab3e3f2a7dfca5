"""Choosing a site's monitored articles twice a day; the rule is in :mod:`incremental.decide.articles`."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from incremental.base.texts import hub_why
from incremental.base.times import DAY
from incremental.crawl.sites import SOON_ARTICLE_SECONDS, WatchedSite
from incremental.decide.articles import monitoring_plan
from incremental.schedule.allocation import AFTER_GAIN_SECONDS, article_share
from store import Store
from store.enums import HubKind, HubRole
from store.values import ARTICLE, MonitoredArticle, NewHub

# How long hubs must have shown an article; what leaves a list sooner was news.
SETTLED_SECONDS = 14 * DAY
REFRESH_SECONDS = 0.5 * DAY


class ArticleMonitor:
    """Keeps the monitored articles of each site up to date. Used by the crawler's thread only."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def refresh(self, site: WatchedSite, now: float) -> None:
        """Choose again every half day, after a site's first two weeks."""
        if site.articles_gained_at == -inf:
            since = now - AFTER_GAIN_SECONDS
            site.articles_gained_at = self._store.read.article_gained_at(site.row.id, since)
        settled = now - site.row.added_at >= SETTLED_SECONDS
        if not settled or 0 <= now - site.articles_at < REFRESH_SECONDS:
            return
        site.articles_at = now
        read, write = self._store.read, self._store.write
        monitored = read.monitored_articles(site.row.id)
        candidates = read.article_candidates(site.row.id, before=now - SETTLED_SECONDS)
        plan = monitoring_plan(candidates, monitored, int(site.terms.requests_per_day))
        hub = NewHub(HubKind.HTML, ARTICLE, 0.0, hub_why("may_gain"), now)
        write.make_hubs(site.row.id, plan.begin, hub)
        for page_id in plan.end:
            write.remove_hub(page_id)
        for page_id in plan.promote:
            write.update_hub(page_id, role=HubRole.LIST, why=hub_why("became_hub"))
        site.allocation.articles = _share(site, monitored, len(plan.begin) - len(plan.end))

    def hasten(self, site: WatchedSite, now: float) -> None:
        """Bring a site's articles forward if one of them has just led to a new page."""
        if site.articles_gained_at == now:
            latest = now + SOON_ARTICLE_SECONDS
            self._store.write.hasten_hubs(site.row.id, ARTICLE, latest=latest)


def _share(site: WatchedSite, monitored: Sequence[MonitoredArticle], more: int) -> float:
    return article_share(
        len(monitored) + more,
        sum(one.productive_visits for one in monitored),
        sum(one.watched_seconds for one in monitored) / DAY,
        site.state.weight_total,
    )

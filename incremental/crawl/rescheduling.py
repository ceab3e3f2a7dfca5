"""After a visit: let the policy learn from it, and set the next one.

Between visits, change hints (a newer lastmod in a sitemap) bring a hub's due time forward, by as much
as such hints have been confirmed so far.
"""

from dataclasses import replace

from incremental.base.times import NEVER
from incremental.crawl.sites import WatchedSite, article_due_at
from incremental.decide.decision import Decision
from incremental.parse import Page
from incremental.schedule.price import hinted
from incremental.schedule.rates import seen_unmodified
from incremental.schedule.state import Visit
from store import Store
from store.enums import HubKind, HubRole, HubStatus
from store.values import ARTICLE, HubRow, HubUpdate

# One sitemap hints at no more hubs at a time; more changed with a deployment.
MAX_HINTED_HUBS = 20
# Monitored articles that one sitemap may bring forward, the latest changes first.
MAX_ARTICLE_HINTS = 20


def reschedule(decision: Decision, site: WatchedSite, now: float) -> HubUpdate:
    """Let the policy learn from the visit of a hub; return when the next one is due."""
    hub, visit = decision.hub, decision.visit
    if hub is None or visit is None:
        return HubUpdate()
    if hub.role == ARTICLE:
        if visit.novel:
            site.articles_gained_at = now
        return _article_again(hub, site, now, visit)
    kind: str = decision.record.hub_fields.get("kind", hub.kind)
    kind = (
        kind
        if kind != HubKind.HTML
        else "home"
        if hub.role in (HubRole.SEED, HubRole.HOME)
        else "page"
    )
    state, key = site.hub_state(hub), str(hub.page_id)
    if (state.key, state.kind) != (key, kind):
        state = replace(state, key=key, kind=kind)
    if decision.gone:
        site.hub_states.pop(hub.page_id, None)
        site.state = site.policy.retire(state, site.state)
        return HubUpdate()
    state, site.state = site.policy.observe(state, site.state, visit)
    site.hub_states[hub.page_id] = state
    site.baselines += visit.baseline
    due_at = min(site.due_at(hub.page_id, hub.role, state, now), NEVER)
    return HubUpdate(due_at=due_at, interval_seconds=due_at - now, revisit=state.to_text())


def _article_again(hub: HubRow, site: WatchedSite, now: float, visit: Visit) -> HubUpdate:
    """Set the next visit of a monitored article; of how often it changes all is learned but its hours."""
    before = site.hub_state(hub)
    state = replace(before, tried_at=now, hinted_at=0.0)
    if visit.failed:
        state = replace(state, failures=before.failures + 1)
    else:
        unmodified = seen_unmodified(before.unmodified, hub.visits, visit)
        novel_at = now if visit.novel else before.last_novel_at
        state = replace(state, failures=0, unmodified=unmodified, last_novel_at=novel_at)
    site.hub_states[hub.page_id] = state
    return HubUpdate(
        due_at=article_due_at(state, site.articles_gained_at, now),
        revisit=state.to_text(),
    )


def take_hints(store: Store, sitemap: Page, site: WatchedSite, now: float) -> None:
    """Take a hub's lastmod in a sitemap, newer than our last visit, as a change hint.

    A date without a time is the start of that day.
    """
    hubs = {hub.url: hub for hub in store.read.hubs(site.row.id) if hub.kind == HubKind.HTML}
    moved: list[HubRow] = []
    edited: list[tuple[float, HubRow]] = []
    for link in sitemap.links:
        hub = hubs.get(link.url)
        if hub is None or hub.visited_at is None or link.published_at is None:
            continue
        if not hub.visited_at < link.published_at <= now:
            continue
        if hub.role == ARTICLE:
            # Edited one by one, so they do not count towards a deployment: with them no hub had its hint.
            edited.append((link.published_at, hub))
        else:
            moved.append(hub)
    edited.sort(key=lambda one: one[0], reverse=True)
    hinting = moved if len(moved) <= MAX_HINTED_HUBS else []
    for hub in (*hinting, *(hub for _, hub in edited[:MAX_ARTICLE_HINTS])):
        state = hinted(site.hub_state(hub), now)
        if state == site.hub_state(hub):
            continue
        site.hub_states[hub.page_id] = state
        fields = HubUpdate(revisit=state.to_text())
        if hub.state != HubStatus.DROPPED:
            fields["due_at"] = min(site.due_at(hub.page_id, hub.role, state, now), NEVER)
        store.write.update_hub(hub.page_id, **fields)

"""Labels from behaviour: new links on several visits make a hub, long silence does not."""

from __future__ import annotations

from classifier.hub.labels import ARTICLE, HUB, Behaviour, label_of
from store import Store
from store.enums import HubKind, HubRole, LabelOrigin, PageLabel
from store.values import HubNews, HubRow, LabelEntry

# Pages on more hubs than this, and on more than half of their site's, are part of its frame and say
# nothing about any hub.
FRAME_HUBS = 8
# Probability of being a hub below which a silent page is labelled an article.
SILENT_PROBABILITY = 1 / 3
# Feeds and sitemaps are not found by their URLs, and later pages of a list are fetched once.
_OBSERVED_ROLES = (HubRole.SEED, HubRole.HOME, HubRole.LIST, HubRole.USER)


def observe(store: Store, now: float) -> int:
    """Write labels from behaviour; return how many are new or changed."""
    return sum(observe_site(store, row.id, now) for row in store.read.sites())


def observe_site(store: Store, site_id: int, now: float) -> int:
    """Write the labels of one site; return how many are new or changed."""
    labels = _judge(_behaviours(store, site_id, store.read.hubs(site_id)))
    if not labels:
        return 0
    said = {
        one.canonical_key: one for one in store.read.site_labels(site_id, LabelOrigin.BEHAVIOUR)
    }
    entries = [_entry(store, hub, label, now) for hub, label in labels if label is not None]
    silent = [
        hub.canonical_key for hub, label in labels if label is None and hub.canonical_key in said
    ]
    taken_back = [one for one in silent if said[one].label == ARTICLE]
    # Most sites say nothing new; a transaction costs something even when it is empty.
    changed = store.write.put_labels(entries) if entries else 0
    if taken_back:
        store.write.forget_labels(taken_back, LabelOrigin.BEHAVIOUR)
    return changed


def _behaviours(
    store: Store, site_id: int, hubs: list[HubRow]
) -> list[tuple[HubRow, Behaviour, Behaviour]]:
    """Return the hubs that can be judged, with their behaviour in all and without the site's frame."""
    judged = [
        hub
        for hub in hubs
        if hub.kind == HubKind.HTML and hub.role in _OBSERVED_ROLES and not hub.failures
        if hub.baseline_at is not None and hub.visited_at is not None
    ]
    if not judged:
        return []
    all_news = store.read.hub_news(site_id)
    own_news = store.read.hub_news(site_id, most_hubs=max(FRAME_HUBS, len(judged) // 2))
    return [
        (
            hub,
            _behaviour(hub, all_news.get(hub.page_id)),
            _behaviour(hub, own_news.get(hub.page_id)),
        )
        for hub in judged
    ]


def _behaviour(hub: HubRow, news: HubNews | None) -> Behaviour:
    brought = news or HubNews()
    return Behaviour(
        visits=hub.visits - 1,
        visits_with_news=brought.visits,
        new_links=brought.new_links,
        watched_seconds=(hub.visited_at or 0.0) - (hub.baseline_at or 0.0),
    )


def _judge(
    behaviours: list[tuple[HubRow, Behaviour, Behaviour]],
) -> list[tuple[HubRow, str | None]]:
    """Return the label that each hub's visits suggest; None = open."""
    # The rarer silence is on a site, the more it counts: on a blog that posts monthly, most tags are silent
    # for a year, yet are lists. Without this 59 quiet tag pages of one recorded blog, and 4 of another,
    # became articles; with it none. Silent seeds and users' hubs get no label: somebody wants them watched.
    lists = [label_of(own) for hub, _, own in behaviours if hub.role == HubRole.LIST]
    silent, brought = lists.count(ARTICLE), lists.count(HUB)
    odds = (silent + 1) / (silent + brought + 2)
    labels: list[tuple[HubRow, str | None]] = []
    for hub, behaviour, own in behaviours:
        label = HUB if label_of(own) == HUB else None
        if hub.role == HubRole.LIST and label_of(behaviour) == ARTICLE:
            prior = min(max(hub.score, 0.01), 0.99)
            hub_like = prior * odds
            label = ARTICLE if hub_like / (hub_like + 1 - prior) < SILENT_PROBABILITY else None
        labels.append((hub, label))
    return labels


def _entry(store: Store, hub: HubRow, label: str, now: float) -> LabelEntry:
    page = store.read.page(hub.page_id)
    return LabelEntry(
        url=hub.url,
        canonical_key=hub.canonical_key,
        label=PageLabel(label),
        origin=LabelOrigin.BEHAVIOUR,
        at=now,
        anchor=page.anchor if page else "",
        site_id=hub.site_id,
    )

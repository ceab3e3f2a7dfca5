"""Which articles are monitored for links to pages that no list shows, and which is read next. Pure.

On hand-made sites and in documentation a new page is often linked only from the text of an older
article. Any article might gain such a link, but only those that people maintain do. They differ from
articles that are published and left alone in two ways: the site's pages have linked to them for weeks
(mostly from a menu, or from the text of another such article), and nothing about them is dated.
"""

import math
from collections.abc import Callable, Sequence

from incremental.base.scope import page_number
from incremental.base.texts import hub_why
from incremental.decide.url_dates import date_in_url
from incremental.schedule.state import HubState
from store.enums import HubKind, HubRole
from store.values import (
    ARTICLE,
    ArticleCandidate,
    HubRow,
    HubUpdate,
    MonitoredArticle,
    NewHub,
    SiteChanges,
)

MAX_MONITORED = 48
# An article that only one list has shown for weeks is mostly an old post on a slow list.
MIN_HUBS = 2
# Visits with new pages after which a monitored article becomes a regular hub.
HUB_AFTER = 4
# Share of visits that find an article changed, at least: any may be edited one day.
_LEAST_CHANGED = 0.02
# Times as often an article is read that has just gained a link, or is new: its section is being written.
_LATELY = 4.0


def chosen_articles(
    candidates: Sequence[ArticleCandidate],
    monitored: Sequence[MonitoredArticle],
    room: int,
    now: float,
) -> SiteChanges:
    """Choose at most *room* of *candidates* (articles that hubs have shown for weeks) to monitor."""
    promote = tuple(one.page_id for one in monitored if one.productive_visits >= HUB_AFTER)
    shown = {one.page_id for one in candidates}
    # An article that gained a link stays; one that did not makes room when its site no longer shows it.
    end = tuple(
        one.page_id
        for one in monitored
        if one.gone or not (one.productive_visits or one.chosen or one.page_id in shown)
    )
    kept = len(monitored) - len(promote) - len(end)
    known = {one.page_id for one in monitored}
    likely = [one for one in candidates if one.page_id not in known and _is_kept_up(one)]
    # Articles that people maintain are linked mostly from a menu, so those on the seed come first.
    likely.sort(key=lambda one: (not one.on_seed, -one.hubs, one.page_id))
    begin = tuple(one.page_id for one in likely[: max(min(room, MAX_MONITORED) - kept, 0)])
    is_hub = HubUpdate(role=HubRole.LIST, why=hub_why("became_hub"))
    article = NewHub(HubKind.HTML, ARTICLE, 0.0, hub_why("may_gain"), now)
    return SiteChanges(
        dict.fromkeys(promote, is_hub), begun=dict.fromkeys(begin, article), ended=end
    )


def _is_kept_up(one: ArticleCandidate) -> bool:
    """Whether an article may still be edited: posts and notices are not."""
    # What is dated was published and left alone.
    if one.in_feed or date_in_url(one.url) is not None or page_number(one.url) is not None:
        return False
    # Articles of the menu and those in their text: on the recording of flink four such pages were missed
    # and four found after fifteen days before they were monitored.
    return one.on_seed or one.on_article or one.hubs >= MIN_HUBS


def reading_weight(state: HubState, *, lately: bool) -> float:
    """Return how often an article is read compared with others: by the square root of how often it changes.

    Links are gained by edits. *lately*: it gained one, or was read for the first time.
    """
    return math.sqrt(max(1.0 - state.unmodified, _LEAST_CHANGED)) * (_LATELY if lately else 1.0)


def next_to_read(
    articles: Sequence[HubRow],
    due: Sequence[HubRow],
    weight: Callable[[HubRow], float],
    now: float,
) -> HubRow:
    """Return which of *due* is read next; *articles* are all that the site monitors.

    The choice descends from folder to folder, into the one that has waited longest for the *weight* of its
    articles (:func:`reading_weight`).
    """
    # Pages of one folder share a menu. Read one after the other, and then none of them for days, the twelve
    # of a recorded site showed a new section two days late.
    near, depth = articles, 0
    while len(due) > 1:
        folders: dict[str, list[HubRow]] = {}
        for one in near:
            folders.setdefault(_part(one, depth), []).append(one)

        def waited(name: str, folders: dict[str, list[HubRow]] = folders) -> float:
            since = max(one.visited_at or 0.0 for one in folders[name])
            return sum(weight(one) for one in folders[name]) * (now - since)

        chosen = max({_part(one, depth) for one in due}, key=lambda name: (waited(name), name))
        near, due = folders[chosen], [one for one in due if _part(one, depth) == chosen]
        depth += 1
    return due[0]


def _part(article: HubRow, depth: int) -> str:
    return "/".join(article.canonical_key.split("/", depth + 1)[depth : depth + 1])

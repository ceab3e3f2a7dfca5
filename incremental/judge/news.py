"""Which links on a revisited hub are new pages. Pure decisions on values.

The unit of news is the new page, never the difference between two texts (design, decision 1)::

    first visit of a hub          baseline: its links are known, none is new
    unknown link, likely a hub    recorded as a hub, gets a baseline of its own
    unknown link, dated long ago  part of one backfill event if its list gained it (see judge.arrivals),
                                  else recorded, not announced ("backdated")
    unknown link                  told as new
    unknown link on a new hub     told as new, if they are few: a section and its pages came together
    known link, never told, which appeared here and first became known elsewhere
    only after this hub's last visit (on the baseline of a hub found meanwhile)
                                  told as new: two hubs may find one page in either order
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from incremental.judge.links import Target
from incremental.scope import page_number, template
from incremental.times import DAY
from store.values import HubRow, KnownPage

RELAUNCH_MIN_LINKS = 8
RELAUNCH_LOST_SHARE = 0.8
RELAUNCH_FORM_SHARE = 0.8
RELAUNCH_ANCHOR_SHARE = 0.5
MIN_TELLING_ANCHOR = 8
"""Characters from which an anchor is likely one page's headline and not "more"."""

_URL_DATE = re.compile(
    r"(?<!\d)((?:19|20)\d{2})[/_-]?(0[1-9]|1[0-2])(?:[/_-]?(0[1-9]|[12]\d|3[01]))?(?!\d)"
)


class Standing(StrEnum):
    """What a link on a hub is to the reader of news."""

    KNOWN = "known"
    NEW = "new"
    BACKDATED = "backdated"
    """Dated long ago: whether it arrived is asked of all links of the hub together."""
    BACKFILL = "backfill"
    """Dated long ago, and the hub gained it."""
    HUB = "hub"


@dataclass(frozen=True, slots=True)
class Since:
    """The times that decide whether a link is new; unix seconds, UTC."""

    now: float
    site_added_at: float
    backdated_days: float
    relaunched_at: float | None = None
    """When the site's addresses last changed their form."""

    @property
    def oldest_news(self) -> float:
        """A page dated before this is no news, whenever it turns up."""
        return self.site_added_at - self.backdated_days * DAY


def standing(  # noqa: PLR0913 - each bears on it
    target: Target,
    known: KnownPage | None,
    hub: HubRow,
    since: Since,
    *,
    hub_like: bool,
    new_hub: bool = False,
) -> Standing:
    """Judge one link of *hub* by what was known before this visit.

    *new_hub*: the hub itself came up after its site's baseline and is read for the first time; a new
    section's pages are new with it.
    """
    date = (target.published_at if hub.kind == "feed" else None) or date_in_url(target.url)
    old = date is not None and date < since.oldest_news and not new_hub
    if known is not None:
        if not _overlooked(known, hub, since, old=old):
            return Standing.KNOWN
        return Standing.BACKDATED if old else Standing.NEW
    # What stands in a feed is a page: ``/?p=3`` is an article of a blog there.
    if hub_like or (hub.kind != "feed" and page_number(target.url) is not None):
        return Standing.HUB
    if _is_baseline(hub) and not new_hub:
        return Standing.NEW if _dated_since(target, hub, since) else Standing.KNOWN
    return Standing.BACKDATED if old else Standing.NEW


def _is_baseline(hub: HubRow) -> bool:
    """Tell whether this is the first time that the hub shows anything of ours.

    A feed that named a wrong host for weeks begins anew on the day when that is mended.
    """
    return hub.baseline_at is None or (hub.kind == "feed" and not hub.shown_links)


def _dated_since(target: Target, hub: HubRow, since: Since) -> bool:
    """Tell whether a feed dates a page of its baseline after we began to watch.

    Only a feed prints when a page was published; a sitemap's lastmod moves with every deployment.
    """
    if hub.kind != "feed" or target.published_at is None:
        return False
    begun = since.site_added_at if hub.baseline_at is None else (hub.visited_at or 0.0) - DAY
    return begun < target.published_at <= since.now


def _overlooked(known: KnownPage, hub: HubRow, since: Since, *, old: bool) -> bool:
    """Tell whether a known page became known only after this hub, which now shows it, was last read."""
    if known.announced_at is not None or hub.baseline_at is None or hub.visited_at is None:
        return False
    if known.kept_back:
        return False  # it was read, and is none to announce
    if since.relaunched_at is not None and hub.visited_at < since.relaunched_at:
        return False  # what it shows under new addresses is part of that event
    # What stands in a feed is no hub, whatever its address looks like.
    eligible = (
        known.state in ("known", "pending")
        if hub.kind == "feed"
        else (known.state == "known" and not known.is_hub)
    )
    # A widget may have been the first to show what a list now gained.
    eligible = eligible or (old and known.state == "backdated" and not known.is_hub)
    return eligible and known.first_seen_at > hub.visited_at


def date_in_url(url: str) -> float | None:
    """Return the last moment of the day (or month) that a URL names, or None; of several the latest.

    ``/2024/05/17/``, ``2024-05-17``, ``20240517``, ``202405/``; UTC. In January people still write last
    year: ``/2018/01/05/2017-01-05-x/`` is of 2018.
    """
    named = (
        _end_of(int(year), int(month), int(day) if day else None)
        for year, month, day in _URL_DATE.findall(url.split("://", 1)[-1])
    )
    return max((date for date in named if date is not None), default=None)


def _end_of(year: int, month: int, day: int | None) -> float | None:
    """Return the end of a day, or of a month, unix seconds; None for the 31st of February."""
    try:
        if day is not None:
            last = date(year, month, day)
        else:
            last = date(year, month, calendar.monthrange(year, month)[1])
    except ValueError:
        return None
    return (last - date(1970, 1, 1)).days * DAY + DAY


@dataclass(frozen=True, slots=True)
class Relaunch:
    """A site changed the form of its links: one event, not thousands of new pages."""

    reason: str
    moved: Mapping[str, int]
    """Identities of the new addresses with the ids of the pages that they were, by headline."""
    kind: str = "relaunch"
    """``relaunch``, or ``flood``: something makes addresses without end."""


def relaunch(
    news: Sequence[Target],
    lost_urls: Sequence[str],
    kept: int,
    anchors: Mapping[str, int],
) -> Relaunch | None:
    """Tell a relaunch from a busy day.

    *news* are the unknown links, *lost_urls* what the hub showed and no longer shows, *kept* how many
    stayed, *anchors* page ids by headline of pages known before. Almost everything went, and what came
    has another form, or the old headlines under new addresses.
    """
    if len(news) < RELAUNCH_MIN_LINKS or len(lost_urls) < RELAUNCH_MIN_LINKS:
        return None
    if len(lost_urls) < RELAUNCH_LOST_SHARE * (len(lost_urls) + kept):
        return None
    moved = {
        t.identity: anchors[t.anchor]
        for t in news
        if len(t.anchor) >= MIN_TELLING_ANCHOR and t.anchor in anchors
    }
    if len(moved) >= RELAUNCH_ANCHOR_SHARE * len(news):
        return Relaunch(f"{len(moved)} known headlines under new addresses", moved)
    forms = {template(url) for url in lost_urls}
    other_form = sum(template(t.url) not in forms for t in news)
    if other_form >= RELAUNCH_FORM_SHARE * len(news):
        return Relaunch(f"{other_form} of {len(news)} links have a form never seen here", moved)
    return None


# "404" and "not found" count where a title begins or ends with them, or beside a word for errors: a
# flight 404, a ship not found, are news.
_ERROR_TITLE = re.compile(
    r"""^\W*404(?!\d)(?=\W*$|\s*[-\u2013\u2014|:,.!·_]|\s*(?:error|not\ found|page))
    |^\W*404\s*(?:页|頁|错误|錯誤|找不到|未找到)
    |[-\u2013\u2014|:·_]\s*(?:404|not\ found)\W*$|^\W*not\ found(?:\W*$|\s*[-\u2013\u2014|:·_])
    |(?:error|fehler|erreur|错误|錯誤|http)\s*404(?!\d)
    |\b(?:page\ not\ found|seite\ nicht\ gefunden|page\ introuvable|page\ non\ trouvée)\b
    |(?:页面|頁面|网页|網頁)(?:不存在|未找到|找不到|已删除|已刪除)|(?:找不到|未找到|無法找到|无法找到)(?:该|該|此)?(?:页|頁|网页|網頁)
    |您(?:所)?(?:访问|訪問|要找|查找)的(?:页面|頁面|网页|網頁)""",
    re.IGNORECASE | re.VERBOSE,
)
_SHORT_TEXT = 600


def is_soft_404(title: str, text: str) -> bool:
    """Tell whether a page that was answered with 200 says that it is not there.

    The title must say so and the page must be short: an article about error pages has more to say.
    """
    return bool(_ERROR_TITLE.search(title)) and len(text) < _SHORT_TEXT

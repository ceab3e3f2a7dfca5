"""The tables. No model is bound to a database: every query names the one it runs on.

All times are unix seconds, UTC, in double precision. Texts that came from a site are stored as
they came, cut to a bound, without what no database takes (:func:`store.texts.storable`): whoever
shows them escapes them. Ids are never given out twice.

::

    site 1 ─── n page 1 ─── 0..1 hub
                   │  └───── n visit
                   └ n sighting n ┘ (page seen on hub)
    change: what happened to a page (or to a whole site), in the order it was recorded
    label: what a URL was said to be; a URL needs no page for it
    news: an announced page, in a narrow row for lists; page_text: what a page says
    backfill 1 ─── n backfill_page: older pages that a list gained, one event
    topic 1 ─── n topic_example · n external_candidate · n page_topic (what it makes of a page)
"""

from __future__ import annotations

from store.models.crawl_tables import Change, Host, Hub, Label, Page, Sighting, Site, Table, Visit
from store.models.reader_tables import (
    AccessToken,
    Backfill,
    BackfillPage,
    Channel,
    News,
    OutboxEntry,
    PageBand,
    PageText,
    Refresh,
    SavedSearch,
)
from store.models.topic_tables import (
    DiscoveryLink,
    DiscoveryPage,
    DiscoveryRound,
    DiscoveryRun,
    ExternalCandidate,
    PageTopic,
    Proposal,
    SearchMeter,
    Topic,
    TopicBackground,
    TopicExample,
)

ALL = tuple(Table.__subclasses__())

__all__ = [
    "ALL",
    "AccessToken",
    "Backfill",
    "BackfillPage",
    "Change",
    "Channel",
    "DiscoveryLink",
    "DiscoveryPage",
    "DiscoveryRound",
    "DiscoveryRun",
    "ExternalCandidate",
    "Host",
    "Hub",
    "Label",
    "News",
    "OutboxEntry",
    "Page",
    "PageBand",
    "PageText",
    "PageTopic",
    "Proposal",
    "Refresh",
    "SavedSearch",
    "SearchMeter",
    "Sighting",
    "Site",
    "Topic",
    "TopicBackground",
    "TopicExample",
    "Visit",
]

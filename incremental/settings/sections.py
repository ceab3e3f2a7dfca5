"""What can be set, section by section, with the defaults. Plain values."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec

from incremental.fetch.options import FetchSettings, SiteAccess
from incremental.fetch.politeness import PolitenessSettings
from incremental.revisit.allocation import FLOOR_SHARE, REFRESH_SHARE, VERIFICATION_SHARE
from incremental.scope import Reach
from incremental.settings.channels import ChannelSettings
from incremental.settings.discovery import DiscoverySettings

# Bounded, because infinity is a float as well, and no plan can be made with it.
_Positive = Annotated[float, msgspec.Meta(gt=0, le=1e9)]
_NotNegative = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
_Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
_Count = Annotated[int, msgspec.Meta(ge=1)]


class StoreSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where things are kept, and for how long."""

    folder: str = "hubwatch-data"
    """Folder of the embedded database and the page cache, relative to the settings file."""
    database: str = ""
    """A ``postgresql://`` URL, or empty for SQLite in the folder."""
    cache_quota_mb: _NotNegative = 2_000
    """Compressed size of the page cache; 0 keeps no bodies."""
    cache_days: _Positive = 365
    visit_log_days: _Positive = 90


class PolicyName(StrEnum):
    """Revisit policies that can be chosen."""

    PRICE = "price"
    FIXED = "fixed"


class RevisitSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How often hubs are visited."""

    policy: PolicyName = PolicyName.PRICE
    requests_per_day: _NotNegative = 48
    """Of each site, of every kind: robots.txt, hubs, verification fetches of new pages."""
    min_interval_minutes: _Positive = 15
    max_interval_hours: _Positive = 24
    hours: tuple[str, ...] = ()
    """Hours of the day (UTC) in which sites may be asked, like ``22:00-06:30``; none = always."""
    total_requests_per_day: _NotNegative = 0
    """Of all sites together; 0 = as many as the sites' budgets add up to."""
    floor_share: _Share = FLOOR_SHARE
    """Part of the whole that is dealt out evenly over the sites; the rest goes where it pays most."""


class HubSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What becomes a hub."""

    threshold: _Share = 0.5
    """Probability from which a link is taken for a hub."""
    max_per_site: _Count = 200
    max_per_template: _Count = 60
    """Hubs whose URLs have one form: a guard against calendars and tag clouds without end."""
    max_next_pages: _Count = 5
    """Pages followed back when everything on a hub was new."""
    retrain_labels: Annotated[int, msgspec.Meta(ge=0)] = 50
    """New labels, of users and of pages' behaviour, after which the classifier learns; 0 = never."""


class NewsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is announced as new."""

    backdated_days: _Positive = 30
    """A page dated more than this before the site was added, or before the latest article of its list,
    is old: part of a backfill when a list gained it, else no news."""
    max_per_day: _Count = 2_000
    """New pages of one site in a day; beyond it something makes addresses, and they are not announced."""
    verify_share: _Share = VERIFICATION_SHARE
    """Share of the site's requests for looking at new pages themselves (title, date, text)."""


class RefreshSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Refreshing pages that were announced, for what changed on them since."""

    share: _Share = REFRESH_SHARE
    """Share of the site's requests for it, behind all that is new; 0 = never look again."""
    first_days: _Positive = 1
    """How long after it was announced, or has changed, a page is refreshed. Later refreshes are further
    apart: each waits half as long as the page has stayed the same."""
    max_days: _Positive = 90
    """A page that stayed the same for so long is not refreshed."""


class LogFormat(StrEnum):
    """Forms of the daemon's log."""

    TEXT = "text"
    JSON = "json"


class DaemonSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the daemon works."""

    workers: Annotated[int, msgspec.Meta(ge=1, le=256)] = 8
    log_level: str = "info"
    log_format: LogFormat = LogFormat.TEXT
    """``json`` = one object a line, for programs that gather logs."""


class WebSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The web page, the API and the feeds."""

    enabled: bool = True
    """Whether ``hubwatch run`` serves them."""
    host: str = "127.0.0.1"
    """The address to listen on. One that others can reach needs a password or a token."""
    port: Annotated[int, msgspec.Meta(ge=0, le=65_535)] = 8787
    """0 = any that is free."""
    password: str = ""
    """What a browser must give; empty = none, which is for this machine alone."""
    allowed_hosts: tuple[str, ...] = ()
    """Names under which browsers know this server, besides *host* and the names of loopback."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses of reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are believed."""
    language: str = ""
    """``en`` or ``zh``; empty = as each browser asks."""


class WebSubSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Being told by feeds' hubs at once, where they offer it (WebSub)."""

    callback_url: str = ""
    """Public address of ``/websub`` on our web server, as hubs on the internet reach it, like
    ``https://watch.example.org/websub``; empty = no hub is asked."""
    lease_days: Annotated[float, msgspec.Meta(ge=1, le=60)] = 10
    """How long a subscription is asked for; it is renewed a day before it ends."""


class LinkOrderName(StrEnum):
    """In which order links to unknown pages are followed for a topic."""

    LEARNED = "learned"
    SEMANTIC = "semantic"
    BAYES = "bayes"
    PAGERANK = "pagerank"


class TopicSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How topics are judged, and how far they may lead."""

    trees: tuple[str, ...] = ()
    """Semantic trees, for the methods ``semantic`` and ``fused``: files or folders (WordNet, Cilin, SKOS,
    a table), relative to the settings file, or ``wn:LEXICON`` of the package wn. None is shipped."""
    link_order: LinkOrderName = LinkOrderName.LEARNED
    """Which links come first: by what came of such links here, by likeness (paper 002), by naive Bayes on
    their context (paper 004), or by the rank of their targets."""
    explore_requests_per_day: _NotNegative = 100
    """Requests for pages out of every watched site, when ``hubwatch run --explore`` follows links."""


class SiteSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one site needs beyond the defaults. *url* is its seed."""

    url: str
    reach: Reach = Reach.HOST
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    requests_per_day: _NotNegative | None = None
    min_interval_minutes: _Positive | None = None
    max_interval_hours: _Positive | None = None
    hours: tuple[str, ...] | None = None
    """As in ``[revisit]``; an empty list = always."""
    cookies: dict[str, str] = {}
    headers: dict[str, str] = {}
    username: str | None = None
    password: str | None = None
    proxy: str | None = None

    def access(self) -> SiteAccess:
        """Return what the egress shows to this site's origin."""
        return SiteAccess(
            cookies=self.cookies,
            headers=self.headers,
            username=self.username,
            password=self.password,
            proxy=self.proxy,
        )


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of it."""

    fetch: FetchSettings = FetchSettings()
    politeness: PolitenessSettings = PolitenessSettings()
    store: StoreSettings = msgspec.field(default_factory=StoreSettings)
    revisit: RevisitSettings = msgspec.field(default_factory=RevisitSettings)
    hubs: HubSettings = msgspec.field(default_factory=HubSettings)
    news: NewsSettings = msgspec.field(default_factory=NewsSettings)
    refresh: RefreshSettings = msgspec.field(default_factory=RefreshSettings)
    daemon: DaemonSettings = msgspec.field(default_factory=DaemonSettings)
    web: WebSettings = msgspec.field(default_factory=WebSettings)
    topics: TopicSettings = msgspec.field(default_factory=TopicSettings)
    websub: WebSubSettings = msgspec.field(default_factory=WebSubSettings)
    discovery: DiscoverySettings = msgspec.field(default_factory=DiscoverySettings)
    site: tuple[SiteSettings, ...] = ()
    notify: tuple[ChannelSettings, ...] = ()


# Sections that are written as a list of tables, with what each entry must have.
LISTS: dict[str, tuple[type, dict[str, str]]] = {
    "site": (SiteSettings, {"url": "the seed of the site"}),
    "notify": (
        ChannelSettings,
        {"name": "what the channel is called", "url": "where its messages go"},
    ),
}

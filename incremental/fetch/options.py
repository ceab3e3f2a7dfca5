"""Fetch limits, and credentials per origin: plain values."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from incremental.base.errors import SettingsError

MEGABYTE = 1024 * 1024

# Bytes of robots.txt read; RFC 9309, section 2.5, requires at least this many.
ROBOTS_MAX_BYTES = 500 * 1024

_DEFAULT_PORTS = {"http": 80, "https": 443}
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FRAMING_HEADERS = frozenset({"host", "content-length", "transfer-encoding", "connection"})


_Seconds = Annotated[float, msgspec.Meta(gt=0, le=1e9)]


class FetchSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits and names for every fetch; seconds and bytes."""

    user_agent: str = "hubwatch/1.0"
    """Product and version; robots.txt is matched against the product token."""
    contact: str = ""
    """Please set it: a URL or an e-mail address where site owners can reach you."""
    connect_timeout_seconds: _Seconds = 10.0
    """For name resolution, and again for each address tried, TLS included."""
    read_timeout_seconds: _Seconds = 20.0
    """Longest silence of a server."""
    total_timeout_seconds: _Seconds = 60.0
    """For a whole fetch with redirects within the host: ends slow drips."""
    max_body_bytes: Annotated[int, msgspec.Meta(ge=1)] = 10 * MEGABYTE
    """Decoded, so that it stops decompression bombs."""
    max_redirects: Annotated[int, msgspec.Meta(ge=0)] = 5
    """Followed in a row."""
    allowed_hosts: frozenset[str] = frozenset()
    """Host names, or ``host:port``, that may resolve to non-public addresses (an intranet, a local proxy)."""
    allowed_networks: tuple[str, ...] = ()
    """Non-public networks that may be fetched from, such as ``127.0.0.0/8``."""
    ca_file: Annotated[str | None, msgspec.Meta(examples=["/etc/ssl/own.pem"])] = None
    """PEM file of certificate authorities to trust instead of the default ones."""

    def __post_init__(self) -> None:
        for name in ("user_agent", "contact"):
            text: str = getattr(self, name)
            if not (text.isascii() and text.isprintable()):
                raise SettingsError(name, text, "must be one line of ASCII text")
        if not re.match(r"[^/\s]", self.user_agent):
            raise SettingsError("user_agent", self.user_agent, "must begin with a product name")

    @property
    def visit_timeout_seconds(self) -> float:
        """For a visit outside of the daemon, from when it was asked for until its last request ends.

        It begins in the first half, so that each page has the time of a fetch; what belongs to the page may
        take the rest.
        """
        return 2 * self.total_timeout_seconds

    @property
    def user_agent_header(self) -> str:
        """The User-Agent header: product, and the contact if there is one."""
        return f"{self.user_agent} (+{self.contact})" if self.contact else self.user_agent

    @property
    def product_token(self) -> str:
        """The name that robots.txt groups are matched against (RFC 9309, section 2.2.1)."""
        return re.split(r"[/\s]", self.user_agent, maxsplit=1)[0].lower()


@dataclass(frozen=True, slots=True)
class SiteAccess:
    """Credentials for one origin only. Secrets stay out of ``repr``."""

    cookies: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    username: str | None = field(default=None, repr=False)
    """With *password*: basic authentication (RFC 7617), in UTF-8."""
    password: str | None = field(default=None, repr=False)
    proxy: str | None = field(default=None, repr=False)
    """``http://[user:password@]host:port``, for all requests to this origin.

    The proxy resolves the site's name, so the address guard sees only the proxy; one in a private network
    must be in ``allowed_hosts``.
    """

    def __post_init__(self) -> None:
        for name, value in self.headers.items():
            if not _HEADER_NAME.fullmatch(name) or name.lower() in _FRAMING_HEADERS:
                raise SettingsError("headers", name, "is not a header that can be set")
            if not _is_header_value(value):
                raise SettingsError(f"headers.{name}", "...", "must be one line of ASCII text")
        if not all(_is_header_value(f"{name}{value}") for name, value in self.cookies.items()):
            raise SettingsError("cookies", "...", "names and values must be one line of ASCII text")
        if self.proxy is not None and not _is_proxy(self.proxy):
            # A SOCKS proxy would bypass the address guard, TLS within TLS the byte meter.
            raise SettingsError("proxy", "...", "must look like http://host:port")


@lru_cache(maxsize=2_048)
def origin(url: str) -> str:
    """Return scheme, host and port of *url*, normalized: ``https://example.org:443``.

    Raises ValueError unless it is an absolute http(s) URL.
    """
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise ValueError("not an absolute http(s) URL")
    return f"{scheme}://{host_name(url)}:{parts.port or _DEFAULT_PORTS[scheme]}"


@lru_cache(maxsize=2_048)
def host_name(url: str) -> str:
    """Return the host of *url* in lower case, without a trailing dot."""
    return (urlsplit(url).hostname or "").rstrip(".").lower()


def _is_header_value(value: str) -> bool:
    return value.isascii() and (value.isprintable() or not value)


def _is_proxy(url: str) -> bool:
    try:
        return origin(url).startswith("http://")
    except ValueError:
        return False

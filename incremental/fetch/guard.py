"""The address guard: which addresses may be connected to.

A name is resolved once and refused if *any* of its addresses is not public. The transport then connects
to exactly the checked addresses (:mod:`incremental.fetch.transport`), so changing a name between check and
use (DNS rebinding) is useless::

    host -> resolve -> every address public, or allowed by host or network? -> connect to these
"""

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from urllib3.exceptions import HTTPError

from incremental.base.errors import SettingsError

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network
SocketAddress = tuple[str, int] | tuple[str, int, int, int]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A checked address, as the socket module expects it."""

    family: socket.AddressFamily
    address: SocketAddress


Resolver = Callable[[str, int], "list[Endpoint]"]
"""Resolves host and port to addresses; raises ``socket.gaierror`` if there are none."""

# IANA's special-purpose registries for IPv4 and IPv6, and ranges that embed another address. Not
# ``is_global``, whose answer differs between versions of Python. Ranges registered as globally reachable
# (AS112, AMT, NAT64) are included: no page is served from them.
SPECIAL_PURPOSE: tuple[IPNetwork, ...] = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",  # this network, RFC 791
        "10.0.0.0/8",  # private, RFC 1918
        "100.64.0.0/10",  # carrier-grade NAT, RFC 6598
        "127.0.0.0/8",  # loopback, RFC 1122
        "169.254.0.0/16",  # link-local, RFC 3927
        "172.16.0.0/12",  # private, RFC 1918
        "192.0.0.0/24",  # protocol assignments, RFC 6890
        "192.0.2.0/24",  # documentation, RFC 5737
        "192.31.196.0/24",  # AS112, RFC 7535
        "192.52.193.0/24",  # multicast tunnels, RFC 7450
        "192.88.99.0/24",  # 6to4 relays, RFC 7526
        "192.168.0.0/16",  # private, RFC 1918
        "192.175.48.0/24",  # AS112, RFC 7534
        "198.18.0.0/15",  # benchmarks, RFC 2544
        "198.51.100.0/24",  # documentation, RFC 5737
        "203.0.113.0/24",  # documentation, RFC 5737
        "224.0.0.0/4",  # multicast, RFC 5771
        "240.0.0.0/4",  # reserved and broadcast, RFC 1112
        "::/96",  # unspecified, loopback and IPv4-compatible, RFC 4291
        "::ffff:0:0/96",  # IPv4-mapped
        "::ffff:0:0:0/96",  # IPv4-translated, RFC 2765
        "64:ff9b::/96",  # NAT64, RFC 6052
        "64:ff9b:1::/48",  # local NAT64, RFC 8215
        "100::/64",  # discard, RFC 6666
        "100:0:0:1::/64",  # dummy prefix, RFC 9780
        "2001::/23",  # protocol assignments, Teredo (2001::/32) among them
        "2001:db8::/32",  # documentation, RFC 3849
        "2002::/16",  # 6to4, RFC 3056
        "2620:4f:8000::/48",  # AS112, RFC 7534
        "3fff::/20",  # documentation, RFC 9637
        "5f00::/16",  # segment routing, RFC 9602
        "fc00::/7",  # unique local, RFC 4193
        "fe80::/10",  # link-local, RFC 4291
        "fec0::/10",  # site-local, RFC 3879
        "ff00::/8",  # multicast, RFC 4291
    )
)
# Everything allocated in IPv6 (RFC 4291, section 2.4).
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
_NUMERIC_HOST = re.compile(r"[0-9a-fx.]+", re.IGNORECASE)


# An urllib3 error, so that requests passes it on unchanged.
class ForbiddenAddressError(HTTPError):
    """A host is, or resolves to, an address that is neither public nor allowed."""


class AddressGuard:
    """Decides where connections may go.

    *allowed_hosts* (names, or ``host:port``) and *allowed_networks* (``127.0.0.0/8``) may be fetched from
    although they are not public.
    """

    def __init__(
        self,
        allowed_hosts: Iterable[str] = (),
        allowed_networks: Iterable[str] = (),
        resolver: Resolver | None = None,
    ) -> None:
        self._hosts = frozenset(host.lower().rstrip(".") for host in allowed_hosts)
        self._networks = tuple(_network(text) for text in allowed_networks)
        self._resolve = resolver or resolve

    def check_literal(self, host: str, port: int) -> None:
        """Refuse *host* if it is a non-public address; names pass unresolved."""
        address = literal_address(host)
        if address is not None and not self._may_pass(address, host, port):
            raise ForbiddenAddressError("the address is not public")

    def endpoints(self, host: str, port: int) -> list[Endpoint]:
        """Return the allowed addresses of *host*, in the resolver's order.

        Raises ForbiddenAddressError if any is forbidden, ``socket.gaierror`` if the name does not resolve.
        """
        found = _literal_endpoint(host, port) or self._resolve(host, port)
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "the name has no address")
        for endpoint in found:
            address = ipaddress.ip_address(endpoint.address[0])
            if not self._may_pass(address, host, port):
                # One is enough: the system could pick that one.
                raise ForbiddenAddressError("the name resolves to an address that is not public")
        return found

    def _may_pass(self, address: IPAddress, host: str, port: int) -> bool:
        name = host.strip("[]").lower().rstrip(".")
        return (
            is_public(address)
            or name in self._hosts
            or f"{name}:{port}" in self._hosts
            or any(address in network for network in self._networks)
        )


def is_public(address: IPAddress) -> bool:
    """Return whether *address* belongs to the public internet."""
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and (address.version == 4 or address in _GLOBAL_UNICAST)  # noqa: PLR2004 - IPv4 and IPv6
        and not any(address in network for network in SPECIAL_PURPOSE)
    )


def literal_address(host: str) -> IPAddress | None:
    """Return the address that *host* spells, or None if it is a name."""
    text = host.strip("[]").rstrip(".")
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        pass
    if not _NUMERIC_HOST.fullmatch(text):
        return None
    try:
        # Spellings that resolvers accept, too: a single decimal number, octal and hexadecimal parts,
        # fewer than four parts.
        return ipaddress.IPv4Address(socket.inet_aton(text))
    except OSError:
        return None


def _literal_endpoint(host: str, port: int) -> list[Endpoint]:
    """Return the address that *host* spells, which no resolver need be asked about."""
    address = literal_address(host)
    if isinstance(address, ipaddress.IPv4Address):
        return [Endpoint(socket.AF_INET, (str(address), port))]
    if isinstance(address, ipaddress.IPv6Address):
        return [Endpoint(socket.AF_INET6, (str(address), port, 0, 0))]
    return []


def resolve(host: str, port: int) -> list[Endpoint]:
    """Ask the system's resolver; every address once."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    internet = (socket.AF_INET, socket.AF_INET6)
    endpoints = [
        Endpoint(family, address)
        for family, _, _, _, address in found
        if family in internet and len(address) in {2, 4} and isinstance(address[0], str)
    ]
    return list(dict.fromkeys(endpoints))


def _network(text: str) -> IPNetwork:
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        raise SettingsError("allowed_networks", text, "write it like 127.0.0.0/8") from error

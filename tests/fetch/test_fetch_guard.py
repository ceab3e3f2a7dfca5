"""No way leads to an address that is not public, however it is written."""

import ipaddress
import socket
from collections.abc import Iterable

import pytest
from fetch_server import LOCAL, LocalServer, answer, fetcher, names, redirect
from hypothesis import given
from hypothesis import strategies as st

from incremental.base.errors import SettingsError
from incremental.fetch.guard import (
    SPECIAL_PURPOSE,
    AddressGuard,
    ForbiddenAddressError,
    is_public,
    literal_address,
)
from incremental.fetch.options import FetchSettings, SiteAccess
from incremental.fetch.status import FetchStatus, Request

STRICT = FetchSettings()


def strict_status(url: str, **addresses: str) -> FetchStatus:
    return fetcher(STRICT, resolver=names(**addresses)).fetch(Request(url)).status


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "127.0.0.1.",
        "0.0.0.0",
        "0",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "192.88.99.1",
        "198.18.0.1",
        "203.0.113.1",
        "224.0.0.1",
        "255.255.255.255",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:8.8.8.8]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::1]",
        "[2002:7f00:1::]",
        "[2001:0:7f00:1::]",
        "[2001:db8::1]",
        "[fe80::1]",
        "[fec0::1]",
        "[fc00::1]",
        "[ff02::1]",
    ],
)
def test_no_spelling_of_a_private_address_is_fetched(host: str) -> None:
    assert strict_status(f"http://{host}/") is FetchStatus.FORBIDDEN_ADDRESS
    assert strict_status(f"https://{host}:8443/") is FetchStatus.FORBIDDEN_ADDRESS


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST"])
def test_the_system_resolver_is_not_trusted_either(host: str) -> None:
    response = fetcher(STRICT).fetch(Request(f"http://{host}/"))
    assert response.status is FetchStatus.FORBIDDEN_ADDRESS


def test_a_dot_behind_the_name_changes_nothing() -> None:
    status = strict_status("http://localhost./", localhost="127.0.0.1")
    assert status is FetchStatus.FORBIDDEN_ADDRESS


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.0.0.1", "::1", "::ffff:10.0.0.1", "93.184.216.34,127.0.0.1"]
)
def test_a_name_that_leads_inside_is_refused_even_if_it_also_leads_outside(address: str) -> None:
    assert strict_status("http://news.example/", news=address) is FetchStatus.FORBIDDEN_ADDRESS


@pytest.mark.parametrize(
    "url",
    [
        "http://news.example@127.0.0.1/",
        "http://127.0.0.1@news.example/",
        "http://news.example\\@127.0.0.1/",
        "http://127.0.0.1\\@news.example/",
        "http://news.example#@127.0.0.1/",
        "http://news.example%2f@127.0.0.1/",
        "http://127.0.0.1%2f.news.example/",
        "http://127.0.0.1\t.news.example/",
        "http:/127.0.0.1/",
        "http:127.0.0.1",
        "http:\\\\127.0.0.1/",
        "http://①②⑦.0.0.1/",
        "http://１２７.0.0.1/",
        "http://127。0。0。1/",
        "http://%31%32%37.0.0.1/",
    ],
)
def test_no_trick_of_writing_reaches_a_server_here(url: str) -> None:
    """Parsers differ on all of these: what is host, what password, what path."""
    status = strict_status(url, news="127.0.0.1")
    assert status in {FetchStatus.INVALID_URL, FetchStatus.FORBIDDEN_ADDRESS}


def test_a_redirect_to_a_private_address_is_refused() -> None:
    with LocalServer({"/": redirect("http://169.254.169.254/latest/")}) as server:
        response = fetcher().fetch(Request(server.url()))
    assert response.status is FetchStatus.FORBIDDEN_ADDRESS
    assert response.location is None


def test_a_redirect_goes_through_the_guard_again() -> None:
    """The port of the first request is allowed, the one it redirects to is not."""
    with (
        LocalServer({"/": answer(b"inside")}) as inside,
        LocalServer({"/": redirect(inside.url(host="news.example"))}) as site,
    ):
        allowed = FetchSettings(allowed_hosts=frozenset({f"news.example:{site.port}"}))
        asking = fetcher(allowed, resolver=names(news="127.0.0.1"))
        response = asking.fetch(Request(site.url(host="news.example")))
    assert response.status is FetchStatus.FORBIDDEN_ADDRESS
    assert inside.requests == []


def test_the_address_that_was_checked_is_the_one_connected_to() -> None:
    """A name that answers differently the second time (DNS rebinding) is not asked twice."""
    asked: list[str] = []

    with LocalServer({"/": answer(b"checked")}) as server:
        known = names(news="127.0.0.1")

        def once(host: str, port: int) -> list[object]:
            asked.append(host)
            return list(known(host, port)) if len(asked) == 1 else []

        asking = fetcher(LOCAL, resolver=once)  # type: ignore[arg-type] # endpoints, as a list
        assert asking.fetch(Request(server.url(host="news.example"))).body == b"checked"
    assert asked == ["news.example"]
    assert server.requests[0].splitlines()[1:2] == [f"Host: news.example:{server.port}"]


def test_a_host_may_be_allowed_by_name_alone() -> None:
    with LocalServer({"/": answer(b"intranet")}) as server:
        allowed = FetchSettings(allowed_hosts=frozenset({"Wiki.Example."}))
        asking = fetcher(allowed, resolver=names(wiki="127.0.0.1", other="127.0.0.1"))
        assert asking.fetch(Request(server.url(host="wiki.example"))).body == b"intranet"
        other = asking.fetch(Request(server.url(host="other.example")))
    assert other.status is FetchStatus.FORBIDDEN_ADDRESS


def test_a_proxy_inside_must_be_allowed_and_opens_nothing_else() -> None:
    with LocalServer({"http://news.example/": answer(b"by proxy")}) as proxy:
        sites = {"http://news.example": SiteAccess(proxy=proxy.url())}
        request = Request("http://news.example/")
        refused = fetcher(STRICT, sites=sites).fetch(request)
        allowed = FetchSettings(allowed_hosts=frozenset({f"127.0.0.1:{proxy.port}"}))
        assert fetcher(allowed, sites=sites).fetch(request).body == b"by proxy"
    assert refused.status is FetchStatus.FORBIDDEN_ADDRESS


def test_a_private_address_is_not_reached_through_a_proxy_either() -> None:
    with LocalServer({}) as proxy:
        sites = {"http://10.0.0.1": SiteAccess(proxy=proxy.url())}
        response = fetcher(sites=sites).fetch(Request("http://10.0.0.1/"))
    assert response.status is FetchStatus.FORBIDDEN_ADDRESS


def test_the_second_address_is_tried_when_the_first_does_not_answer() -> None:
    with LocalServer({"/": answer(b"second")}) as server:
        asking = fetcher(resolver=names(news="127.0.0.2,127.0.0.1"))
        assert asking.fetch(Request(server.url(host="news.example"))).body == b"second"


# https://www.iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry, every block, and
# the blocks that RFC 4291 keeps for other uses.
REGISTERED = [
    *("0.0.0.0/8", "0.0.0.0/32", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
    *("172.16.0.0/12", "192.0.0.0/24", "192.0.0.0/29", "192.0.0.8/32", "192.0.0.9/32"),
    *("192.0.0.10/32", "192.0.0.170/32", "192.0.0.171/32", "192.0.2.0/24", "192.31.196.0/24"),
    *("192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15"),
    *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32"),
    *("::1/128", "::/128", "::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96"),
    *("64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001::/32", "2001:1::1/128"),
    *("2001:1::2/128", "2001:1::3/128", "2001:2::/48", "2001:3::/32", "2001:4:112::/48"),
    *("2001:10::/28", "2001:20::/28", "2001:30::/28", "2001:db8::/32", "2002::/16"),
    *("2620:4f:8000::/48", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10"),
    "ff00::/8",
]


def covered(networks: Iterable[ipaddress.IPv4Network | ipaddress.IPv6Network]) -> set[str]:
    return {
        text
        for text in REGISTERED
        for network in networks
        if network.version == (listed := ipaddress.ip_network(text)).version
        and listed.subnet_of(network)  # type: ignore[arg-type]  # both of one version
    }


@pytest.mark.parametrize("block", REGISTERED)
def test_no_registered_block_is_public(block: str) -> None:
    network = ipaddress.ip_network(block)
    assert not is_public(network[0])
    assert not is_public(network[-1])


def test_the_table_needs_no_help_of_the_language() -> None:
    """What Python calls global or reserved changes with its version; the table alone is enough."""
    assert covered(SPECIAL_PURPOSE) == set(REGISTERED)


@pytest.mark.parametrize("gone", SPECIAL_PURPOSE, ids=str)
def test_no_line_of_the_table_can_go(
    gone: ipaddress.IPv4Network | ipaddress.IPv6Network,
) -> None:
    assert covered(one for one in SPECIAL_PURPOSE if one != gone) != set(REGISTERED)


@given(st.ip_addresses(v=6))
def test_what_was_never_given_out_is_not_public(address: ipaddress.IPv6Address) -> None:
    assert not is_public(address) or address in ipaddress.ip_network("2000::/3")


def test_ordinary_addresses_are_public() -> None:
    for text in ("93.184.216.34", "8.8.8.8", "2606:2800:220:1:248:1893:25c8:1946"):
        assert is_public(ipaddress.ip_address(text))


@given(st.ip_addresses())
def test_what_the_language_calls_private_is_never_public(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    hidden = address.is_private or address.is_loopback or address.is_multicast
    assert not (hidden and is_public(address))


@given(st.ip_addresses(v=4))
def test_every_spelling_of_an_address_is_understood(address: ipaddress.IPv4Address) -> None:
    a, b, c, d = address.packed
    spellings = [str(address), str(int(address)), hex(int(address)), f"{a}.{b}.{c * 256 + d}"]
    spellings += [f"0{a:o}.{b:#x}.{c}.{d}", f"{address}."]
    assert {literal_address(each) for each in spellings} == {address}


def test_a_name_that_leads_nowhere_is_an_error_of_the_resolver() -> None:
    guard = AddressGuard(resolver=lambda _host, _port: [])
    with pytest.raises(socket.gaierror):
        guard.endpoints("news.example", 80)
    with pytest.raises(ForbiddenAddressError):
        guard.endpoints("127.0.0.1", 80)


def test_a_network_that_is_none_is_reported() -> None:
    with pytest.raises(SettingsError, match=r"10\.0\.0\.1/8"):
        AddressGuard(allowed_networks=["10.0.0.1/8"])

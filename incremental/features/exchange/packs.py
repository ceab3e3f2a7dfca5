"""Packs: what was learned about sites, as one signed file.

::

    {"hubwatch_pack": 1, "signed_by": KEY, "signature": SIGNATURE, "learned": {...}}

The Ed25519 signature (RFC 8032) covers the bytes of ``learned`` as they stand in the file, and is checked
before they are read. It proves that nobody changed them since the holder of the key signed them: not who
that is, and not that what they say is true. So all of it is checked like any text from a stranger: sizes,
types, no unknown field, addresses in the scope of their site.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal
from urllib.parse import parse_qsl, urlsplit

import msgspec
from msgspec import Meta

from incremental.base.errors import InputError
from incremental.base.scope import Reach, Scope
from incremental.base.urls import domain_of, normalize
from incremental.parse.hub_way import WayKind
from incremental.schedule.profile import BINS, WEEK
from store.database.home import PACK_KEY, secret_key
from store.enums import HubKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

MAX_PACK_BYTES: Final = 5_000_000
MAX_HUBS: Final = 200
"""Of a site."""
BEGIN: Final = b'{"hubwatch_pack"'
# Names of parameters that may hold what nobody else should see.
_SECRET: Final = ("token", "key", "auth", "sig", "secret", "pass", "session", "sid", "code", "user")

_Address = Annotated[str, Meta(max_length=2_000)]
_Words = Annotated[tuple[Annotated[str, Meta(max_length=200)], ...], Meta(max_length=100)]
_Text = Annotated[str, Meta(max_length=500)]
_Count = Annotated[float, Meta(ge=0, le=100_000)]
_Week = Annotated[tuple[_Count, ...], Meta(max_length=WEEK)]
_Hour = Annotated[tuple[_Count, ...], Meta(max_length=BINS)]


class _Data(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of a pack."""


class PackWay(_Data, frozen=True):
    """How a hub is read that is not read as it is; see ``incremental.parse.hub_way``."""

    kind: WayKind
    sign: _Text = ""
    url: _Address = ""
    name: _Text = ""
    place: _Text = ""
    folder: _Address = ""


class PackHub(_Data, frozen=True):
    """A hub, and how often it had something new: evidence, as in ``incremental.schedule.state``."""

    url: _Address
    kind: HubKind = HubKind.HTML
    way: PackWay | None = None
    novel: _Count = 0.0
    exposure_hours: _Count = 0.0
    open_hours: _Count = 0.0
    hours: _Week = ()
    minutes: _Hour = ()


class PackSite(_Data, frozen=True):
    """A site."""

    seed: _Address
    feed: bool = False
    """The seed is a feed."""
    reach: Reach = Reach.HOST
    include: _Words = ()
    exclude: _Words = ()
    hubs: Annotated[tuple[PackHub, ...], Meta(max_length=MAX_HUBS)] = ()
    hours: _Week = ()
    minutes: _Hour = ()

    @property
    def addresses(self) -> Iterator[str]:
        """All that may be fetched."""
        yield self.seed
        for hub in self.hubs:
            yield hub.url
            if hub.way is not None:
                yield from filter(None, (hub.way.url, hub.way.folder))


class PackTopic(_Data, frozen=True):
    """A topic: what is wanted, without the verdicts of users."""

    name: Annotated[str, Meta(min_length=1, max_length=80)]
    examples: Annotated[tuple[_Address, ...], Meta(max_length=50)] = ()
    keywords: _Words = ()
    include: _Words = ()
    exclude: _Words = ()
    description: _Text = ""
    method: _Text = ""


class Pack(_Data, frozen=True):
    """What was learned."""

    made_at: Annotated[float, Meta(ge=0)]
    """Unix seconds, UTC."""
    sites: Annotated[tuple[PackSite, ...], Meta(max_length=1_000)] = ()
    topics: Annotated[tuple[PackTopic, ...], Meta(max_length=100)] = ()


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    hubwatch_pack: Literal[1]
    signed_by: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    signature: Annotated[str, Meta(pattern="^[0-9a-f]{128}$")]
    learned: msgspec.Raw


def may_hold_secret(url: str) -> bool:
    """Whether a query parameter of an address is named like a credential."""
    names = (name.lower() for name, _ in parse_qsl(urlsplit(url).query, keep_blank_values=True))
    return any(part in name for name in names for part in _SECRET)


def signed(pack: Pack, key: Ed25519PrivateKey) -> bytes:
    """Return the file of a pack."""
    learned = msgspec.json.encode(pack)
    public = key.public_key().public_bytes_raw().hex()
    file = _File(1, public, key.sign(learned).hex(), msgspec.Raw(learned))
    return msgspec.json.encode(file) + b"\n"


def read_pack(content: bytes, *, name: str = "file") -> tuple[Pack, str]:
    """Return a checked pack, and the key that signed it, in hex.

    Raises:
        InputError: too large, not in the format, changed since it was signed, or with addresses that do
            not belong to their site.
    """
    if len(content) > MAX_PACK_BYTES:
        raise InputError(name, f"{len(content)} bytes", f"a pack has at most {MAX_PACK_BYTES}")
    file: _File = _decoded(content, _File, name)
    _check_signature(file, name)
    pack: Pack = _decoded(bytes(file.learned), Pack, name)
    for site in pack.sites:
        _check_site(site, name)
    for topic in pack.topics:
        for url in topic.examples:
            _check_address(url, name)
    return pack, file.signed_by


def _decoded(content: bytes, kind: type, name: str) -> Any:  # noqa: ANN401 - one of two types
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise InputError(name, "", f"is not a pack: {error}") from None


def _check_signature(file: _File, name: str) -> None:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - only packs need it
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 - likewise
        Ed25519PublicKey,
    )

    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(file.signed_by))
    try:
        key.verify(bytes.fromhex(file.signature), bytes(file.learned))
    except InvalidSignature:
        way_out = "its signature does not fit: it was changed or damaged after it was signed"
        raise InputError(name, "", way_out) from None


def _check_site(site: PackSite, name: str) -> None:
    for url in site.addresses:
        _check_address(url, name)
    for hours, minutes in ((site.hours, site.minutes), *((h.hours, h.minutes) for h in site.hubs)):
        if len(hours) not in (0, WEEK) or len(minutes) not in (0, BINS):
            raise InputError(name, site.seed, f"needs {WEEK} hours and {BINS} parts of the hour")
    scope = Scope(site.seed, site.reach, site.include, site.exclude)
    for hub in site.hubs:
        if not scope.holds(hub.url):
            raise InputError(name, hub.url, f"is outside of the scope of {site.seed}")
        for url in (hub.way.url, hub.way.folder) if hub.way is not None else ():
            if url and domain_of(url) != domain_of(hub.url):
                raise InputError(name, url, f"is not of the same domain as {hub.url}")


def _check_address(url: str, name: str) -> None:
    if normalize(url) != url or "@" in urlsplit(url).netloc:
        raise InputError(name, url[:200], "is not a web address as Hubwatch writes it")


def own_key(folder: Path) -> Ed25519PrivateKey:
    """Return the key of this installation, which is made when it is first asked for.

    Raises:
        InputError: it cannot be read or written, or is none.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 - only packs need it
        Ed25519PrivateKey,
    )

    file = folder / PACK_KEY
    try:
        return Ed25519PrivateKey.from_private_bytes(secret_key(file))
    except (OSError, ValueError) as error:
        raise InputError("key of packs", str(file), f"cannot be used: {error}") from None

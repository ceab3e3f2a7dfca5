"""Routes of the Google Reader API. Access is decided by the guard, as everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from incremental.base.errors import InputError
from incremental.features.google_reader import BASE
from incremental.features.google_reader.items import (
    entry,
    item,
    subscriptions,
    tags,
    unread_counts,
)
from incremental.features.google_reader.streams import (
    MOST_IDS,
    MOST_ITEMS,
    READING_LIST,
    Asked,
    Marks,
    item_cursor,
    marks_of,
    query_of,
)
from incremental.interfaces.web.access import Gate, digest_of
from incremental.interfaces.web.context import web_of
from incremental.interfaces.web.feeds import Feed, atom
from incremental.interfaces.web.guard import client_of
from store import Store
from store.answers import AnnouncedPage, NewsAnswer

router = APIRouter(prefix=BASE, include_in_schema=False)
_API = "/reader/api/0"
_MICRO = 1_000_000
_TOKEN_LENGTH = 57
_MOST_FIELDS = 12_000


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a request: of the address, then of the body."""

    pairs: tuple[tuple[str, str], ...]

    def all(self, name: str) -> list[str]:
        """Return every value of a field."""
        return [value for key, value in self.pairs if key == name]

    def one(self, name: str) -> str:
        """Return the last value of a field, empty if it is missing."""
        return next(iter(reversed(self.all(name))), "")

    def asked(self, stream: str) -> Asked:
        """Return the part of a stream that is asked for."""
        return Asked.of(dict(self.pairs), stream)


async def _fields(request: Request) -> Fields:
    pairs = list(request.query_params.multi_items())
    try:
        text = (await request.body()).decode()
        pairs += parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise InputError("body", "...", "must be form fields, at most 12,000") from None
    if any("\0" in value for _, value in pairs):
        raise InputError("body", "...", "contains a NUL")
    return Fields(tuple(pairs))


_Fields = Annotated[Fields, Depends(_fields)]


@router.get("")
def here() -> Response:
    """Say that the API is here, as apps ask before they log in."""
    return PlainTextResponse("OK")


@router.post("/accounts/ClientLogin")
def log_in(request: Request, fields: _Fields) -> Response:
    """Exchange a token, or the password, for what apps send as ``Authorization: GoogleLogin auth=``.

    Any user name will do.
    """
    web, gate = web_of(request), _gate(request)
    secret, client = fields.one("Passwd"), client_of(request)
    with web.store() as store:
        auth = gate.app_secret(store, secret, client, now=web.now())
        wait = gate.wait_seconds(client, web.now()) if auth is None else 0.0
    if auth is None:
        headers = {"Retry-After": str(int(wait) + 1)} if wait > 0 else {}
        return PlainTextResponse("Error=BadAuthentication\n", HTTPStatus.UNAUTHORIZED, headers)
    return PlainTextResponse(f"SID={auth}\nLSID=null\nAuth={auth}\n")


def _gate(request: Request) -> Gate:
    gate: Gate = request.app.state.gate
    return gate


@router.get(f"{_API}/token")
def token(request: Request) -> Response:
    """Return what apps send with changes. It decides nothing: other sites cannot send the header."""
    made = digest_of(request.headers.get("authorization", ""))[:_TOKEN_LENGTH]
    return PlainTextResponse(made.ljust(_TOKEN_LENGTH, "Z") + "\n")


@router.get(f"{_API}/user-info")
def user_info() -> Response:
    """Return the one user."""
    names = ("userId", "userName", "userProfileId")
    return JSONResponse({**dict.fromkeys(names, "hubwatch"), "userEmail": ""})


@router.get(f"{_API}/tag/list")
def list_tags(request: Request) -> Response:
    """List the star, folders and topics."""
    with web_of(request).store() as store:
        return JSONResponse({"tags": tags(store)})


@router.get(f"{_API}/subscription/list")
def list_subscriptions(request: Request) -> Response:
    """List the sites."""
    with web_of(request).store() as store:
        return JSONResponse({"subscriptions": subscriptions(store, _server(request))})


@router.get(f"{_API}/unread-count")
def count_unread(request: Request) -> Response:
    """Count the unread pages of each site, folder and topic."""
    with web_of(request).store() as store:
        return JSONResponse(unread_counts(store))


@router.get(f"{_API}/stream/contents")
@router.get(f"{_API}/stream/contents/{{stream:path}}")
def stream_contents(request: Request, fields: _Fields, stream: str = "") -> Response:
    """Return a part of a stream, items and all."""
    asked = fields.asked(stream or fields.one("s"))
    with web_of(request).store() as store:
        found = store.answers.new(query_of(store, asked, most=MOST_ITEMS))
        return _items(store, request, found.rows, found)


@router.get(f"{_API}/stream/items/ids")
def stream_ids(request: Request, fields: _Fields) -> Response:
    """Return the ids of a part of a stream."""
    with web_of(request).store() as store:
        query = query_of(store, fields.asked(fields.one("s")), most=MOST_IDS)
        found = store.answers.new(query)
    refs = [
        {
            "id": str(row.cursor),
            "directStreamIds": [],
            "timestampUsec": str(int(row.found_at * _MICRO)),
        }
        for row in found.rows
    ]
    return JSONResponse({"itemRefs": refs, **_continued(found)})


@router.api_route(f"{_API}/stream/items/contents", methods=["GET", "POST"])
def item_contents(request: Request, fields: _Fields) -> Response:
    """Return items by their ids; those that are gone are left out."""
    cursors = _cursors(fields)
    with web_of(request).store() as store:
        return _items(store, request, store.answers.announced(cursors))


@router.get("/reader/atom/{stream:path}")
def stream_atom(request: Request, fields: _Fields, stream: str) -> Response:
    """Return a part of a stream as Atom."""
    with web_of(request).store() as store:
        found = store.answers.new(query_of(store, fields.asked(stream), most=MOST_ITEMS))
        folders = store.tags.of_sites()
    address = f"{_server(request)}{BASE}/reader/atom/{stream}"
    entries = [entry(row, folders) for row in found.rows]
    at = max((one.found_at for one in entries), default=0.0)
    feed = Feed(address, "Hubwatch", f"{_server(request)}/", address, entries, at)
    return Response(atom(feed), media_type="application/atom+xml; charset=utf-8")


@router.post(f"{_API}/edit-tag")
def edit_tag(request: Request, fields: _Fields) -> Response:
    """Mark items as read, unread, starred or not."""
    marks = marks_of(fields.all("a"), fields.all("r"))
    web = web_of(request)
    with web.store() as store:
        _mark(store, store.answers.announced(_cursors(fields)), marks, now=web.now())
    return PlainTextResponse("OK")


@router.post(f"{_API}/mark-all-as-read")
def mark_all_as_read(request: Request, fields: _Fields) -> Response:
    """Mark a stream as read, up to a time (``ts``, in microseconds) if one is given."""
    web = web_of(request)
    stream = fields.one("s")
    if not stream:
        raise InputError("s", stream, f"name a stream, such as {READING_LIST}")
    asked = Asked(stream, order="o", count=str(MOST_ITEMS))
    with web.store() as store:
        query = replace(query_of(store, asked, most=MOST_ITEMS), read=False)
        if until := _time(fields.one("ts")):
            query = replace(query, until=until)
        while rows := store.answers.new(query).rows:
            _mark(store, rows, Marks(read=True), now=web.now())
            query = replace(query, after=rows[-1].cursor)
    return PlainTextResponse("OK")


def _time(text: str) -> float:
    """Return the first moment after a time in microseconds; 0 = none given."""
    if not text.strip():
        return 0.0
    if not text.isdecimal() or len(text) > 18:  # noqa: PLR2004 - 64 bits
        raise InputError("ts", text[:80], "must be a time in microseconds")
    return (int(text) + 1) / _MICRO


def _mark(store: Store, rows: Sequence[AnnouncedPage], marks: Marks, *, now: float) -> None:
    pages = [row.page_id for row in rows]
    store.answers.mark(pages, now=now, read=marks.read, starred=marks.starred)


def _cursors(fields: Fields) -> list[int]:
    ids = fields.all("i")
    if len(ids) > MOST_IDS:
        raise InputError("i", len(ids), f"at most {MOST_IDS} items at once")
    return [item_cursor(one) for one in ids]


def _items(
    store: Store,
    request: Request,
    rows: Sequence[AnnouncedPage],
    found: NewsAnswer | None = None,
) -> Response:
    folders = store.tags.of_sites()
    body: dict[str, Any] = {
        "id": READING_LIST,
        "updated": int(web_of(request).now()),
        "items": [item(row, folders) for row in rows],
    }
    return JSONResponse(body | (_continued(found) if found is not None else {}))


def _continued(found: NewsAnswer) -> dict[str, str]:
    return {"continuation": str(found.cursor)} if found.more and found.cursor else {}


def _server(request: Request) -> str:
    """Return this server's URL as the client wrote it; the guard has checked the Host header."""
    return f"{request.url.scheme}://{request.headers['host']}"

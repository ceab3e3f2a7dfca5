"""The buttons beside a page."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response

from incremental.base.errors import NotFoundError
from incremental.base.texts import Text, stored
from incremental.features.corrections.not_news import is_said, object_to, take_back
from incremental.interfaces.web.context import StoreRoute, Web
from incremental.interfaces.web.undo import undoable
from incremental.interfaces.web.views import page, query, see
from store import Store

router = APIRouter(include_in_schema=False, route_class=StoreRoute)


@router.post("/corrections")
def object_to_page(
    request: Request,
    web: Web,
    store: Store,
    number: Annotated[int, Form(ge=1, le=2**62, alias="page")],
) -> Response:
    """Report a page as no news; the second click takes it back."""
    row = store.read.page(number)
    if row is None:
        raise NotFoundError(Text("input.page_unknown"))
    said = is_said(store, row.site_id, row.url)
    act, inverse = (take_back, object_to) if said else (object_to, take_back)
    done = act(store, row.url, now=web.now())
    key = "news" if said else "not_news"
    undoable(request, key, lambda store, now: inverse(store, row.url, now=now))
    return see(query(f"/pages/{number}", said=stored(done.says)))


@router.post("/corrections/missed")
def missed(
    request: Request, web: Web, store: Store, url: Annotated[str, Form(max_length=2_000)]
) -> Response:
    """Say why a page was missed, and watch a hub that shows it."""
    # What reads pages is loaded where that is done.
    from incremental.features.corrections.missed import missed_page  # noqa: PLC0415

    found = missed_page(store, web.settings, web.folder, url, web.clock)
    return page(request, "corrections/missed.html", {"found": found})

"""Where browsers get the icons: ``/icons/DIGEST``."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import Response

from incremental.features.icons.deciding import media_type
from incremental.interfaces.web.context import StoreRoute
from store import Store

router = APIRouter(include_in_schema=False, route_class=StoreRoute)
_KEPT = {"Cache-Control": "private, max-age=31536000, immutable"}


def site_images(store: Store) -> dict[int, str]:
    """Return the path of each site's icon, by site id."""
    return {site: f"/icons/{digest}" for site, digest in store.icons.digests().items()}


@router.get("/icons/{digest}")
def icon(store: Store, digest: Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]) -> Response:
    """Return an icon; its address changes with its content."""
    content = store.icons.content(digest)
    status = HTTPStatus.OK if content else HTTPStatus.NOT_FOUND
    return Response(content, status, _KEPT if content else None, media_type(content))

"""Conditional GET with ETags (RFC 9110, section 13)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.responses import Response

from incremental.interfaces.web.context import StoreRoute

_KEPT = ("etag", "cache-control", "vary", "last-modified", "link")


class ConditionalRoute(StoreRoute):
    """A route that adds an ETag to GET responses and answers 304 when it matches."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap the route's handler."""
        handler = super().get_route_handler()

        async def conditional(request: Request) -> Response:
            response = await handler(request)
            if request.method != "GET" or response.status_code != HTTPStatus.OK:
                return response
            return unless_known(request, response)

        return conditional


def unless_known(request: Request, response: Response) -> Response:
    """Return *response* with its ETag, or a 304 if the client has it."""
    tag = f'"{hashlib.blake2b(bytes(response.body), digest_size=16).hexdigest()}"'
    response.headers["ETag"] = tag
    # Private, because responses may depend on the caller.
    response.headers["Cache-Control"] = "private, no-cache"
    known = request.headers.get("if-none-match", "")
    if tag not in [one.strip().removeprefix("W/") for one in known.split(",")] and known != "*":
        return response
    headers = {name: value for name, value in response.headers.items() if name.lower() in _KEPT}
    return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)

"""Answers that are not sent again while they are as the asker knows them (RFC 9110, section 13)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.responses import Response
from fastapi.routing import APIRoute

_KEPT = ("etag", "cache-control", "vary", "last-modified", "link")


class ConditionalRoute(APIRoute):
    """A route whose answers to GET carry an ETag of their content, and which says 304 to who has it."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap the handler of the route."""
        handler = super().get_route_handler()

        async def conditional(request: Request) -> Response:
            response = await handler(request)
            if request.method != "GET" or response.status_code != HTTPStatus.OK:
                return response
            return unless_known(request, response)

        return conditional


def unless_known(request: Request, response: Response) -> Response:
    """Return *response* with its ETag, or 304 if the asker has it already."""
    tag = f'"{hashlib.blake2b(bytes(response.body), digest_size=16).hexdigest()}"'
    response.headers["ETag"] = tag
    # Kept by who asked, and asked for again each time: an answer may be for one caller alone.
    response.headers["Cache-Control"] = "private, no-cache"
    known = request.headers.get("if-none-match", "")
    if tag not in [one.strip().removeprefix("W/") for one in known.split(",")] and known != "*":
        return response
    headers = {name: value for name, value in response.headers.items() if name.lower() in _KEPT}
    return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)

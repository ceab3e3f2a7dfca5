"""Shared form fields and helpers."""

from http import HTTPStatus
from typing import Annotated

from fastapi import Form, Request
from fastapi.responses import RedirectResponse, Response

RowId = Annotated[int, Form(ge=1, le=2**62)]
RowIds = Annotated[list[RowId], Form(max_length=1_000, default_factory=list)]
Back = Annotated[str, Form(max_length=2_000)]
"""The path to return to; ignored if it is not ours."""


def see(path: str) -> Response:
    """Redirect after a POST, so that a reload does not repeat it."""
    return RedirectResponse(inside(path), HTTPStatus.SEE_OTHER)


def inside(path: str) -> str:
    """Return *path* if it is local, else ``/``: no open redirects."""
    plain = path.isascii() and path.isprintable() and "\\" not in path
    return path if plain and path.startswith("/") and not path.startswith("//") else "/"


def base_of(request: Request) -> str:
    """Return this server's URL as the client wrote it; the guard has checked the Host header."""
    return f"{request.url.scheme}://{request.headers['host']}"

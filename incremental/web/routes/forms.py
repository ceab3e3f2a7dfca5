"""What the forms of several pages share."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import Form
from fastapi.responses import RedirectResponse, Response

from incremental.fetch.status import HARMLESS, HAS_PAGE, FetchStatus

RowId = Annotated[int, Form(ge=1, le=2**62)]
Back = Annotated[str, Form(max_length=2_000)]
"""Where a form came from: a path of ours, or it counts as nothing."""


def see(path: str) -> Response:
    """Send the browser to a page after a change, so that reloading it changes nothing again."""
    return RedirectResponse(inside(path), HTTPStatus.SEE_OTHER)


def inside(path: str) -> str:
    """Return *path* if it lies on this server, else that of the first page: no open redirects."""
    plain = path.isascii() and path.isprintable() and "\\" not in path
    return path if plain and path.startswith("/") and not path.startswith("//") else "/"


def tone(status: str | None) -> str:
    """Return how a fetch status is coloured."""
    if status in HAS_PAGE or status == FetchStatus.REDIRECTED:
        return "good"
    return "warn" if status in HARMLESS else "bad"

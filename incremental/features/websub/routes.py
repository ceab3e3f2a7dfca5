"""The WebSub callback: open to anonymous POSTs, which write only to an inbox."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse, Response

from incremental.features.websub.callback import CallbackAnswer, CallbackRequest
from incremental.features.websub.pushes import Pushes
from incremental.interfaces.web.context import Web, web_of

router = APIRouter(include_in_schema=False)


@router.api_route("/websub/{token}", methods=["GET", "POST"])
async def callback(request: Request, token: str) -> Response:
    """Confirm a subscription, or accept a change notification."""
    asked = CallbackRequest(
        method=request.method,
        token=token,
        query=dict(request.query_params),
        headers=dict(request.headers),
        body=await request.body(),
    )
    answered = await run_in_threadpool(_receive, web_of(request), asked)
    return PlainTextResponse(answered.text, answered.code)


def _receive(web: Web, asked: CallbackRequest) -> CallbackAnswer:
    pushes = web.running.get("websub")
    if not isinstance(pushes, Pushes):
        return CallbackAnswer(HTTPStatus.NOT_FOUND, "no such subscription")
    with web.store():
        return pushes.receive(asked, web.now())

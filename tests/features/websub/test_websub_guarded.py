"""The WebSub callback on the web server, behind its guard."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from web_served import Served

from incremental.base.errors import SettingsError
from incremental.features.websub.callback import CallbackAnswer, CallbackRequest
from incremental.features.websub.pushes import Pushes
from incremental.features.websub.settings import WebSubSettings
from incremental.interfaces.web.server import refuse_unguarded


def test_a_callback_for_hubs_is_reached_by_others_too(empty: Served) -> None:
    settings = msgspec.structs.replace(
        empty.web.settings, further=(WebSubSettings(callback_url="https://watch.example/websub"),)
    )
    with pytest.raises(SettingsError, match=r"websub\.callback_url"):
        refuse_unguarded(replace(empty.web, settings=settings))


def test_hubs_are_answered_without_a_form_or_a_token(served: Served) -> None:
    """What they may say is decided by what they know: the secret in the address, the signature."""
    heard: list[CallbackRequest] = []

    class Heard(Pushes):
        def __init__(self) -> None: ...

        def receive(self, request: CallbackRequest, now: float) -> CallbackAnswer:  # noqa: ARG002
            heard.append(request)
            return CallbackAnswer(202)

    guarded = served.with_settings(password="secret enough")
    guarded.web = replace(guarded.web, running={"websub": Heard()})
    headers = {"Origin": "https://hub.example", "X-Hub-Signature": "sha256=00"}
    assert (
        guarded.client().post("/websub/7.abc", content=b"new", headers=headers).status_code == 202
    )
    (asked,) = heard
    assert (asked.token, asked.body, asked.headers["x-hub-signature"]) == (
        "7.abc",
        b"new",
        "sha256=00",
    )

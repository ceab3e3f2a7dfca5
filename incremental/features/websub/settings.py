"""``[websub]`` in the settings."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from incremental.base.errors import SettingsError
from incremental.base.urls import normalize
from incremental.settings import Settings


class WebSubSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Push notifications from feeds' WebSub hubs."""

    callback_url: str = ""
    """Public address of ``/websub`` on our web server, like ``https://watch.example.org/websub``;
    empty = no subscriptions."""
    lease_days: Annotated[float, msgspec.Meta(ge=1, le=60)] = 10
    """Requested length of a subscription; it is renewed a day before it ends."""

    def __post_init__(self) -> None:
        """Refuse an address that hubs could not call."""
        url = self.callback_url
        if url and (normalize(url) is None or "?" in url or "#" in url):
            way_out = "give a public address without a query, like https://watch.example.org/websub"
            raise SettingsError("callback_url", url, way_out)


def addresses(settings: Settings) -> dict[str, str]:
    """Return the address at which hubs reach our web server, by its setting."""
    url = settings.of(WebSubSettings).callback_url
    return {"websub.callback_url": urlsplit(url).netloc} if url else {}

"""WebSub: a feed's hub announces changes, so that polling is not needed (W3C, 2018).

::

    a visited page offers a hub              -> stored with the page's state; the Link header's hub and
                                                self go before the page's own
    Pushes.step: new offer, or lease ending  -> subscription request for rel=self, through the one
                                                fetcher; follows a hub that has moved
    the hub verifies our intent              -> callback.answer -> Confirmed
    the hub sends news                       -> callback.answer -> Ping -> the page is due at once

The callback is pure. There are no subscriptions until the settings give a public address of our web server.
"""

from __future__ import annotations

from incremental.base.features import Feature

_ROOM = "incremental.features.websub"
FEATURE = Feature(
    name="websub",
    summary="Feeds whose WebSub hub announces changes are visited at once.",
    settings=f"{_ROOM}.settings:WebSubSettings",
    routers=(f"{_ROOM}.routes:router",),
    # Each address holds a secret, and the body is signed.
    public=("/websub/",),
    proven=("/websub/",),
    addresses=f"{_ROOM}.settings:addresses",
    job=f"{_ROOM}.pushes:pushes",
)

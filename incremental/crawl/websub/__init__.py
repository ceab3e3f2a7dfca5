"""WebSub: a feed's hub announces changes, so that polling is not needed (W3C, 2018).

::

    a visited page offers a hub              -> stored with the page's state; the Link header's hub and
                                                self go before the page's own
    Pushes.step: new offer, or lease ending  -> subscription request for rel=self, through the one
                                                fetcher; follows a hub that has moved
    the hub verifies our intent              -> callback.answer -> Confirmed
    the hub sends news                       -> callback.answer -> Ping -> the page is due at once

The callback is pure; the web server mounts it. It is off until the settings give a
public address of that server.
"""

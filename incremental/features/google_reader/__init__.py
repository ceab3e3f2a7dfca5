"""The Google Reader API as FreshRSS speaks it, for reader apps; below :data:`BASE`.

::

    streams   ids of streams and items -> queries of the store
    items     announced pages, sites, folders and topics -> what apps read
    routes    the requests

A site is a subscription (``feed/ID``), a folder or a topic a label (``user/-/label/NAME``), an announced page
an item. Its id is the cursor of the page, which grows with time and stays when the page moves.
"""

from __future__ import annotations

from incremental.base.features import Feature

BASE = "/api/greader.php"
"""Where FreshRSS has it, so that apps find it by themselves."""
APP_LOGIN = f"{BASE}/accounts/ClientLogin"
"""Reader apps log in with a token or the password in the body."""
FEATURE = Feature(
    name="google_reader",
    summary="Reader apps read and mark announced pages by the Google Reader API.",
    routers=("incremental.features.google_reader.routes:router",),
    public=(BASE, APP_LOGIN),
    # POST only because ids are many: changes nothing.
    proven=(f"{BASE}/reader/api/0/stream/items/contents",),
    logins=(APP_LOGIN,),
    apps={BASE: "apps"},
)

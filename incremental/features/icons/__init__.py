"""Icons of sites: the small picture that stands beside a site's name.

::

    address   what the stored seed or home page names, else /favicon.ico     asking.py
    asked     as the budget and the hours of the site allow, again monthly   asking.py -> store.icons
    shown     /icons/DIGEST, from our own server                             pages.py

A picture is recognised by its first bytes and passed on as it came; nothing here decodes it.
"""

from __future__ import annotations

from incremental.base.features import Feature

_ROOM = "incremental.features.icons"
FEATURE = Feature(
    name="icons",
    summary="Sites are shown with their icons.",
    routers=(f"{_ROOM}.pages:router",),
    job=f"{_ROOM}.asking:icon_asker",
    requests=f"{_ROOM}.asking:requests",
    site_images=f"{_ROOM}.pages:site_images",
)

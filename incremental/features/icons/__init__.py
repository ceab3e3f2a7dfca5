"""Icons of sites: the small picture that stands beside a site's name.

::

    address   what the stored seed or home page names, else /favicon.ico    asking.py
    asked     within the budget and the hours of the site, monthly          asking.py -> store.icons
    kept      if its first bytes are those of a picture: pure               deciding.py
    shown     /icons/DIGEST, from our own server                            pages.py

Nothing here decodes a picture: it is passed on as it came.
"""

from incremental.base.features import Feature

_ROOM = "incremental.features.icons"
FEATURE = Feature(
    name="icons",
    summary="Sites are shown with their icons.",
    routers=(f"{_ROOM}.pages:router",),
    job=f"{_ROOM}.asking:IconAsker",
    requests=f"{_ROOM}.asking:requests",
    site_images=f"{_ROOM}.pages:site_images",
)

"""Near-duplicates: pages with nearly the same text, on one site or across sites.

::

    main text -> signature (fingerprint, where the page is read) -> cluster (store.near_duplicates)
                                                                 -> command, page, API, number in lists
"""

from pathlib import Path

from incremental.base.features import Feature

_ROOM = "incremental.features.near_duplicates"
FEATURE = Feature(
    name="near_duplicates",
    summary="Pages with nearly the same text are found on all sites.",
    commands={
        "Read": {
            "copies": f"{_ROOM}.commands:copies List other pages with nearly the same text, on all sites."
        }
    },
    routers=(f"{_ROOM}.pages:router", f"{_ROOM}.pages:api"),
    page_form="near_duplicates/link.html",
    templates=Path(__file__).with_name("templates"),
    signature=f"{_ROOM}.fingerprint:fingerprint",
)

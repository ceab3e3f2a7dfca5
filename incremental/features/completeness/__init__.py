"""Completeness: how many of the new pages of a site were found, and how soon.

::

    audited   the new pages to which announced pages came to link              keeping.py
    facts     new pages, the hubs that showed each, hubs that cannot be read   store.completeness
    estimate  facts -> share found with its interval: pure                     estimating.py
    kept      every six hours for each site, for hubwatch status               keeping.py
    seen      hubwatch completeness, the page /completeness, the API           showing.py
"""

from pathlib import Path

from incremental.base.features import Feature

_ROOM = "incremental.features.completeness"
FEATURE = Feature(
    name="completeness",
    summary="Says for each site how many of its new pages were found, and how soon.",
    commands={
        "Operate": {
            "completeness": f"{_ROOM}.commands:completeness Show how many new pages were found, by site."
        }
    },
    routers=(f"{_ROOM}.pages:router", f"{_ROOM}.pages:api"),
    pages={"/completeness": "title"},
    follows=f"{_ROOM}.keeping:auditor",
    job=f"{_ROOM}.keeping:keeper",
    site_words=f"{_ROOM}.showing:site_words",
    site_line=f"{_ROOM}.showing:site_line",
    templates=Path(__file__).with_name("templates"),
)

"""The watchdog: what is wrong with a site although every visit succeeds.

::

    facts   a site's latest new pages, what its hubs show of them, how its hubs answer   store.problems
    faults  facts -> problems, each with its evidence: pure                              finding.py
    job     every two hours for each site: opens, keeps and closes problems              watching.py
    seen    a site's health, hubwatch problems, the page /problems, the API              showing.py

A problem ends by itself when it is no longer found.
"""

from pathlib import Path

from incremental.base.features import Feature

_ROOM = "incremental.features.watchdog"
FEATURE = Feature(
    name="watchdog",
    summary="Sites that fall silent, hubs that stand still, lists that vanish are reported.",
    commands={
        "Operate": {"problems": f"{_ROOM}.commands:problems Show problems of sites that answer."}
    },
    routers=(f"{_ROOM}.pages:router", f"{_ROOM}.pages:api"),
    pages={"/problems": "title"},
    templates=Path(__file__).with_name("templates"),
    job=f"{_ROOM}.watching:watchdog",
    forgets=f"{_ROOM}.watching:forget",
    site_notes=f"{_ROOM}.showing:site_notes",
)

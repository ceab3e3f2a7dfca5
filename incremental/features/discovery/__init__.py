"""Discovery: operators that find pages of a topic, and the bandit that chooses among them (paper 001).

::

    choose an operator  ->  pages(seeds, k)  ->  fetch  ->  rank  ->  reward  ->  next seeds
    bandit (UCB1)           operators       discoverer      rankers    bandit       top k

The bandit and the rankers are in ``classifier.papers``. All of this is pure but for ``discoverer`` (a run,
put together by ``making``), ``search_provider`` (SearXNG), and what people see and
decide: ``commands``, ``pages``, ``facts``.
"""

from pathlib import Path

from incremental.base.features import Feature, TopicLink

_ROOM = "incremental.features.discovery"
FEATURE = Feature(
    name="discovery",
    summary="Further sites are found for each topic.",
    settings=f"{_ROOM}.settings:DiscoverySettings",
    commands={
        "Topics": {
            "discover": {
                "": "Find further sites for a topic.",
                "run": f"{_ROOM}.commands:run Search for pages like the topic's, and propose their sites.",
                "proposals": f"{_ROOM}.commands:proposals List proposed sites, best first.",
                "accept": f"{_ROOM}.commands:accept Watch proposed sites from the hubs found on them.",
                "reject": f"{_ROOM}.commands:reject Reject sites: they are not proposed again.",
            },
        },
    },
    routers=(f"{_ROOM}.pages:router",),
    templates=Path(__file__).with_name("templates"),
    topic_links=(TopicLink("/topics/{id}/discovery", "title", f"{_ROOM}.facts:open_proposals"),),
    forgets=f"{_ROOM}.making:forget",
)

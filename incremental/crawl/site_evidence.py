"""The store's evidence for the hub classifier, read alike by crawler and explanations."""

from classifier.hub.labels import HUB
from incremental.decide.hubs import SiteContext
from store import Store
from store.enums import LabelOrigin


def read_context(store: Store, site_id: int, now: float) -> SiteContext:
    """Read a site's URLs, the verdicts on its pages, and users' labels."""
    read = store.read
    said = [(one.url, one.label == HUB) for one in read.site_labels(site_id, LabelOrigin.USER)]
    judged = read.judged_urls(site_id) + said
    return SiteContext.build(read.known_urls(site_id), judged, now, read.asked_for(site_id))

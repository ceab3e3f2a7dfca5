"""The usual places of feeds and sitemaps, for sites that do not name theirs. Pure."""

from urllib.parse import urlsplit

from incremental.base.texts import hub_why
from incremental.base.urls import canonical_key, normalize
from incremental.parse import Page, PageKind
from store.enums import HubKind, HubRole
from store.values import NewHub, SeenLink

# Most common first (WordPress, Hexo, Jekyll, Hugo, many Chinese CMS).
FEED_PLACES = ("feed", "rss.xml", "atom.xml", "feed.xml", "index.xml", "rss")
SITEMAP_PLACES = ("sitemap.xml", "sitemap_index.xml")


def probes(page: Page, url: str, now: float) -> tuple[SeenLink, ...]:
    """Return the places to try below the folder of *url*, and at the root of its host."""
    parts = urlsplit(url)
    root = f"{parts.scheme}://{parts.netloc}/"
    folder = f"{parts.scheme}://{parts.netloc}{parts.path.rsplit('/', 1)[0]}/"
    bases = dict.fromkeys((folder, root))
    # A site that names its feeds needs no guesses.
    feeds = () if page.feed_urls or page.kind is PageKind.FEED else FEED_PLACES
    places = [(HubKind.FEED, base + place) for base in bases for place in feeds]
    places += [(HubKind.SITEMAP, base + place) for base in bases for place in SITEMAP_PLACES]
    links = []
    for number, (kind, place) in enumerate(places):
        url = normalize(place) or place
        hub = NewHub(kind, HubRole.PROBE, 0.5, hub_why("usual_place"), now + number)
        links.append(SeenLink(canonical_key=canonical_key(url), url=url, hub=hub))
    return tuple(links)

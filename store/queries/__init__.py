"""Every question the crawler and its faces ask. Reading only; each query uses an index.

::

    rounds   what a round asks: what is due, what is known, what a host is owed
    sites    what judges and lessons ask of a site as a whole
    crawls   what only a crawl knows of a page: steps from the seed, size
    labels   what was said of URLs
    people   what faces ask of pages and sites one by one

All of them are one object, ``store.read``.
"""

from __future__ import annotations

from store.queries.crawls import CrawlQueries
from store.queries.labels import LabelQueries
from store.queries.people import PeopleQueries
from store.queries.rounds import RoundQueries
from store.queries.sites import SiteQueries


class Queries(RoundQueries, SiteQueries, CrawlQueries, LabelQueries, PeopleQueries):
    """The questions, on one database."""

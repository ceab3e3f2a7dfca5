"""Queries of the crawler and its interfaces, ``store.read``. Each uses an index.

::

    rounds      the crawler's rounds: due fetches, known pages, host state
    site_facts  facts of a site, for decisions: URLs, lists, links shown
    training    training data of the hub model: labels, crawl depth, page sizes
    people      pages and sites one by one, for interfaces
"""

from store.crawl.queries.people import PeopleQueries, TrainingQueries
from store.crawl.queries.rounds import RoundQueries
from store.crawl.queries.site_facts import SiteQueries


class Queries(RoundQueries, SiteQueries, TrainingQueries, PeopleQueries):
    """All queries, on one database."""

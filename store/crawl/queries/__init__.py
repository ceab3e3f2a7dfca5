"""Queries of the crawler and its interfaces, ``store.read``. Each uses an index.

::

    rounds      the crawler's rounds: due fetches, known pages, host state
    site_facts  facts of a site, for decisions: URLs, lists, links shown
    people      pages and sites one by one, for interfaces, and labels
"""

from store.crawl.queries.people import PeopleQueries
from store.crawl.queries.rounds import RoundQueries
from store.crawl.queries.site_facts import SiteQueries


class Queries(RoundQueries, SiteQueries, PeopleQueries):
    """All queries, on one database."""

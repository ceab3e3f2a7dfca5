"""Every question the crawler and its interfaces ask, ``store.read``. Each query uses an index.

::

    rounds      what a round asks: what is due, what is known, what a host is owed
    site_facts  what a decision asks of a site as a whole: its addresses, its lists, what they showed
    training    what the hub model is trained on: labels, how pages were found, how large they were
    people      what interfaces ask of pages and sites one by one
"""

from __future__ import annotations

from store.queries.people import PeopleQueries
from store.queries.rounds import RoundQueries
from store.queries.site_facts import SiteQueries
from store.queries.training import TrainingQueries


class Queries(RoundQueries, SiteQueries, TrainingQueries, PeopleQueries):
    """The questions, on one database."""

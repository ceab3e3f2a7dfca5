"""Tables of discovery: runs and proposals.

::

    topic 1 ─── 1 discovery_run
            └── n discovery_page · n discovery_link   fetched pages and their links
            └── n proposal                            a site, its best pages, the decision
"""

from __future__ import annotations

from peewee import AutoField, BigAutoField, DoubleField, ForeignKeyField, TextField

from store.models.crawl_tables import Table
from store.models.topic_tables import Topic


class DiscoveryRun(Table):
    """The last search for sites of a topic."""

    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, primary_key=True)
    why = TextField(default="")
    """Why it ended, a stored text."""
    note = TextField(default="")
    """Errors of the search provider."""
    started_at = DoubleField()
    ended_at = DoubleField(null=True)


class DiscoveryPage(Table):
    """A page that a run fetched. It belongs to no watched site."""

    lasting_ids = True

    id = BigAutoField()
    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, index=False)
    url = TextField()
    canonical_key = TextField()
    host = TextField()
    operator = TextField()
    via = TextField(default="")
    """The page or query that led to it."""
    title = TextField(default="")
    text = TextField(default="{}")
    """JSON of its text by position, truncated."""
    score = DoubleField(default=0.0)
    """The topic's score, 0 to 1."""
    at = DoubleField()

    class Meta:
        indexes = ((("topic", "canonical_key"), True), (("topic", "host"), False))


class DiscoveryLink(Table):
    """A link seen by runs, to find who links where."""

    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, index=False)
    source = TextField()
    target = TextField()

    class Meta:
        primary_key = False
        indexes = ((("topic", "source", "target"), True), (("topic", "target"), False))


class Proposal(Table):
    """A site that a run found worth watching."""

    lasting_ids = True

    id = AutoField()
    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, index=False)
    host = TextField()
    state = TextField(default="proposed")
    """:class:`~store.discovery.values.ProposalState`."""
    score = DoubleField()
    """Higher is better; comparable within a topic."""
    pages = TextField(default="[]")
    """JSON list of [url, title, score], best first."""
    hubs = TextField(default="[]")
    """JSON list of [url, probability]: where new pages would appear."""
    why = TextField(default="")
    proposed_at = DoubleField()
    decided_at = DoubleField(null=True)

    class Meta:
        indexes = ((("topic", "host"), True), (("topic", "state", "score"), False))

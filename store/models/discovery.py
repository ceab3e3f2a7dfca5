"""The tables of domain discovery. Times are unix seconds, UTC; texts of sites are stored as they came.

::

    topic 1 ─── n discovery_run 1 ─── n discovery_round
            └── n discovery_page · n discovery_link   what runs read, and what that links to
            └── n proposal                            a site, its best pages, what the user said of it
"""

from __future__ import annotations

from peewee import (
    AutoField,
    BigAutoField,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    Model,
    TextField,
)

from store.models.topics import Topic


class DiscoveryRun(Model):
    """A bounded search for sites of a topic."""

    id = AutoField()
    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, index=True)
    status = TextField(default="running")
    """running (or cut off, and to be taken up again), done, stopped."""
    why = TextField(default="")
    """Why it ended, for people."""
    exploration = TextField(default="{}")
    """JSON of the run's state."""
    rounds = IntegerField()
    """As many as it may have."""
    pages = IntegerField()
    """As many as it may read."""
    started_at = DoubleField()
    updated_at = DoubleField()
    ended_at = DoubleField(null=True)

    class Meta:
        table_name = "discovery_run"
        legacy_table_names = False


class DiscoveryRound(Model):
    """One choice of an operator and what came of it."""

    run = ForeignKeyField(DiscoveryRun, on_delete="CASCADE", lazy_load=False, index=False)
    number = IntegerField()
    operator = TextField()
    scores = TextField(default="{}")
    """JSON: score of each operator when it was chosen; null = never tried."""
    asked = IntegerField()
    """Candidates that were to be read."""
    found = IntegerField()
    """Those that could be."""
    sites = IntegerField()
    """Hosts among them that the run had not seen."""
    reward = DoubleField()
    note = TextField(default="")
    """What the search provider said, if it was in trouble."""
    at = DoubleField()

    class Meta:
        table_name = "discovery_round"
        legacy_table_names = False
        primary_key = False
        indexes = ((("run", "number"), True),)


class DiscoveryPage(Model):
    """A page that a run read. It belongs to no watched site."""

    id = BigAutoField()
    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, index=False)
    run = ForeignKeyField(DiscoveryRun, on_delete="CASCADE", lazy_load=False, index=True)
    url = TextField()
    identity = TextField()
    host = TextField()
    operator = TextField()
    via = TextField(default="")
    """The page or the query that led to it."""
    title = TextField(default="")
    text = TextField(default="{}")
    """JSON of its text by position, bounded."""
    score = DoubleField(null=True)
    """What the topic makes of it, 0 to 1; NULL = not judged."""
    at = DoubleField()

    class Meta:
        table_name = "discovery_page"
        legacy_table_names = False
        indexes = ((("topic", "identity"), True), (("topic", "host"), False))


class DiscoveryLink(Model):
    """A link between addresses that runs saw: for who links where."""

    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, index=False)
    source = TextField()
    target = TextField()

    class Meta:
        table_name = "discovery_link"
        legacy_table_names = False
        primary_key = False
        indexes = ((("topic", "source", "target"), True), (("topic", "target"), False))


class Proposal(Model):
    """A site that a run found worth watching."""

    id = AutoField()
    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, index=False)
    host = TextField()
    state = TextField(default="proposed")
    """proposed, accepted or rejected."""
    score = DoubleField()
    """Larger is better; comparable between proposals of one topic."""
    pages = TextField(default="[]")
    """JSON list of [url, title, score], the best first."""
    hubs = TextField(default="[]")
    """JSON list of [url, probability]: where its new pages would be seen."""
    why = TextField(default="")
    proposed_at = DoubleField()
    decided_at = DoubleField(null=True)

    class Meta:
        table_name = "proposal"
        legacy_table_names = False
        indexes = ((("topic", "host"), True), (("topic", "state", "score"), False))


class SearchMeter(Model):
    """How often a search provider was asked."""

    provider = TextField(primary_key=True)
    meter = TextField()
    """JSON."""

    class Meta:
        table_name = "search_meter"
        legacy_table_names = False

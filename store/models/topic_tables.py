"""The tables of topics: what each learns from, what it makes of pages, which sites were found for it.

::

    topic 1 ─── n discovery_run 1 ─── n discovery_round
            └── n discovery_page · n discovery_link   what runs read, and what that links to
            └── n proposal                            a site, its best pages, what the user said of it
"""

from __future__ import annotations

from peewee import (
    AutoField,
    BigAutoField,
    BooleanField,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    TextField,
)

from store.models.crawl_tables import Page, Table


class Topic(Table):
    """What a user wants, from example pages and key words."""

    id = AutoField()
    name = TextField(unique=True)
    keywords = TextField(default="[]")
    """JSON list."""
    method = TextField(default="fused")
    state = TextField(default="waiting")
    """:class:`~store.enums.TopicState`."""
    why = TextField(default="")
    """What it waits for, or which of its examples are missing; for people."""
    model = TextField(default="")
    """JSON of the learned model; empty = none yet."""
    version = TextField(default="")
    """Of the model."""
    links = TextField(default="")
    """JSON of what was learned of links that lead to relevant pages."""
    warnings = TextField(default="[]")
    """JSON list of what learning found strange, for people."""
    created_at = DoubleField()
    changed_at = DoubleField()
    """When what it learns from last changed."""
    learned_at = DoubleField(null=True)
    """When the model was made."""


class TopicExample(Table):
    """A page that a topic learns from. It may lie outside every watched site."""

    id = AutoField()
    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, index=False)
    url = TextField()
    canonical_key = TextField()
    origin = TextField()
    """:class:`~store.enums.ExampleOrigin`."""
    title = TextField(default="")
    text = TextField(null=True)
    """JSON of its text by position; NULL = not had yet."""
    status = TextField(null=True)
    """How the last fetch of it ended; NULL = none was made."""
    failures = IntegerField(default=0)
    added_at = DoubleField()
    tried_at = DoubleField(null=True)
    due_at = DoubleField(null=True, index=True)
    """When it is to be fetched; NULL = not planned."""

    class Meta:
        indexes = ((("topic", "canonical_key"), True),)


class PageTopic(Table):
    """What a topic makes of a page."""

    page = ForeignKeyField(Page, on_delete="CASCADE", lazy_load=False, index=False)
    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, index=False)
    score = DoubleField()
    """0 to 1; 0.5 is where relevant begins."""
    verdict = TextField()
    """:class:`~store.enums.TopicVerdict`."""
    fetched = BooleanField()
    """False: a guess from the link that leads to it, which rejects nothing."""
    method = TextField()
    version = TextField()
    """Of the model that judged."""
    terms = TextField(default="[]")
    """JSON list of [term, share], the weightiest first."""
    at = DoubleField()

    class Meta:
        primary_key = False
        indexes = (
            (("page", "topic"), True),
            (("topic", "verdict", "page"), False),
            (("topic", "score"), False),
        )


class ExternalCandidate(Table):
    """A link that leads out of every watched site, towards what a topic wants."""

    id = BigAutoField()
    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, index=False)
    url = TextField()
    canonical_key = TextField()
    domain = TextField()
    """Registered domain: what is a new site is counted by it."""
    score = DoubleField()
    found_on = TextField()
    """URL of the page that shows it."""
    found_at = DoubleField()
    state = TextField(default="waiting")
    """:class:`~store.enums.ExternalCandidateState`, or the status that its fetch ended with."""

    class Meta:
        indexes = (
            (("topic", "canonical_key"), True),
            (("state", "score"), False),
            (("domain", "state"), False),
        )


class TopicBackground(Table):
    """What all topics compare with: counts of ordinary pages, by name."""

    name = TextField(primary_key=True)
    data = TextField()
    """JSON."""
    at = DoubleField()


class DiscoveryRun(Table):
    """A bounded search for sites of a topic."""

    id = AutoField()
    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, index=True)
    status = TextField(default="running")
    """:class:`~store.enums.RunStatus`."""
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


class DiscoveryRound(Table):
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
        primary_key = False
        indexes = ((("run", "number"), True),)


class DiscoveryPage(Table):
    """A page that a run read. It belongs to no watched site."""

    id = BigAutoField()
    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, index=False)
    run = ForeignKeyField(DiscoveryRun, on_delete="CASCADE", lazy_load=False, index=True)
    url = TextField()
    canonical_key = TextField()
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
        indexes = ((("topic", "canonical_key"), True), (("topic", "host"), False))


class DiscoveryLink(Table):
    """A link between addresses that runs saw: for who links where."""

    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, index=False)
    source = TextField()
    target = TextField()

    class Meta:
        primary_key = False
        indexes = ((("topic", "source", "target"), True), (("topic", "target"), False))


class Proposal(Table):
    """A site that a run found worth watching."""

    id = AutoField()
    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, index=False)
    host = TextField()
    state = TextField(default="proposed")
    """:class:`~store.enums.ProposalState`."""
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
        indexes = ((("topic", "host"), True), (("topic", "state", "score"), False))


class SearchMeter(Table):
    """How often a search provider was asked."""

    provider = TextField(primary_key=True)
    meter = TextField()
    """JSON."""

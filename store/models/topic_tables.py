"""Tables of topics: training examples, scores of pages, and discovery: runs and proposals.

::

    topic 1 ─── 1 discovery_run
            └── n discovery_page   fetched pages and their links
            └── n proposal                            a site, its best pages, the decision
"""

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
    """A topic, from example pages and key words."""

    id = AutoField()
    name = TextField(unique=True)
    keywords = TextField(default="[]")
    """JSON list."""
    include = TextField(default="[]")
    """JSON list of words: only pages with one of them are listed and announced."""
    exclude = TextField(default="[]")
    """JSON list of words: no page with any of them is."""
    description = TextField(default="")
    """A sentence that describes the topic; empty = none."""
    method = TextField(default="fused")
    state = TextField(default="waiting")
    """:class:`~store.enums.TopicState`."""
    why = TextField(default="")
    """Missing or awaited examples; for display."""
    model = TextField(default="")
    """JSON of the trained model; empty = none."""
    version = TextField(default="")
    """Of the model."""
    links = TextField(default="")
    """JSON of the link-order model."""
    warnings = TextField(default="[]")
    """JSON list of training warnings, for display."""
    created_at = DoubleField()
    changed_at = DoubleField()
    """When its training examples last changed."""
    learned_at = DoubleField(null=True)
    """When the model was trained."""


class TopicTag(Table):
    """A tag of a topic."""

    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, index=False)
    tag = TextField()

    class Meta:
        primary_key = False
        indexes = ((("topic", "tag"), True), (("tag", "topic"), False))


class TopicExample(Table):
    """A training example of a topic. It may be outside all watched sites."""

    id = AutoField()
    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, index=False)
    url = TextField()
    canonical_key = TextField(index=True)
    origin = TextField()
    """:class:`~store.enums.ExampleOrigin`."""
    title = TextField(default="")
    text = TextField(null=True)
    """JSON of its text by position; NULL = not fetched."""
    status = TextField(null=True)
    """Status of its last fetch; NULL = none."""
    failures = IntegerField(default=0)
    added_at = DoubleField()
    tried_at = DoubleField(null=True)
    due_at = DoubleField(null=True, index=True)
    """When to fetch it; NULL = not planned."""

    class Meta:
        indexes = ((("topic", "canonical_key"), True),)


class PageTopic(Table):
    """A topic's score of a page."""

    page = ForeignKeyField(Page, on_delete="CASCADE", lazy_load=False, index=False)
    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, index=False)
    score = DoubleField()
    """0 to 1; relevant from 0.5."""
    verdict = TextField()
    """:class:`~store.enums.TopicVerdict`."""
    fetched = BooleanField()
    """False = guessed from the link to it; rejects nothing."""
    method = TextField()
    version = TextField()
    """Of the model."""
    terms = TextField(default="[]")
    """JSON list of [term, share], heaviest first; of a guess, the example that the link is like."""
    at = DoubleField()

    class Meta:
        primary_key = False
        indexes = (
            (("page", "topic"), True),
            (("topic", "verdict", "page"), False),
            (("topic", "score"), False),
        )


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

    id = BigAutoField()
    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, index=False)
    url = TextField()
    canonical_key = TextField()
    operator = TextField()
    title = TextField(default="")
    text = TextField(default="{}")
    """JSON of its text by position, truncated."""
    links = TextField(default="[]")
    """JSON list of the URLs it links to."""
    score = DoubleField(default=0.0)
    """The topic's score, 0 to 1."""
    at = DoubleField()

    class Meta:
        indexes = ((("topic", "canonical_key"), True),)


class Proposal(Table):
    """A site that a run found worth watching."""

    id = AutoField()
    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, index=False)
    host = TextField()
    state = TextField(default="proposed")
    """:class:`~store.discovery.values.ProposalState`."""
    score = DoubleField()
    """Higher is better; comparable within a topic."""
    pages = TextField(default="[]")
    """JSON list of objects with url, title and score, best first."""
    hubs = TextField(default="[]")
    """JSON list of objects with url and probability: where new pages would appear."""
    why = TextField(default="")
    proposed_at = DoubleField()

    class Meta:
        indexes = ((("topic", "host"), True), (("topic", "state", "score"), False))

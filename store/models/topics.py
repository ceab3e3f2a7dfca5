"""The tables of topics: what is wanted, what it is learned from, what it makes of pages."""

from __future__ import annotations

from peewee import (
    AutoField,
    BigAutoField,
    BooleanField,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    Model,
    TextField,
)

from store.models.sites import Page


class Topic(Model):
    """What a user wants, from example pages and key words."""

    id = AutoField()
    name = TextField(unique=True)
    keywords = TextField(default="[]")
    """JSON list."""
    method = TextField(default="fused")
    state = TextField(default="waiting")
    """waiting (nothing to learn from yet), ready, paused."""
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

    class Meta:
        table_name = "topic"
        legacy_table_names = False


class TopicExample(Model):
    """A page that a topic learns from. It may lie outside every watched site."""

    id = AutoField()
    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, index=False)
    url = TextField()
    identity = TextField()
    origin = TextField()
    """example, or what a user said of a page that was found: relevant, irrelevant."""
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
        table_name = "topic_example"
        legacy_table_names = False
        indexes = ((("topic", "identity"), True),)


class PageTopic(Model):
    """What a topic makes of a page."""

    page = ForeignKeyField(Page, on_delete="CASCADE", lazy_load=False, index=False)
    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, index=False)
    score = DoubleField()
    """0 to 1; 0.5 is where relevant begins."""
    verdict = TextField()
    """relevant, grey or irrelevant."""
    fetched = BooleanField()
    """False: a guess from the link that leads to it, which rejects nothing."""
    method = TextField()
    version = TextField()
    """Of the model that judged."""
    terms = TextField(default="[]")
    """JSON list of [term, share], the weightiest first."""
    at = DoubleField()

    class Meta:
        table_name = "page_topic"
        legacy_table_names = False
        primary_key = False
        indexes = (
            (("page", "topic"), True),
            (("topic", "verdict", "page"), False),
            (("topic", "score"), False),
        )


class TopicLead(Model):
    """A link that leads out of every watched site, towards what a topic wants."""

    id = BigAutoField()
    topic = ForeignKeyField(Topic, on_delete="CASCADE", lazy_load=False, index=False)
    url = TextField()
    identity = TextField()
    domain = TextField()
    """Registered domain: what is a new site is counted by it."""
    score = DoubleField()
    found_on = TextField()
    """URL of the page that shows it."""
    found_at = DoubleField()
    state = TextField(default="waiting")
    """waiting, followed (its site is watched now), off topic, or the status that its fetch ended with."""

    class Meta:
        table_name = "topic_lead"
        legacy_table_names = False
        indexes = (
            (("topic", "identity"), True),
            (("state", "score"), False),
            (("domain", "state"), False),
        )


class TopicBackground(Model):
    """What all topics compare with: counts of ordinary pages, by name."""

    name = TextField(primary_key=True)
    data = TextField()
    """JSON."""
    at = DoubleField()

    class Meta:
        table_name = "topic_background"
        legacy_table_names = False

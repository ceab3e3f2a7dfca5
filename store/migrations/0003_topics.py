"""Create the tables of topics; let pages wait for their look in the order of what topics expect of them."""

from peewee import (
    SQL,
    AutoField,
    BigAutoField,
    BigIntegerField,
    BooleanField,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    Model,
    SqliteDatabase,
    TextField,
)


class Page(Model):
    id = BigIntegerField(primary_key=True)

    class Meta:
        table_name = "page"


class Topic(Model):
    id = AutoField()
    name = TextField(unique=True)
    keywords = TextField(default="[]")
    method = TextField(default="fused")
    state = TextField(default="waiting")
    why = TextField(default="")
    model = TextField(default="")
    version = TextField(default="")
    links = TextField(default="")
    warnings = TextField(default="[]")
    created_at = DoubleField()
    changed_at = DoubleField()
    learned_at = DoubleField(null=True)

    class Meta:
        table_name = "topic"


class TopicExample(Model):
    id = AutoField()
    topic = ForeignKeyField(Topic, on_delete="CASCADE", index=False)
    url = TextField()
    identity = TextField()
    origin = TextField()
    title = TextField(default="")
    text = TextField(null=True)
    status = TextField(null=True)
    failures = IntegerField(default=0)
    added_at = DoubleField()
    tried_at = DoubleField(null=True)
    due_at = DoubleField(null=True, index=True)

    class Meta:
        table_name = "topic_example"
        indexes = ((("topic", "identity"), True),)


class PageTopic(Model):
    page = ForeignKeyField(Page, on_delete="CASCADE", index=False)
    topic = ForeignKeyField(Topic, on_delete="CASCADE", index=False)
    score = DoubleField()
    verdict = TextField()
    fetched = BooleanField()
    method = TextField()
    version = TextField()
    terms = TextField(default="[]")
    at = DoubleField()

    class Meta:
        table_name = "page_topic"
        primary_key = False
        indexes = (
            (("page", "topic"), True),
            (("topic", "verdict", "page"), False),
            (("topic", "score"), False),
        )


class TopicLead(Model):
    id = BigAutoField()
    topic = ForeignKeyField(Topic, on_delete="CASCADE", index=False)
    url = TextField()
    identity = TextField()
    domain = TextField()
    score = DoubleField()
    found_on = TextField()
    found_at = DoubleField()
    state = TextField(default="waiting")

    class Meta:
        table_name = "topic_lead"
        indexes = (
            (("topic", "identity"), True),
            (("state", "score"), False),
            (("domain", "state"), False),
        )


class TopicBackground(Model):
    name = TextField(primary_key=True)
    data = TextField()
    at = DoubleField()

    class Meta:
        table_name = "topic_background"


TABLES = [Topic, TopicExample, PageTopic, TopicLead, TopicBackground]
COLUMNS = (
    ("site", "origin", TextField(default="{}")),
    ("page", "look_score", DoubleField(null=True)),
    ("page", "link_context", TextField(null=True)),
)
WAITING = """
CREATE INDEX page_waiting_by_score ON page (site_id, look_score, look_due_at)
WHERE look_due_at IS NOT NULL
"""


def up(migrator, db):
    """Create the tables, the columns and the index by which waiting pages are taken."""
    for key in (Topic.id, TopicExample.id, TopicLead.id):
        key.constraints = [SQL("AUTOINCREMENT")] if isinstance(db, SqliteDatabase) else []
    with db.bind_ctx([*TABLES, Page], bind_refs=False, bind_backrefs=False):
        db.create_tables(TABLES)
    migrator.migrate(*(migrator.add_column(*column) for column in COLUMNS))
    db.execute_sql(WAITING)


def down(migrator, db):
    """Drop the tables with all that was learned."""
    db.execute_sql("DROP INDEX page_waiting_by_score")
    migrator.migrate(*(migrator.drop_column(table, name) for table, name, _ in COLUMNS))
    with db.bind_ctx([*TABLES, Page], bind_refs=False, bind_backrefs=False):
        db.drop_tables(TABLES)

"""Create the tables of domain discovery: runs, their rounds, what they read, and what they propose."""

from peewee import (
    SQL,
    AutoField,
    BigAutoField,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    Model,
    SqliteDatabase,
    TextField,
)


class Topic(Model):
    id = AutoField()

    class Meta:
        table_name = "topic"


class DiscoveryRun(Model):
    id = AutoField()
    topic = ForeignKeyField(Topic, on_delete="CASCADE", index=True)
    status = TextField(default="running")
    why = TextField(default="")
    exploration = TextField(default="{}")
    rounds = IntegerField()
    pages = IntegerField()
    started_at = DoubleField()
    updated_at = DoubleField()
    ended_at = DoubleField(null=True)

    class Meta:
        table_name = "discovery_run"


class DiscoveryRound(Model):
    run = ForeignKeyField(DiscoveryRun, on_delete="CASCADE", index=False)
    number = IntegerField()
    operator = TextField()
    scores = TextField(default="{}")
    asked = IntegerField()
    found = IntegerField()
    sites = IntegerField()
    reward = DoubleField()
    note = TextField(default="")
    at = DoubleField()

    class Meta:
        table_name = "discovery_round"
        primary_key = False
        indexes = ((("run", "number"), True),)


class DiscoveryPage(Model):
    id = BigAutoField()
    topic = ForeignKeyField(Topic, on_delete="CASCADE", index=False)
    run = ForeignKeyField(DiscoveryRun, on_delete="CASCADE", index=True)
    url = TextField()
    identity = TextField()
    host = TextField()
    operator = TextField()
    via = TextField(default="")
    title = TextField(default="")
    text = TextField(default="{}")
    score = DoubleField(null=True)
    at = DoubleField()

    class Meta:
        table_name = "discovery_page"
        indexes = ((("topic", "identity"), True), (("topic", "host"), False))


class DiscoveryLink(Model):
    topic = ForeignKeyField(Topic, on_delete="CASCADE", index=False)
    source = TextField()
    target = TextField()

    class Meta:
        table_name = "discovery_link"
        primary_key = False
        indexes = ((("topic", "source", "target"), True), (("topic", "target"), False))


class Proposal(Model):
    id = AutoField()
    topic = ForeignKeyField(Topic, on_delete="CASCADE", index=False)
    host = TextField()
    state = TextField(default="proposed")
    score = DoubleField()
    pages = TextField(default="[]")
    hubs = TextField(default="[]")
    why = TextField(default="")
    proposed_at = DoubleField()
    decided_at = DoubleField(null=True)

    class Meta:
        table_name = "proposal"
        indexes = ((("topic", "host"), True), (("topic", "state", "score"), False))


class SearchMeter(Model):
    provider = TextField(primary_key=True)
    meter = TextField()

    class Meta:
        table_name = "search_meter"


TABLES = [DiscoveryRun, DiscoveryRound, DiscoveryPage, DiscoveryLink, Proposal, SearchMeter]


def up(migrator, db):
    """Create the tables."""
    for key in (DiscoveryRun.id, DiscoveryPage.id, Proposal.id):
        key.constraints = [SQL("AUTOINCREMENT")] if isinstance(db, SqliteDatabase) else []
    with db.bind_ctx([*TABLES, Topic], bind_refs=False, bind_backrefs=False):
        db.create_tables(TABLES)


def down(migrator, db):
    """Drop the tables with all that was found."""
    with db.bind_ctx([*TABLES, Topic], bind_refs=False, bind_backrefs=False):
        db.drop_tables(TABLES)

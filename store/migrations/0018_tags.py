"""Tags of sites and topics; words that a topic's pages must or must not have."""

from peewee import ForeignKeyField, IntegerField, Model, TextField


class Site(Model):
    id = IntegerField(primary_key=True)

    class Meta:
        table_name = "site"


class Topic(Model):
    id = IntegerField(primary_key=True)

    class Meta:
        table_name = "topic"


class SiteTag(Model):
    site = ForeignKeyField(Site, on_delete="CASCADE", index=False)
    tag = TextField()

    class Meta:
        table_name = "site_tag"
        primary_key = False
        indexes = ((("site", "tag"), True), (("tag", "site"), False))


class TopicTag(Model):
    topic = ForeignKeyField(Topic, on_delete="CASCADE", index=False)
    tag = TextField()

    class Meta:
        table_name = "topic_tag"
        primary_key = False
        indexes = ((("topic", "tag"), True), (("tag", "topic"), False))


MODELS = [SiteTag, TopicTag]


def up(migrator, db):
    """Create the tables and add the columns."""
    with db.bind_ctx(MODELS, bind_refs=False, bind_backrefs=False):
        db.create_tables(MODELS)
    migrator.migrate(
        migrator.add_column("topic", "include", TextField(default="[]")),
        migrator.add_column("topic", "exclude", TextField(default="[]")),
    )


def down(migrator, db):
    """Drop them."""
    migrator.migrate(
        migrator.drop_column("topic", "exclude"),
        migrator.drop_column("topic", "include"),
    )
    with db.bind_ctx(MODELS, bind_refs=False, bind_backrefs=False):
        db.drop_tables(MODELS)

"""Keep how a hub is read: as it is, from its JSON, or in a browser."""

from peewee import TextField


def up(migrator, db):
    """Add the column."""
    migrator.migrate(migrator.add_column("hub", "way", TextField(default="")))


def down(migrator, db):
    """Drop it."""
    migrator.migrate(migrator.drop_column("hub", "way"))

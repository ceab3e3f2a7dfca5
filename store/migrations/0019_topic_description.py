"""A topic may be described by a sentence."""

from peewee import TextField


def up(migrator, db):
    """Add the column."""
    migrator.migrate(migrator.add_column("topic", "description", TextField(default="")))


def down(migrator, db):
    """Drop it."""
    migrator.migrate(migrator.drop_column("topic", "description"))

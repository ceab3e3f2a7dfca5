"""Create the tables of the models.

A new store has them in their latest form, so every later migration counts as applied there.
"""

from store.database.schema import create_tables


def up(migrator, db):
    """Create all tables."""
    create_tables(db)

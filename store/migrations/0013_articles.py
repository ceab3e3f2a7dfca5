"""Keep the rule by which a page was not announced, and call monitored articles what they are."""

from peewee import TextField


def up(migrator, db):
    """Add the column, and rename the role: before, only articles of new folders were monitored."""
    migrator.migrate(migrator.add_column("page", "kept_back", TextField(null=True)))
    db.execute_sql("UPDATE hub SET role = 'article', score = 0.5 WHERE role = 'patrol'")


def down(migrator, db):
    """Drop the column, and give the role its old name."""
    db.execute_sql("UPDATE hub SET role = 'patrol', score = 0.0 WHERE role = 'article'")
    migrator.migrate(migrator.drop_column("page", "kept_back"))

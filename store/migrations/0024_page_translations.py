"""Keep which announced pages say the same in two languages."""

from peewee import (
    BigIntegerField,
    CompositeKey,
    DoubleField,
    ForeignKeyField,
    Model,
    SqliteDatabase,
    TextField,
)


class Page(Model):
    id = BigIntegerField(primary_key=True)

    class Meta:
        table_name = "page"


class PageTranslation(Model):
    page = ForeignKeyField(Page, on_delete="CASCADE")
    other = ForeignKeyField(Page, on_delete="CASCADE", index=True)
    language = TextField()
    likeness = DoubleField()

    class Meta:
        table_name = "page_translation"
        primary_key = CompositeKey("page", "other")


def up(migrator, db):
    """Create the table; pairs are found as vectors come."""
    # Without its row ids the table is its index.
    PageTranslation._meta.without_rowid = isinstance(db, SqliteDatabase)  # noqa: SLF001 - peewee's settings of a model have no other name
    with db.bind_ctx([PageTranslation, Page], bind_refs=False, bind_backrefs=False):
        db.create_tables([PageTranslation])


def down(migrator, db):
    """Drop it."""
    with db.bind_ctx([PageTranslation], bind_refs=False, bind_backrefs=False):
        db.drop_tables([PageTranslation])

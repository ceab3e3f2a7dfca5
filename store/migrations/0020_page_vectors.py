"""Keep a vector of each announced page; those announced before wait for theirs."""

from peewee import (
    AutoField,
    BigIntegerField,
    BlobField,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    Model,
    TextField,
    Value,
)


class Page(Model):
    id = BigIntegerField(primary_key=True)

    class Meta:
        table_name = "page"


class News(Model):
    page = ForeignKeyField(Page)

    class Meta:
        table_name = "news"


class PageText(Model):
    page = ForeignKeyField(Page, primary_key=True)
    forgotten_at = DoubleField(null=True)

    class Meta:
        table_name = "page_text"


class VectorSpace(Model):
    id = AutoField()
    name = TextField()

    class Meta:
        table_name = "vector_space"


class PageVector(Model):
    page = ForeignKeyField(Page, primary_key=True, on_delete="CASCADE")
    space = IntegerField(default=0)
    vector = BlobField(null=True)
    digest = BlobField()

    class Meta:
        table_name = "page_vector"
        indexes = ((("space", "page"), False),)


MODELS = [VectorSpace, PageVector]


def up(migrator, db):
    """Create the tables, and let what was announced wait."""
    with db.bind_ctx(MODELS, bind_refs=False, bind_backrefs=False):
        db.create_tables(MODELS)
    waiting = (
        News.select(News.page, Value(0), Value(b"", converter=False))
        .join(PageText, on=PageText.page == News.page)
        .where(PageText.forgotten_at.is_null())
    )
    columns = [PageVector.page, PageVector.space, PageVector.digest]
    PageVector.insert_from(waiting, columns).execute(db)


def down(migrator, db):
    """Drop them."""
    with db.bind_ctx(MODELS, bind_refs=False, bind_backrefs=False):
        db.drop_tables(MODELS)

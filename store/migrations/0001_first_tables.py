"""Create the first tables: site, host, page, hub, sighting, visit, change.

A frozen copy of the models as they were; later changes are migrations of their own.
"""

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


class Site(Model):
    id = AutoField()
    seed_url = TextField(unique=True)
    name = TextField(index=True)
    scope = TextField(default="{}")
    state = TextField(default="active")
    requests_per_day = DoubleField(null=True)
    min_interval_seconds = DoubleField(null=True)
    max_interval_seconds = DoubleField(null=True)
    added_at = DoubleField()
    probed_at = DoubleField(null=True)
    relaunched_at = DoubleField(null=True)
    mirrors = TextField(default="{}")
    budget = TextField(default="{}")
    revisit = TextField(default="{}")

    class Meta:
        table_name = "site"


class Host(Model):
    name = TextField(primary_key=True)
    next_allowed_at = DoubleField(default=0.0)
    failures = IntegerField(default=0)
    crawl_delay_seconds = DoubleField(null=True)
    robots = TextField(default="{}")

    class Meta:
        table_name = "host"


class Page(Model):
    id = BigAutoField()
    site = ForeignKeyField(Site, on_delete="CASCADE", index=False)
    identity = TextField()
    url = TextField()
    anchor = TextField(default="")
    title = TextField(default="")
    language = TextField(null=True)
    published_at = DoubleField(null=True)
    first_seen_at = DoubleField()
    first_hub_id = BigIntegerField(null=True)
    announced_at = DoubleField(null=True)
    state = TextField(default="known")
    moved_to = BigIntegerField(null=True)
    look_due_at = DoubleField(null=True)
    looked_at = DoubleField(null=True)
    body_md5 = TextField(null=True)

    class Meta:
        table_name = "page"
        indexes = (
            (("site", "identity"), True),
            (("announced_at",), False),
            (("site", "look_due_at"), False),
            (("url",), False),
        )


class Hub(Model):
    page = ForeignKeyField(Page, primary_key=True, on_delete="CASCADE")
    site_id = IntegerField()
    kind = TextField(default="html")
    role = TextField(default="list")
    state = TextField(default="candidate")
    score = DoubleField(default=0.0)
    why = TextField(default="")
    due_at = DoubleField()
    interval_seconds = DoubleField(null=True)
    baseline_at = DoubleField(null=True)
    visited_at = DoubleField(null=True)
    changed_at = DoubleField(null=True)
    visits = IntegerField(default=0)
    failures = IntegerField(default=0)
    new_pages = IntegerField(default=0)
    barren_visits = IntegerField(default=0)
    shown_links = IntegerField(default=0)
    etag = TextField(null=True)
    last_modified = TextField(null=True)
    body_md5 = TextField(null=True)
    links_md5 = TextField(null=True)
    last_status = TextField(null=True)
    next_url = TextField(null=True)
    revisit = TextField(default="{}")

    class Meta:
        table_name = "hub"
        indexes = ((("site_id", "due_at"), False),)


class Sighting(Model):
    hub = ForeignKeyField(Page, on_delete="CASCADE", index=False)
    page = ForeignKeyField(Page, on_delete="CASCADE", index=True)
    first_seen_at = DoubleField()
    gone_at = DoubleField(null=True)
    anchor = TextField(default="")
    tag_path = TextField(default="")
    position = IntegerField(default=0)

    class Meta:
        table_name = "sighting"
        primary_key = False
        indexes = ((("hub", "page"), True),)


class Visit(Model):
    id = BigAutoField()
    page = ForeignKeyField(Page, on_delete="CASCADE", index=False)
    at = DoubleField(index=True)
    status = TextField()
    http_code = IntegerField(null=True)
    body_bytes = IntegerField(default=0)
    elapsed_seconds = DoubleField(default=0.0)
    links = IntegerField(default=0)
    new_pages = IntegerField(default=0)
    gap = BooleanField(default=False)
    detail = TextField(default="")

    class Meta:
        table_name = "visit"
        indexes = ((("page", "at"), False),)


class Change(Model):
    id = BigAutoField()
    site = ForeignKeyField(Site, on_delete="CASCADE", index=False)
    page = ForeignKeyField(Page, null=True, on_delete="CASCADE", index=True)
    kind = TextField()
    at = DoubleField(index=True)
    hub_id = BigIntegerField(null=True)
    detail = TextField(default="")
    body_before = TextField(null=True)
    body_after = TextField(null=True)

    class Meta:
        table_name = "change"
        indexes = ((("site", "at"), False), (("kind", "id"), False))


TABLES = [Site, Host, Page, Hub, Sighting, Visit, Change]


def up(migrator, db):
    """Create the tables and their indexes.

    Ids are never given out twice: cursors, and visits under way while a site is removed, name them.
    PostgreSQL does so by itself.
    """
    for key in (Site.id, Page.id, Change.id):
        key.constraints = [SQL("AUTOINCREMENT")] if isinstance(db, SqliteDatabase) else []
    with db.bind_ctx(TABLES):
        db.create_tables(TABLES)


def down(migrator, db):
    """Drop the tables with all that is in them."""
    with db.bind_ctx(TABLES):
        db.drop_tables(TABLES)

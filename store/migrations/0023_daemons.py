"""Let several daemons share a store: who is at work, whose each site is, and which hosts are being asked."""

from peewee import (
    AutoField,
    BooleanField,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    Model,
    TextField,
)


class Site(Model):
    id = AutoField()

    class Meta:
        table_name = "site"


class Daemon(Model):
    id = AutoField()
    name = TextField()
    shard = IntegerField(null=True)
    shards = IntegerField(null=True)
    version = TextField(default="")
    joined_at = DoubleField()
    beat_at = DoubleField()
    seen_at = DoubleField(default=0.0)
    lease_until = DoubleField()
    is_leader = BooleanField(default=False)

    class Meta:
        table_name = "daemon"
        indexes = ((("shard", "shards"), True),)


class DaemonSite(Model):
    site = ForeignKeyField(Site, primary_key=True, on_delete="CASCADE")
    daemon = ForeignKeyField(Daemon, on_delete="CASCADE")

    class Meta:
        table_name = "daemon_site"


class HostClaim(Model):
    name = TextField(primary_key=True)
    daemon = ForeignKeyField(Daemon, null=True, on_delete="SET NULL")
    free_at = DoubleField()
    next_daemon = IntegerField(null=True)
    next_until = DoubleField(default=0.0)

    class Meta:
        table_name = "host_claim"


MODELS = [Daemon, DaemonSite, HostClaim]


def up(migrator, db):
    """Create the tables."""
    with db.bind_ctx(MODELS, bind_refs=False, bind_backrefs=False):
        db.create_tables(MODELS)


def down(migrator, db):
    """Drop them."""
    with db.bind_ctx(MODELS, bind_refs=False, bind_backrefs=False):
        db.drop_tables(MODELS)

"""Tables of the daemon itself."""

from peewee import (
    AutoField,
    BooleanField,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    TextField,
)

from store.models.crawl_tables import Site, Table


class Quarantine(Table):
    """A page, site, topic or job whose work raised a bug, with its trace."""

    id = AutoField()
    kind = TextField()
    key = TextField()
    """Id of the page, site or topic, or name of the job."""
    purpose = TextField(default="")
    """Purpose of the fetch."""
    at = DoubleField()
    """Of the latest failure."""
    again_at = DoubleField()
    """When it is tried again; at once after an upgrade."""
    times = IntegerField(default=1)
    """Failures in a row."""
    version = TextField()
    """Of Hubwatch."""
    error = TextField()
    trace = TextField()

    class Meta:
        indexes = ((("kind", "key", "purpose"), True),)


# The three tables below are for daemons that share a PostgreSQL store, and empty in a SQLite file. Their
# times are those of the server's clock, since the machines' clocks may differ.


class Daemon(Table):
    """A running daemon; ids are never reused, so they distinguish an old holder from a new one."""

    id = AutoField()
    name = TextField()
    """Host and process, for display."""
    version = TextField(default="")
    """Of Hubwatch."""
    joined_at = DoubleField()
    beat_at = DoubleField()
    """Of the last heartbeat."""
    """Until when it knows who joined, and shares the hosts with them."""
    lease_until = DoubleField()
    """From then on any other daemon may remove it."""
    is_leader = BooleanField(default=False)
    """Whether it is the leader."""


class DaemonSite(Table):
    """A site, and the one daemon that may visit it."""

    site = ForeignKeyField(Site, primary_key=True, on_delete="CASCADE")
    daemon = ForeignKeyField(Daemon, on_delete="CASCADE")


class HostClaim(Table):
    """A host that one of several daemons is asking, or asked a moment ago."""

    name = TextField(primary_key=True)
    daemon = ForeignKeyField(Daemon, null=True, on_delete="SET NULL")
    """NULL = no request is under way."""
    free_at = DoubleField()
    """The earliest time of the next request."""
    next_daemon = IntegerField(null=True)
    """Daemon with the next turn: the first that was refused."""
    next_until = DoubleField(default=0.0)
    """End of the reservation of that turn."""

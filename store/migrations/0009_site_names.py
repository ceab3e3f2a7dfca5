"""Give each site a name of its own: sites of one host shared it, and a command meant all of them."""

from urllib.parse import urlsplit

from peewee import IntegerField, Model, TextField


class Site(Model):
    id = IntegerField(primary_key=True)
    seed_url = TextField()
    name = TextField(index=True)

    class Meta:
        table_name = "site"


def free_name(name, seed_url, taken):
    """Return the shortest name that is free, the seed itself at last."""
    parts = urlsplit(seed_url)
    port = f":{parts.port}" if parts.port else ""
    path = parts.path.rstrip("/")
    candidates = (name, name + port, name + path, name + port + path)
    return next((one for one in candidates if one not in taken), seed_url)


def up(migrator, db):
    """Rename all but the first site of each name, and let names be unique."""
    rows = list(
        Site.select(Site.id, Site.seed_url, Site.name).order_by(Site.id).tuples().execute(db)
    )
    first = {}
    for site_id, _, name in rows:
        first.setdefault(name, site_id)
    taken = set(first)
    for site_id, seed_url, name in rows:
        if first[name] == site_id:
            continue
        own = free_name(name, seed_url, taken)
        taken.add(own)
        Site.update(name=own).where(Site.id == site_id).execute(db)
    db.execute_sql("DROP INDEX site_name")
    db.execute_sql("CREATE UNIQUE INDEX site_name ON site (name)")


def down(migrator, db):
    """Let names be shared again; those that were given stay."""
    db.execute_sql("DROP INDEX site_name")
    db.execute_sql("CREATE INDEX site_name ON site (name)")

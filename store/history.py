"""What a site has to lose, and taking it away with all it has."""

from __future__ import annotations

from peewee import Database

from store.models import Change, Label, Site

_KEPT_LABELS = ("user", "imported")


def has_history(database: Database, site_id: int) -> bool:
    """Tell whether a site has announced anything, or a person has judged a page of it.

    What people read and star they find among what was announced.
    """
    told = (Change.site == site_id) & Change.kind.in_(("added", "backfill"))
    said = (Label.site == site_id) & Label.origin.in_(_KEPT_LABELS)
    return bool(
        Change.select(Change.id).where(told).exists(database)
        or Label.select(Label.identity).where(said).exists(database)
    )


def delete_site(database: Database, site_id: int) -> None:
    """Delete a site with all that hangs on it, and what its pages' behaviour said."""
    written = (Label.site == site_id) & (Label.origin == "behaviour")
    Label.delete().where(written).execute(database)
    Site.delete().where(Site.id == site_id).execute(database)


def withdraw(database: Database, site_id: int) -> bool:
    """Delete a site that has no history; return whether it had none."""
    if has_history(database, site_id):
        return False
    # The index of words holds announced pages alone: there is nothing to take out of it.
    delete_site(database, site_id)
    return True

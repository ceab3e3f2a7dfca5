"""What a site has to lose, and taking it away with all it has."""

from __future__ import annotations

from peewee import Database

from store.enums import ChangeKind, LabelOrigin, SiteEventKind
from store.models import Change, Label, Site


def has_history(database: Database, site_id: int) -> bool:
    """Tell whether a site has announced anything, or a person has judged a page of it.

    What people read and star they find among what was announced.
    """
    kinds = (ChangeKind.ADDED, SiteEventKind.BACKFILL)
    told = Change.select(Change.id).where((Change.site == site_id) & Change.kind.in_(kinds))
    said = (Label.site == site_id) & (Label.origin != LabelOrigin.BEHAVIOUR)
    labels = Label.select(Label.identity).where(said)
    return bool(told.exists(database) or labels.exists(database))


def delete_site(database: Database, site_id: int) -> None:
    """Delete a site with all that hangs on it, and what its pages' behaviour said."""
    written = (Label.site == site_id) & (Label.origin == LabelOrigin.BEHAVIOUR)
    Label.delete().where(written).execute(database)
    Site.delete().where(Site.id == site_id).execute(database)

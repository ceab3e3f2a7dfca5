"""What was said of URLs: labels by their origin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from peewee import chunked

from store.models import Label
from store.reader import Reader
from store.texts import storable
from store.values import LabelEntry

_LABEL_COLUMNS = [
    {"site_id": Label.site}.get(f.name) or getattr(Label, f.name) for f in fields(LabelEntry)
]


class LabelQueries(Reader):
    """The labels of one database."""

    def labels(self, origin: str | None = None) -> list[LabelEntry]:
        """Return all labels, or those of one origin, in the order in which they were first said."""
        query = Label.select(*_LABEL_COLUMNS).order_by(Label.at, Label.identity)
        if origin is not None:
            query = query.where(Label.origin == origin)
        return [LabelEntry(*row) for row in self._rows(query)]

    def labels_of(self, identity: str) -> list[LabelEntry]:
        """Return what was said of one page."""
        query = Label.select(*_LABEL_COLUMNS).where(Label.identity == storable(identity, None))
        return [LabelEntry(*row) for row in self._rows(query.order_by(Label.at))]

    def site_labels(self, site_id: int, origin: str) -> list[LabelEntry]:
        """Return what one origin said of the pages of a site."""
        said = (Label.site == site_id) & (Label.origin == origin)
        query = Label.select(*_LABEL_COLUMNS).where(said).order_by(Label.at)
        return [LabelEntry(*row) for row in self._rows(query)]

    def corrections(self, identities: Sequence[str]) -> dict[str, str]:
        """Return what users said of these pages: hub or topic, by identity."""
        found: dict[str, str] = {}
        for batch in chunked(identities, 500):
            said = Label.identity.in_(batch) & (Label.origin == "user")
            query = Label.select(Label.identity, Label.label).where(said)
            found.update(self._rows(query))
        return found

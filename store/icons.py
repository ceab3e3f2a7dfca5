"""The icons of sites: ``store.icons``. Times are unix seconds, UTC."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from peewee import fn

from store.database import writing
from store.database.repository import Repository
from store.database.statements import Prepared
from store.enums import SiteStatus
from store.models import Hub, Site, SiteIcon

_REQUESTS = Prepared(
    lambda site: SiteIcon.select(SiteIcon.requests).where(
        (SiteIcon.site == site) & (SiteIcon.requests > 0)
    )
)


@dataclass(frozen=True, slots=True)
class Icon:
    """A picture as the site sent it."""

    media_type: str
    content: bytes


class Icons(Repository):
    """Queries and writes, on one database."""

    def due(self, now: float) -> tuple[int, int] | None:
        """Return the id of a site whose icon is due, and how often in a row it failed; None = none is.

        Sites of which no list was read yet have to wait: their pages say where the icon is.
        """
        known = (Hub.site_id == Site.id) & Hub.baseline_at.is_null(is_null=False)
        query = (
            Site.select(Site.id, fn.COALESCE(SiteIcon.failures, 0))
            .left_outer_join(SiteIcon, on=SiteIcon.site == Site.id)
            .where(Site.state == SiteStatus.ACTIVE)
            .where(SiteIcon.due_at.is_null() | (SiteIcon.due_at <= now))
            .where(fn.EXISTS(Hub.select(Hub.page).where(known)))
            .order_by(fn.COALESCE(SiteIcon.due_at, 0.0), Site.id)
            .limit(1)
        )
        rows = self._rows(query)
        return rows[0] if rows else None

    def put_off(self, site: int, due_at: float) -> None:
        """Let a site wait, as nothing could be asked of it now."""
        row = SiteIcon.insert(site=site, due_at=due_at)
        self._write(row.on_conflict(conflict_target=[SiteIcon.site], preserve=[SiteIcon.due_at]))

    def put(
        self, site: int, icon: Icon | None, *, due_at: float, failures: int, requests: int
    ) -> None:
        """Keep what *requests* brought, and when to ask again; without an icon the last one stays."""
        row: dict[str, object] = {"due_at": due_at, "failures": failures}
        if icon is not None:
            digest = hashlib.blake2b(icon.content, digest_size=8).hexdigest()
            row |= {"media_type": icon.media_type, "digest": digest, "content": icon.content}
        with writing(self._db, self._where):
            SiteIcon.insert(site=site, due_at=due_at).on_conflict_ignore().execute(self._db)
            made = SiteIcon.requests + requests
            new = SiteIcon.update(**row, requests=made).where(SiteIcon.site == site)
            new.execute(self._db)

    def unpaid(self, site: int) -> int:
        """Return how many requests a site's budget has not paid for; they count as paid from now on."""
        found = self._asked(_REQUESTS, site=site)
        if found:
            self._write(SiteIcon.update(requests=0).where(SiteIcon.site == site))
        return sum(count for (count,) in found)

    def digests(self) -> dict[int, str]:
        """Return the digest of each site's icon by site id, without those that have none."""
        query = SiteIcon.select(SiteIcon.site, SiteIcon.digest).where(SiteIcon.digest != "")
        return dict(self._rows(query))

    def icon(self, digest: str) -> Icon | None:
        """Return an icon by its digest."""
        query = SiteIcon.select(SiteIcon.media_type, SiteIcon.content)
        rows = self._rows(query.where(SiteIcon.digest == digest).limit(1))
        return Icon(rows[0][0], bytes(rows[0][1])) if rows else None

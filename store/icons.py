"""The icons of sites: ``store.icons``. Times are unix seconds, UTC."""

from peewee import fn

from store.database.repository import Repository
from store.database.statements import Prepared
from store.enums import SiteStatus
from store.files.page_cache import body_md5
from store.models import Hub, Site, SiteIcon

_UNPAID = Prepared(lambda site: SiteIcon.select(SiteIcon.requests).where(SiteIcon.site == site))


class Icons(Repository):
    """Queries and writes, on one database."""

    def due(self, now: float) -> dict[int, int]:
        """Return the site whose icon has been due longest, with how often in a row it failed; empty = none.

        Sites of which no list was read yet have to wait: their pages say where the icon is.
        """
        known = (Hub.site_id == Site.id) & Hub.baseline_at.is_null(is_null=False)
        query = (
            Site.select(Site.id, fn.COALESCE(SiteIcon.failures, 0))
            .left_outer_join(SiteIcon, on=SiteIcon.site == Site.id)
            .where(Site.state == SiteStatus.ACTIVE, fn.COALESCE(SiteIcon.due_at, 0.0) <= now)
            .where(fn.EXISTS(Hub.select(Hub.page).where(known)))
            .order_by(fn.COALESCE(SiteIcon.due_at, 0.0), Site.id)
            .limit(1)
        )
        return dict(self._rows(query))

    def put(
        self, site: int, content: bytes = b"", *, due_at: float, failures: int = 0, made: int = 0
    ) -> None:
        """Keep what *made* requests brought, and when to ask again; without content the last icon stays."""
        row: dict[str, object] = {"due_at": due_at, "failures": failures}
        if content:
            row |= {"digest": body_md5(content), "content": content}
        new = SiteIcon.insert(site=site, requests=made, **row).on_conflict(
            conflict_target=[SiteIcon.site],
            preserve=[getattr(SiteIcon, name) for name in row],
            update={SiteIcon.requests: SiteIcon.requests + made},
        )
        self._write(new)

    def unpaid(self, site: int) -> int:
        """Return how many requests a site's budget has not paid for; they count as paid from now on."""
        made: int = sum(count for (count,) in self._asked(_UNPAID, site=site))
        if made:
            self._write(SiteIcon.update(requests=0).where(SiteIcon.site == site))
        return made

    def digests(self) -> dict[int, str]:
        """Return the digests of the icons by site id."""
        query = SiteIcon.select(SiteIcon.site, SiteIcon.digest)
        return dict(self._rows(query.where(SiteIcon.digest.is_null(is_null=False))))

    def content(self, digest: str) -> bytes:
        """Return the icon with this digest; empty = there is none."""
        query = SiteIcon.select(SiteIcon.content).where(SiteIcon.digest == digest)
        return bytes(self._scalar(query.limit(1)) or b"")

"""Near-duplicate texts: ``store.near_duplicates``, an index from bands of MinHash signatures to pages.

Texts that share a band are compared by whole signature (Leskovec, Rajaraman and Ullman, *Mining of
Massive Datasets*, section 3.4).
"""

import hashlib
from dataclasses import dataclass

from peewee import JOIN, Database

from store.database.repository import Repository
from store.database.statements import Inserted, Prepared, any_of
from store.models import News, Page, PageBand, PageText, Site

# Least share of equal signature values of copies, an estimate of Jaccard similarity.
SAME_TEXT = 0.75
# Pages of a band compared, the latest: a copy mostly follows its source closely.
MAX_OF_BAND = 20
MAX_COPIES = 200
# Bytes of a band: five values. Texts with Jaccard similarity 0.75 share one of twelve bands with probability
# 0.96, with similarity 0.3 with 0.03.
_BAND_BYTES = 10

_NO_BANDS = Prepared(lambda page: PageBand.delete().where(PageBand.page == page))
_BANDS = Inserted(PageBand)
_SIGNATURES = Prepared(
    lambda pages: PageText.select(PageText.page, PageText.signature, PageText.cluster).where(
        any_of(PageText.page, pages)
    )
)
_OF_BAND = Prepared(
    lambda band, but: (
        PageBand.select(PageBand.page)
        .where((PageBand.band == band) & (PageBand.page != but))
        .order_by(PageBand.page.desc())
        .limit(MAX_OF_BAND)
    )
)


@dataclass(frozen=True, slots=True)
class Copy:
    """A page in a cluster of near-duplicates."""

    page_id: int
    url: str
    title: str
    site: str
    site_id: int
    first_seen_at: float
    published_at: float | None
    found_at: float | None
    """When it was announced; None = never."""
    alike: float
    """Share of its signature equal to the queried page's."""


class NearDuplicates(Repository):
    """Queries, on one database."""

    def of(self, page_id: int) -> list[Copy]:
        """Return the other pages with nearly the text of a page, first seen first."""
        mine = PageText.select(PageText.cluster, PageText.signature)
        cluster, signature = next(
            iter(self._rows(mine.where(PageText.page == page_id))), (None, None)
        )
        if cluster is None:
            return []
        query = (
            PageText.select(
                *(Page.id, Page.url, Page.title, Site.name, Site.id),
                *(Page.first_seen_at, Page.published_at, News.found_at, PageText.signature),
            )
            .join(Page, on=Page.id == PageText.page)
            .join(Site, on=Site.id == Page.site)
            .join(News, JOIN.LEFT_OUTER, on=News.page == Page.id)
            .where((PageText.cluster == cluster) & (PageText.page != page_id))
            .order_by(PageText.page)
            .limit(MAX_COPIES)
        )
        found = [
            Copy(*(*row[:-1], agreement(bytes(signature or b""), bytes(row[-1] or b""))))
            for row in self._rows(query)
        ]
        return sorted(found, key=lambda copy: (copy.first_seen_at, copy.page_id))


def put_signature(database: Database, page_id: int, signature: bytes | None) -> int | None:
    """Index a page's signature, replacing the previous one.

    Returns the id of the page that represents its cluster, its own if there is no other; None = no signature.
    """
    _NO_BANDS.run(database, page=page_id)
    if signature is None:
        return None
    bands = bands_of(signature)
    best: tuple[float, int, int] | None = None
    candidates = _candidates(database, page_id, bands)
    for other, theirs, cluster in _SIGNATURES.rows(database, pages=candidates):
        alike = agreement(signature, bytes(theirs or b""))
        # The most similar; on a tie the page known first.
        if alike >= SAME_TEXT and (best is None or (alike, -other) > best[:2]):
            best = (alike, -other, other if cluster is None else cluster)
    _BANDS.run(database, [{"band": band, "page": page_id} for band in bands])
    return page_id if best is None else best[2]


def bands_of(signature: bytes) -> list[int]:
    """Return the hashes of a signature's bands, below 2**63."""
    starts = range(0, len(signature), _BAND_BYTES)
    return [_hash(start, signature[start : start + _BAND_BYTES]) for start in starts]


def _hash(start: int, values: bytes) -> int:
    digest = hashlib.blake2b(values, digest_size=8, person=f"band {start}".encode())
    return int.from_bytes(digest.digest(), "little") >> 1


def _candidates(database: Database, page_id: int, bands: list[int]) -> list[int]:
    found: set[int] = set()
    for band in bands:
        rows = _OF_BAND.rows(database, band=band, but=page_id)
        found |= {page for (page,) in rows}
    return sorted(found)


def agreement(one: bytes, other: bytes) -> float:
    """Return the share of equal 16-bit values in two signatures; 0 if their lengths differ."""
    if len(one) != len(other) or not one:
        return 0.0
    pairs = zip(memoryview(one).cast("H"), memoryview(other).cast("H"), strict=True)
    return sum(a == b for a, b in pairs) / (len(one) // 2)

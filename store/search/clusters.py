"""Near-duplicate texts: an index from bands of MinHash signatures to pages.

Texts that share a band are compared by whole signature (Leskovec, Rajaraman and Ullman, *Mining of
Massive Datasets*, section 3.4).
"""

from __future__ import annotations

from peewee import Database

from store.database.statements import Inserted, Prepared, any_of
from store.models import PageBand, PageText
from store.values import ReadText

# Texts are copies from this share of equal signature values on, an estimate of Jaccard similarity.
SAME_TEXT = 0.75
# Pages of a band compared, the latest: a copy mostly follows its source closely.
MAX_OF_BAND = 20


_NO_BANDS = Prepared(lambda page: PageBand.delete().where(PageBand.page == page))
_BANDS = Inserted(PageBand, ("band", "page"))
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


def put_bands(database: Database, page_id: int, bands: tuple[int, ...]) -> None:
    """Index a page's signature, replacing the previous one."""
    _NO_BANDS.run(database, page=page_id)
    _BANDS.run(database, [{"band": band, "page": page_id} for band in bands])


def cluster_of(database: Database, page_id: int, read: ReadText) -> int | None:
    """Return the id of the page that represents this text's cluster; its own if there is no other."""
    if read.signature is None:
        return None
    best: tuple[float, int, int] | None = None
    candidates = _candidates(database, page_id, read.bands)
    for other, signature, cluster in _SIGNATURES.rows(database, pages=candidates):
        alike = agreement(read.signature, bytes(signature or b""))
        # The most similar; on a tie the page known first.
        if alike >= SAME_TEXT and (best is None or (alike, -other) > best[:2]):
            best = (alike, -other, other if cluster is None else cluster)
    return page_id if best is None else best[2]


def _candidates(database: Database, page_id: int, bands: tuple[int, ...]) -> list[int]:
    found: set[int] = set()
    for band in dict.fromkeys(bands):
        rows = _OF_BAND.rows(database, band=band, but=page_id)
        found |= {page for (page,) in rows}
    return sorted(found)


def agreement(one: bytes, other: bytes) -> float:
    """Return the share of equal 16-bit values in two signatures; 0 if their lengths differ."""
    if len(one) != len(other) or not one:
        return 0.0
    pairs = zip(memoryview(one).cast("H"), memoryview(other).cast("H"), strict=True)
    return sum(a == b for a, b in pairs) / (len(one) // 2)

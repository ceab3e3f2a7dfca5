"""Near-duplicate texts: an index from bands of MinHash signatures to pages.

Texts that share a band are compared by whole signature (Leskovec, Rajaraman and Ullman, *Mining of
Massive Datasets*, section 3.4).
"""

from __future__ import annotations

from peewee import Database

from store.models import PageBand, PageText
from store.repository import MAX_ROWS, batches
from store.values import ReadText

# Texts are copies from this share of equal signature values on, an estimate of Jaccard similarity.
SAME_TEXT = 0.75
# Pages of a band compared, the latest: a copy mostly follows its source closely.
MAX_OF_BAND = 20


def put_bands(database: Database, page_id: int, bands: tuple[int, ...]) -> None:
    """Index a page's signature, replacing the previous one."""
    PageBand.delete().where(PageBand.page == page_id).execute(database)
    for batch in batches(bands, MAX_ROWS):
        rows = [{"band": band, "page": page_id} for band in batch]
        PageBand.insert_many(rows).execute(database)


def cluster_of(database: Database, page_id: int, read: ReadText) -> int | None:
    """Return the id of the page that represents this text's cluster; its own if there is no other."""
    if read.signature is None:
        return None
    best: tuple[float, int, int] | None = None
    candidates = _candidates(database, page_id, read.bands)
    query = PageText.select(PageText.page, PageText.signature, PageText.cluster).where(
        PageText.page.in_(candidates)
    )
    for other, signature, cluster in query.tuples().execute(database):
        alike = agreement(read.signature, bytes(signature or b""))
        # The most similar; on a tie the page known first.
        if alike >= SAME_TEXT and (best is None or (alike, -other) > best[:2]):
            best = (alike, -other, other if cluster is None else cluster)
    return page_id if best is None else best[2]


def _candidates(database: Database, page_id: int, bands: tuple[int, ...]) -> list[int]:
    found: set[int] = set()
    for band in dict.fromkeys(bands):
        query = (
            PageBand.select(PageBand.page)
            .where((PageBand.band == band) & (PageBand.page != page_id))
            .order_by(PageBand.page.desc())
            .limit(MAX_OF_BAND)
        )
        found |= {page for (page,) in query.tuples().execute(database)}
    return sorted(found)


def agreement(one: bytes, other: bytes) -> float:
    """Return the share of equal 16-bit values in two signatures; 0 if their lengths differ."""
    if len(one) != len(other) or not one:
        return 0.0
    pairs = zip(memoryview(one).cast("H"), memoryview(other).cast("H"), strict=True)
    return sum(a == b for a, b in pairs) / (len(one) // 2)

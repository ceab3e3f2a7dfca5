"""From a page's HTML to what the store keeps of its text.

Copies and re-publications are recognised by a MinHash signature of the text. It is represented by its runs of
four words (four characters in scripts without spaces), without noise. datasketch makes the signature: 60
values of which 16 bits are kept.
"""

from __future__ import annotations

import hashlib
import re

from incremental.parse import Page, PageKind
from incremental.parse.history.noise import prose_of
from incremental.parse.main_text import main_text
from store.values import ReadText

SHINGLE = 4
# With fewer, a text is too short to be called a copy: notices of one line are alike.
MIN_SHINGLES = 40
MAX_TOKENS = 20_000
# Two texts with Jaccard similarity 0.75 share a band with probability 0.96, with similarity 0.3 with 0.03
# (Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, 3.4).
BANDS, ROWS = 12, 5
_TOKEN = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_]+"
)


def read_text(page: Page, html: str, digest: str) -> ReadText:
    """Return the text of a page parsed from *html* (MD5 *digest*); only the title if it is not HTML."""
    text = main_text(html, page.url) if page.kind is PageKind.HTML else ""
    signature, bands = fingerprint(text)
    return ReadText(
        title=page.title,
        text=text,
        md5=digest,
        language=page.language,
        signature=signature,
        bands=bands,
    )


def whole(title: str, text: str) -> str:
    """Return title and text for comparison: the title is the first line, once."""
    first, _, _ = text.partition("\n")
    return text if not title or first.strip() == title.strip() else f"{title}\n{text}"


def fingerprint(text: str) -> tuple[bytes | None, tuple[int, ...]]:
    """Return a text's signature and the hashes of its bands (below 2**63); None, () for a short one."""
    tokens = _TOKEN.findall(prose_of(text).casefold())[:MAX_TOKENS]
    runs = zip(*(tokens[start:] for start in range(SHINGLE)), strict=False)
    shingles = {" ".join(run).encode() for run in runs}
    if len(shingles) < MIN_SHINGLES:
        return None, ()
    import numpy as np  # noqa: PLC0415 - only who reads pages needs it
    from datasketch import MinHash  # noqa: PLC0415 - takes the better part of a second to load

    # Stored signatures must stay comparable, so scheme and seed are fixed.
    minhash = MinHash(num_perm=BANDS * ROWS, seed=1, scheme="affine32")
    minhash.update_batch(sorted(shingles))
    values = np.asarray(minhash.hashvalues, dtype="<u4").reshape(BANDS, ROWS)
    bands = tuple(_band(number, values[number].tobytes()) for number in range(BANDS))
    return (values & 0xFFFF).astype("<u2").tobytes(), bands


def _band(number: int, values: bytes) -> int:
    digest = hashlib.blake2b(values, digest_size=8, person=f"band {number}".encode())
    return int.from_bytes(digest.digest(), "little") >> 1

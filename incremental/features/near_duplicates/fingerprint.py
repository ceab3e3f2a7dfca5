"""The signature of a text, by which copies and re-publications are recognised.

MinHash of the text's runs of four words (four characters in scripts without spaces), without noise.
datasketch makes it: 60 values of which 16 bits are kept.
"""

import re

from datasketch import MinHash

from incremental.parse.history.noise import prose_of

SHINGLE = 4
# With fewer, a text is too short to be called a copy: notices of one line are alike.
MIN_SHINGLES = 40
MAX_TOKENS = 20_000
VALUES = 60
_TOKEN = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_]+"
)


def fingerprint(text: str) -> bytes | None:
    """Return a text's signature; None for a short one."""
    tokens = _TOKEN.findall(prose_of(text).casefold())[:MAX_TOKENS]
    runs = zip(*(tokens[start:] for start in range(SHINGLE)), strict=False)
    shingles = {" ".join(run).encode() for run in runs}
    if len(shingles) < MIN_SHINGLES:
        return None
    # Stored signatures must stay comparable, so scheme and seed are fixed.
    minhash = MinHash(num_perm=VALUES, seed=1, scheme="affine32")
    minhash.update_batch(sorted(shingles))
    signature: bytes = (minhash.hashvalues & 0xFFFF).astype("<u2").tobytes()
    return signature

"""General document frequencies: shipped counts, and jieba's table for Chinese.

``scripts/make_topic_background.py`` made the counts; ``data/background.json`` has their SHA-256.
"""

from __future__ import annotations

import json
import lzma
import math
from functools import lru_cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Final

from classifier.words.errors import TopicModelError

DATA_FOLDER: Final = Path(__file__).parent / "data"
MANIFEST: Final = "background.json"
COUNTS: Final = "document_frequencies.json.xz"
_MAX_BYTES: Final = 50_000_000
_FIRST_HAN: Final = "㐀"


def share_of(term: str) -> float:
    """Return the share of pages in its language that hold *term*; 0.0 if no table has it."""
    if term[:1] >= _FIRST_HAN:
        return chinese_shares().get(term, 0.0)
    return counted_shares().get(term, 0.0)


@lru_cache(maxsize=1)
def counted_shares() -> dict[str, float]:
    """Return the shipped shares, each over the pages of all languages that have the term."""
    return read_shares(DATA_FOLDER)


def read_shares(folder: Path) -> dict[str, float]:
    """Read the files of ``scripts/make_topic_background.py``; raises TopicModelError."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        packed = (folder / COUNTS).read_bytes()
    except (OSError, ValueError, RecursionError) as error:
        raise TopicModelError("background", str(folder), f"unreadable ({error})") from error
    if sha256(packed).hexdigest() != manifest.get("sha256"):
        raise TopicModelError(
            "background", str(folder), "damaged: its checksum is wrong; reinstall"
        )
    tables = json.loads(lzma.LZMADecompressor().decompress(packed, _MAX_BYTES))
    counts: dict[str, list[int]] = {}
    for language, table in tables.items():
        pages = manifest["pages"][language]
        for term, count in table.items():
            total = counts.setdefault(term, [0, 0])
            total[0] += count
            total[1] += pages
    return {term: count / pages for term, (count, pages) in counts.items()}


@lru_cache(maxsize=1)
def chinese_shares() -> dict[str, float]:
    """Return the shares behind jieba's inverse document frequencies."""
    path = resources.files("jieba") / "analyse" / "idf.txt"
    shares: dict[str, float] = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            term, _, idf = line.partition(" ")
            shares[term.lower()] = math.exp(-float(idf))
    return shares

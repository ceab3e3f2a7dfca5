#!/usr/bin/env python3
"""Count in how many pages of a fixed corpus each term occurs: the background of every topic.

    scripts/make_topic_background.py --pages pages.tsv --archive pages.tar.xz

Writes ``classifier/words/data``: numbers only, with a checksum. A page's text is its main text as
trafilatura finds it; of each domain the first 20 pages count, so that no site sets the language.
Chinese is left to the table that jieba brings.
"""

import json
import lzma
import sys
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import trafilatura
from lab.cli import parser_of
from lab.hub.files import Capture, read_captures, read_labels
from rich.progress import track

from classifier.words.background import COUNTS, DATA_FOLDER, MANIFEST
from classifier.words.language import language_of
from classifier.words.segmentation import tokens

# Pages of one domain that count.
PER_DOMAIN = 20
# A language with fewer pages gets no table.
MIN_PAGES = 25
# A shorter main text is an error page or a menu.
MIN_CHARS = 200
# A term of one page only is left out: most are names and errors.
MIN_COUNT = 2
# Of a language, the most common first.
MAX_TERMS = 30_000


def main(arguments: list[str] | None = None) -> int:
    """Count and write."""
    parser = parser_of(__doc__, with_json=False)
    parser.add_argument("--pages", type=Path, required=True, help="TSV with url, domain and md5")
    parser.add_argument("--archive", type=Path, required=True, help="tar of pages/<md5>.html")
    parser.add_argument("--out", type=Path, default=DATA_FOLDER)
    options = parser.parse_args(arguments)
    rows = read_labels(options.pages)
    pages, counts = _count(read_captures(rows, options.archive))
    kept = {language: counts[language] for language in counts if pages[language] >= MIN_PAGES}
    size = write_shares(options.out, {name: pages[name] for name in kept}, kept)
    for name in sorted(kept):
        print(f"{name}: {pages[name]} pages, {sum(c > 1 for c in kept[name].values())} terms")
    print(f"{size} bytes in {options.out}")
    return 0


def _count(captures: list[Capture]) -> tuple[Counter[str], dict[str, Counter[str]]]:
    pages: Counter[str] = Counter()
    counts: dict[str, Counter[str]] = {}
    domains: Counter[str] = Counter()
    for capture in track(captures, "reading pages", transient=True):
        domains[capture.row.domain] += 1
        if domains[capture.row.domain] > PER_DOMAIN or not capture.body:
            continue
        text = trafilatura.extract(capture.body, include_comments=False) or ""
        language = language_of(text)
        if len(text) < MIN_CHARS or language == "zh":
            continue
        pages[language] += 1
        counts.setdefault(language, Counter()).update(set(tokens(text, language)))
    return pages, counts


def write_shares(
    folder: Path, pages: Mapping[str, int], counts: Mapping[str, Mapping[str, int]]
) -> int:
    """Write the counts of each language and their manifest; returns the bytes written."""
    kept = {language: _common(counts[language]) for language in sorted(counts)}
    text = json.dumps(kept, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    packed = lzma.compress(text.encode())
    manifest = {
        "kind": "hubwatch document frequencies",
        "format": 1,
        "pages": dict(sorted(pages.items())),
        "sha256": sha256(packed).hexdigest(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / COUNTS).write_bytes(packed)
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return len(packed)


def _common(counts: Mapping[str, int]) -> dict[str, int]:
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {term: count for term, count in ranked[:MAX_TERMS] if count >= MIN_COUNT}


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Count in how many pages of a fixed corpus each term occurs: the background of every topic.

    scripts/make_topic_background.py --pages pages.tsv --archive pages.tar.xz

Writes ``classifier/topic/data``: numbers only, with a checksum. A page's text is its main text as
trafilatura finds it; of each domain the first 20 pages count, so that no site sets the language.
Chinese is left to the table that jieba brings.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, not installed

import trafilatura
from lab.hub.captures import Capture, read_captures
from rich.progress import track

from classifier.hub.labels import read_labels
from classifier.topic.shares import DATA_FOLDER, write_shares
from classifier.topic.text import language_of, tokens

PER_DOMAIN = 20
"""Pages of one domain that count."""
MIN_PAGES = 25
"""A language with fewer pages gets no table."""
MIN_CHARS = 200
"""A shorter main text is an error page or a menu."""


def main(arguments: list[str] | None = None) -> int:
    """Count and write."""
    parser = argparse.ArgumentParser(description=__doc__)
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


if __name__ == "__main__":
    sys.exit(main())

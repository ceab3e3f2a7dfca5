#!/usr/bin/env python3
"""Embed pages of many sites: what is not a topic, before a crawl has fetched anything.

    scripts/make_everyday_vectors.py --pages pages.tsv --archive pages.tar.xz --provider use

Writes ``classifier/topic/data/everyday_PROVIDER.npz``: numbers only. A page's text is its main text as
trafilatura finds it. The pages are drawn evenly, of each domain the first only; every second one gives its
title alone, because a crawl sees pages of which it knows no more.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, not installed

import numpy as np
import trafilatura
from lab.hub.files import read_captures
from rich.progress import track

from classifier.embedding.local import LocalEmbedder
from classifier.embedding.packages import BUNDLED
from classifier.hub.labels import read_labels
from classifier.topic.document_frequencies import DATA_FOLDER
from classifier.topic.values import PageText
from incremental.embedding.pages import meanings_of
from incremental.parse import parse
from incremental.parse.topic_text import page_text

# A shorter main text is an error page or a menu.
MIN_CHARS = 150
MIN_TITLE_CHARS = 6
# Of each language with so many; the others get what there is.
PAGES = 400


def main(arguments: list[str] | None = None) -> int:
    """Embed and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=Path, required=True, help="TSV with url, domain and md5")
    parser.add_argument("--archive", type=Path, required=True, help="tar of pages/<md5>.html")
    parser.add_argument("--provider", choices=BUNDLED, default=BUNDLED[0])
    options = parser.parse_args(arguments)
    pages = _pages(options.pages, options.archive)
    found = meanings_of(pages, LocalEmbedder(options.provider))
    rows = [np.frombuffer(one.packed, dtype=np.int8) for one in found if one is not None]
    path = DATA_FOLDER / f"everyday_{options.provider}.npz"
    np.savez_compressed(path, pages=np.stack(rows))
    print(f"{len(rows)} pages, {path.stat().st_size} bytes in {path}")
    return 0


def _pages(table: Path, archive: Path) -> list[PageText]:
    captures = read_captures(read_labels(table), archive)
    random.Random(0).shuffle(captures)
    pages: dict[str, PageText] = {}
    for capture in track(captures, "reading pages", transient=True):
        if len(pages) >= PAGES:
            break
        if capture.row.domain in pages or not capture.body:
            continue
        text = trafilatura.extract(capture.body, include_comments=False) or ""
        if len(text) >= MIN_CHARS:
            title = page_text(parse(capture.body, "https://page.example/")).title
            short = len(pages) % 2 and len(title) >= MIN_TITLE_CHARS
            pages[capture.row.domain] = PageText("", title=title, body="" if short else text)
    return list(pages.values())


if __name__ == "__main__":
    sys.exit(main())

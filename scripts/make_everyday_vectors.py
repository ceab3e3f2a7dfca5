#!/usr/bin/env python3
"""Embed pages of many sites: what is not a topic, before a crawl has fetched anything.

    scripts/make_everyday_vectors.py --pages pages.tsv --archive pages.tar.xz --provider use

Writes ``classifier/topic/data/everyday_PROVIDER.npz``: numbers only. A page's text is its main text as
trafilatura finds it. The pages are drawn evenly, of each domain the first only; every second one gives its
title alone, because a crawl sees pages of which it knows no more.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from lab.captured_texts import drawn, main_text, options_of, titled

from classifier.embedding.local import LocalEmbedder
from classifier.words.values import PageText
from incremental.topics.embedding.page_embedder import meanings_of

# Of each language with so many; the others get what there is.
PAGES = 400


DATA = Path(__file__).parents[1] / "classifier" / "topic" / "data"


def main(arguments: list[str] | None = None) -> int:
    """Embed and write."""
    options = options_of(__doc__, arguments)
    pages = _pages(options.pages, options.archive)
    found = meanings_of(pages, LocalEmbedder(options.provider))
    rows = [np.frombuffer(one.packed, dtype=np.int8) for one in found if one is not None]
    path = DATA / f"everyday_{options.provider}.npz"
    np.savez_compressed(path, pages=np.stack(rows))
    print(f"{len(rows)} pages, {path.stat().st_size} bytes in {path}")
    return 0


def _pages(table: Path, archive: Path) -> list[PageText]:
    pages: dict[str, PageText] = {}
    for capture in drawn(table, archive):
        if len(pages) >= PAGES:
            break
        if capture.row.domain in pages:
            continue
        if text := main_text(capture):
            pages[capture.row.domain] = titled(capture, text, alone=len(pages) % 2 == 1)
    return list(pages.values())


if __name__ == "__main__":
    sys.exit(main())

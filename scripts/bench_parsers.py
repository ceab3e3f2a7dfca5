#!/usr/bin/env python3
"""Compare the links and the main text that parsers find on broken and on ordinary pages.

    scripts/bench_parsers.py --trees FOLDER                   tree-construction tests of html5lib (.dat files)
    scripts/bench_parsers.py --captured ../shared/hub/pages.tar.xz --every 5
    scripts/bench_parsers.py ... --json --losses

Parsers: Hubwatch's own reading (libxml2's events, no tree), BeautifulSoup over html.parser, and
BeautifulSoup over html5lib, which builds what browsers show and is the measure: a link is *lost* when
html5lib has its address and the parser has not, and *extra* the other way round. Text is what the
extractor of main texts makes of the page as it is, or as the parser wrote it out again; *words* is
the share of html5lib's words that it has. For each parser the time of one page is given.
"""

from __future__ import annotations

import argparse
import json
import logging
import tarfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning

from incremental.parse import ParseLimits
from incremental.parse.decoding import decode_body
from incremental.parse.html import parse_html
from incremental.parse.main_text import main_text
from incremental.parse.references import Resolver

URL = "https://example.org/folder/page.html"
LIMITS = ParseLimits()
LINK_TAGS = {"a": "href", "area": "href", "frame": "src"}


@dataclass(frozen=True, slots=True)
class Reading:
    """One parser's findings."""

    links: frozenset[str]
    words: Counter[str]
    seconds: float


@dataclass(slots=True)
class Tally:
    """Sums over the documents of one source for one parser."""

    documents: int = 0
    links: int = 0
    lost: int = 0
    extra: int = 0
    lossy: int = 0
    """Documents that lost a link."""
    words: int = 0
    words_of_measure: int = 0
    seconds: float = 0.0
    losses: list[tuple[str, list[str]]] = field(default_factory=list)

    def row(self) -> dict[str, object]:
        """Return the sums as figures to print."""
        share = self.words / self.words_of_measure if self.words_of_measure else 1.0
        return {
            "documents": self.documents,
            "links": self.links,
            "lost": self.lost,
            "documents that lose": self.lossy,
            "extra": self.extra,
            "words %": round(100 * share, 1),
            "ms": round(1000 * self.seconds / max(self.documents, 1), 1),
        }


def by_hubwatch(html: str) -> tuple[frozenset[str], str]:
    """Read as the product does."""
    page = parse_html(html, URL, limits=LIMITS)
    return frozenset(link.url for link in page.links), html


def by_soup(features: str) -> Callable[[str], tuple[frozenset[str], str]]:
    """Return a reader over a tree of BeautifulSoup."""

    def read(html: str) -> tuple[frozenset[str], str]:
        soup = BeautifulSoup(html, features)
        base = soup.find("base", href=True)
        resolved = Resolver(URL).resolve(str(base["href"])) if base else None
        resolver = Resolver(resolved or URL)
        references = (
            element.get(LINK_TAGS[element.name]) or element.get("xlink:href")
            for element in soup.find_all(list(LINK_TAGS))
        )
        found = (resolver.resolve(str(reference)) for reference in references if reference)
        return frozenset(filter(None, found)), str(soup)

    return read


AFTER = "\n<p>What comes after: <a href=/after.html>a link</a></p>"
MEASURE = "soup html5lib"
PARSERS = {
    MEASURE: by_soup("html5lib"),
    "hubwatch": by_hubwatch,
    "soup html.parser": by_soup("html.parser"),
}


def reading(parser: str, html: str) -> Reading:
    """Read a document with one parser; the extraction of its text is not timed."""
    begun = time.perf_counter()
    links, markup = PARSERS[parser](html)
    seconds = time.perf_counter() - begun
    return Reading(links, Counter(main_text(markup, URL).split()), seconds)


def test_documents(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield source, name and text of the documents in html5lib's test files; fragments are left out.

    Few of them hold a link, so each is followed by one: what a parser makes of the broken part decides
    whether it still sees what comes after.
    """
    for path in sorted(folder.rglob("*.dat")):
        for number, case in enumerate(path.read_text("utf-8", "replace").split("#data\n")[1:], 1):
            document, _, rest = case.partition("\n#errors")
            if "#document-fragment" not in rest:
                yield "html5lib's tests", f"{path.name} {number}", document + AFTER


def captured_pages(archive: Path, every: int) -> Iterator[tuple[str, str, str]]:
    """Yield source, name and text of every so many-th page of an archive."""
    with tarfile.open(archive) as pages:
        members = (member for member in pages if member.isfile())
        for number, member in enumerate(members):
            stream = None if number % every else pages.extractfile(member)
            if stream is not None:
                yield "captured pages", member.name, decode_body(stream.read(), "")[0]


def add(tally: Tally, name: str, found: Reading, measure: Reading) -> None:
    """Count one document."""
    lost = measure.links - found.links
    tally.documents += 1
    tally.links += len(found.links)
    tally.lost += len(lost)
    tally.lossy += bool(lost)
    tally.extra += len(found.links - measure.links)
    tally.words += (found.words & measure.words).total()
    tally.words_of_measure += measure.words.total()
    tally.seconds += found.seconds
    if lost:
        tally.losses.append((name, sorted(lost)[:5]))


def main() -> None:
    """Read the command line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trees", type=Path)
    parser.add_argument("--captured", type=Path)
    parser.add_argument("--every", type=int, default=1, help="of the captured pages read one in N")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--losses", action="store_true", help="print the documents that lose links")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
    warnings.simplefilter("ignore", UserWarning)
    tallies: dict[tuple[str, str], Tally] = {}
    documents = [test_documents(options.trees)] if options.trees else []
    documents += [captured_pages(options.captured, options.every)] if options.captured else []
    for source, name, html in (one for part in documents for one in part):
        measure = reading(MEASURE, html)
        for method in PARSERS:
            found = measure if method == MEASURE else reading(method, html)
            add(tallies.setdefault((source, method), Tally()), name, found, measure)
    rows = [
        {"source": source, "parser": method} | tally.row()
        for (source, method), tally in tallies.items()
    ]
    if options.losses:
        for (_, method), tally in tallies.items():
            for name, lost in tally.losses:
                print(f"{method}\t{name}\t{lost}")
    if options.json:
        print(json.dumps(rows, indent=1))
        return
    print("\t".join(rows[0]) if rows else "nothing to read")
    for row in rows:
        print("\t".join(map(str, row.values())))


if __name__ == "__main__":
    main()

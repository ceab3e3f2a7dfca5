#!/usr/bin/env python3
"""Label URLs by hand, the most uncertain first.

    scripts/label_urls.py links.tsv --out labels.tsv

``links.tsv`` has a header with at least ``url``; ``anchor``, ``domain`` and ``lang`` are used when
there. Each answer is appended to ``labels.tsv`` at once, so you can stop at any time; URLs
already labelled there are skipped. Answers: h hub, a article, s skip, q quit.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, not installed

from lab.hub.files import most_uncertain, read_links

from classifier.hub.classifier import HubClassifier, load_default
from classifier.hub.errors import HubClassifierError
from classifier.hub.labels import (
    ARTICLE,
    HUB,
    LabelRow,
    read_labels,
    write_labels,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_ANSWERS = {"h": HUB, "a": ARTICLE}
# Characters of a URL or anchor that are shown.
_SHOWN = 300


def main(arguments: list[str] | None = None, ask: Callable[[str], str] = input) -> int:
    """Run the loop; 0 = done or quit, 2 = bad input."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("links", type=Path, metavar="TSV")
    parser.add_argument("--out", type=Path, required=True, metavar="TSV")
    parser.add_argument("--count", type=int, default=50, help="questions at most")
    parser.add_argument("--model", type=Path, metavar="DIR", help="default: the shipped model")
    options = parser.parse_args(arguments)
    try:
        classifier = HubClassifier.load(options.model) if options.model else load_default()
        known = {row.url for row in read_labels(options.out)} if options.out.exists() else set()
        rows = [row for row in read_links(options.links) if row.url not in known]
    except HubClassifierError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    labelled = _loop(rows, classifier, options.count, options.out, ask)
    print(f"{labelled} labelled, in {options.out}")
    return 0


def _loop(
    rows: Sequence[LabelRow],
    classifier: HubClassifier,
    count: int,
    out: Path,
    ask: Callable[[str], str],
) -> int:
    probabilities = classifier.score([row.evidence for row in rows])
    labelled = 0
    for number, place in enumerate(most_uncertain(probabilities, count), start=1):
        row = rows[place]
        print(f"\n{number}/{min(count, len(rows))}  {_printable(row.url)}")
        print(f"    anchor: {_printable(row.anchor) or '(unknown)'}")
        print(
            f"    guess:  {'hub' if probabilities[place] >= 0.5 else 'article'}"  # noqa: PLR2004
            f" ({probabilities[place]:.0%} hub)"
        )
        answer = _answer(ask)
        if answer == "q":
            break
        if answer in _ANSWERS:
            _append(out, row, _ANSWERS[answer])
            labelled += 1
    return labelled


def _answer(ask: Callable[[str], str]) -> str:
    """Ask until the answer is one of h, t, s, q; the end of input is q."""
    while True:
        try:
            answer = ask("    h/a/s/q? ").strip().lower()[:1]
        except EOFError:
            return "q"
        if answer in {"h", "a", "s", "q"}:
            return answer


def _append(out: Path, row: LabelRow, label: str) -> None:
    labelled = LabelRow(label, row.url, row.anchor, row.domain, row.lang, "user")
    header, line = write_labels([labelled]).splitlines()
    with out.open("a", encoding="utf-8") as file:
        file.write(line + "\n" if out.stat().st_size else f"{header}\n{line}\n")


def _printable(text: str) -> str:
    """Site-derived text must not steer the terminal: control characters become dots."""
    return "".join(letter if letter.isprintable() else "." for letter in text[:_SHOWN])


if __name__ == "__main__":
    sys.exit(main())

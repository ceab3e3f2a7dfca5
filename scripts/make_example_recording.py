#!/usr/bin/env python3
"""Make the recording that is part of the repository: a month of a news site that does not exist.

    scripts/make_example_recording.py benchmarks/harbour-times.sqlite

Its truth goes to truth/ beside it. Made again, both say the same.
"""

import hashlib
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from lab.cli import parser_of
from lab.publishing_site import SECTIONS, PublishingSite
from record_site import Recipe, versions_of, write_recording

FIRST = 1_767_225_600
"""2026-01-01, unix seconds, UTC."""
LAST = FIRST + 30 * 86_400
RECIPE = Recipe("", "", "", "https://harbour-times.example/", lists=r"^\w+/$|(^|/)page/\d+/$")


class Deployments:
    """What the site serves each time that an article is published."""

    def __init__(self) -> None:
        self._at = FIRST
        self._site = PublishingSite(seconds_between=4.5 * 3_600, seed=1, now=lambda: self._at)
        self._site.begin()
        self._texts: dict[str, bytes] = {}

    def __iter__(self) -> Iterator[tuple[int, dict[str, str]]]:
        self._at = LAST
        moments = [FIRST, *(math.ceil(one.at) for one in self._site.articles() if one.at > FIRST)]
        articles: dict[str, str] = {}
        for at in moments:
            self._at = at
            paths = {one.path for one in self._site.articles()} - articles.keys()
            articles |= {path: self._name(path) for path in paths}
            lists = {"/feed.xml": self._name("/feed.xml")}
            for place in ("/", *(f"/{section}/" for section in SECTIONS)):
                lists |= self._list(place)
            yield at, {self._file(path): name for path, name in (articles | lists).items()}

    def contents(self, names: Sequence[str]) -> list[bytes]:
        """Return texts by their names."""
        return [self._texts[name] for name in names]

    def _list(self, place: str) -> dict[str, str]:
        path, number = place, 1
        pages = {path: self._name(path)}
        while b'rel="next"' in self._texts[pages[path]]:
            number += 1
            path = f"{place}page/{number}/"
            pages[path] = self._name(path)
        return pages

    def _name(self, path: str) -> str:
        found = self._site.answer(path)
        assert found is not None, path
        text = found[1].encode()
        name = hashlib.sha256(text).hexdigest()
        self._texts[name] = text
        return name

    @staticmethod
    def _file(path: str) -> str:
        return (path + "index.html" if path.endswith("/") else path).lstrip("/")


def make(out: Path) -> int:
    """Write the recording and its truth; return how many rows the truth has."""
    site = Deployments()
    return write_recording(out, RECIPE, versions_of(site), (FIRST, LAST), site.contents)


def main() -> int:
    """Run from the command line; exit 0, or 2 for wrong usage."""
    parser = parser_of(__doc__, with_json=False)
    parser.add_argument("out", type=Path, metavar="FILE.sqlite")
    arguments = parser.parse_args()
    if arguments.out.exists():
        parser.error(f"{arguments.out} is there already")
    print(f"{arguments.out}: {make(arguments.out)} pages to be found")
    return 0


if __name__ == "__main__":
    sys.exit(main())

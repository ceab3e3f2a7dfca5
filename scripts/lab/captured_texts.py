"""Texts of captured pages, which tables of vectors are made of, and the options of the scripts that do so.

Some pages give their title alone, because a crawl sees pages of which it knows no more.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import trafilatura
from rich.progress import track

from classifier.embedding.packages import BUNDLED
from classifier.hub.labels import read_labels
from classifier.words.values import PageText
from incremental.parse.dispatch import parse
from incremental.parse.topic_text import page_text
from lab.hub.files import Capture, read_captures

# A shorter main text is an error page or a menu.
MIN_CHARS: Final = 150
MIN_TITLE_CHARS: Final = 6


def options_of(description: str | None, arguments: list[str] | None) -> argparse.Namespace:
    """Read ``pages``, ``archive`` and ``provider`` from the command line."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--pages", type=Path, required=True, help="TSV with url, domain and md5")
    parser.add_argument("--archive", type=Path, required=True, help="tar of pages/<md5>.html")
    parser.add_argument("--provider", choices=BUNDLED, default=BUNDLED[0])
    return parser.parse_args(arguments)


def drawn(table: Path, archive: Path) -> Iterator[Capture]:
    """Yield the captures that have a body, in an order that is drawn once for all."""
    captures = read_captures(read_labels(table), archive)
    random.Random(0).shuffle(captures)
    for capture in track(captures, "reading pages", transient=True):
        if capture.body:
            yield capture


def main_text(capture: Capture) -> str:
    """Return the main text as trafilatura finds it; empty for an error page or a menu."""
    text = trafilatura.extract(capture.body, include_comments=False) or ""
    return text if len(text) >= MIN_CHARS else ""


def titled(capture: Capture, text: str, *, alone: bool) -> PageText:
    """Return a page of this main text with its title; *alone*: the title without it, if it says something."""
    title = page_text(parse(capture.body, "https://page.example/")).title
    short = alone and len(title) >= MIN_TITLE_CHARS
    return PageText("", title=title, body="" if short else text)

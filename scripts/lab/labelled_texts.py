"""Texts with topic labels, for measuring: TSV files (plain or .xz) and SQLite files of pages."""

import json
import lzma
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from classifier.words.values import PageText

# Of a text that are read.
MAX_TEXT_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class LabelledText:
    """One text; an empty tuple of topics = not labelled."""

    page: PageText
    topics: tuple[str, ...]


def read_labelled(path: Path) -> list[LabelledText]:
    """Read a file by its name; raises ValueError when it is neither TSV nor SQLite, or empty."""
    stem = path.name.removesuffix(".xz")
    if stem.endswith((".sqlite", ".db")):
        texts = _read_sqlite(path)
    elif stem.endswith((".tsv", ".txt")):
        texts = list(_read_tsv(path))
    else:
        raise ValueError(f"{path}: give a .tsv or .sqlite file, packed by xz or not")
    if not texts:
        raise ValueError(f"{path}: holds no text")
    return texts


def _read_tsv(path: Path) -> Iterator[LabelledText]:
    """Read columns ``label``, ``title``, ``text`` by the header; without one, label and then text."""
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        first = next(lines, "").rstrip("\n").split("\t")
        header = "label" in first
        names = first if header else ["label", *["text"] * (len(first) - 1)]
        rows: Iterable[list[str]] = (line.rstrip("\n").split("\t") for line in lines)
        for number, row in enumerate(rows if header else [first, *rows]):
            fields: dict[str, str] = {}
            for name, value in zip(names, row, strict=False):
                fields[name] = f"{fields[name]} {value}".strip() if name in fields else value
            title, text = fields.get("title", ""), fields.get("text", "")
            page = PageText(f"text:{number}", title=title, body=text[:MAX_TEXT_CHARS])
            if title or text:
                yield LabelledText(page, topics_of(fields.get("label", "")))


def topics_of(label: str | None) -> tuple[str, ...]:
    """Return the topics of a label: a JSON list, or one plain word; empty = not labelled."""
    if not label:
        return ()
    if label.startswith("["):
        return tuple(str(topic) for topic in json.loads(label))
    return (label,)


@contextmanager
def opened_sqlite(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a file to be read; ``.xz`` is unpacked into a temporary one."""
    with ExitStack() as stack:
        if path.suffix == ".xz":
            folder = stack.enter_context(TemporaryDirectory())
            packed = stack.enter_context(lzma.open(path))
            path = Path(folder) / path.stem
            with path.open("wb") as out:
                shutil.copyfileobj(packed, out)
        yield stack.enter_context(closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)))


def _read_sqlite(path: Path) -> list[LabelledText]:
    """Read ``page(url, title, topic, html)``, in the order of the URLs."""
    with opened_sqlite(path) as database:
        rows = database.execute("SELECT url, title, topic, html FROM page ORDER BY url")
        return [
            LabelledText(
                PageText(url, title=title or "", body=_visible(html or "")[:MAX_TEXT_CHARS]),
                topics_of(topic),
            )
            for url, title, topic, html in rows
        ]


def _visible(html: str) -> str:
    """Return the paragraphs and headings of a page, without its lists of links."""
    from lxml import etree  # noqa: PLC0415 - only for SQLite files
    from lxml import html as lxml_html  # noqa: PLC0415 - likewise

    try:
        tree = lxml_html.fromstring(html) if html.strip() else None
    except (etree.ParserError, ValueError):
        return ""
    if tree is None:
        return ""
    parts = (
        "".join(map(str, node.itertext())) for node in tree.iter("p", "h1", "h2", "h3", "td", "dd")
    )
    return "\n".join(parts)

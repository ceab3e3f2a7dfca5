r"""Readers of semantic trees (WordNet or any thesaurus) in two formats; none is shipped.

::

    wn:LEXICON                  a lexicon of the installed package ``wn`` (``python -m wn download``)
    first line "id\tpos..."     a table: ``id pos hypernyms``, then a column of words for each language;
                                tab-separated, words and parents between bars, UTF-8; also as .xz, .gz, .bz2
"""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from classifier.papers.semantic_tree import SemanticTree, TreeError, tree_of

PREFIX: Final = "wn:"
# The first columns; each further one holds the words of one language.
COLUMNS: Final = ("id", "pos", "hypernyms")
# After decompression: a damaged or hostile archive must not fill the memory.
MAX_BYTES: Final = 1 << 28
_OPENERS: Final[dict[str, Callable[..., Any]]] = {
    ".xz": lzma.open,
    ".gz": gzip.open,
    ".bz2": bz2.open,
}
_DAMAGE: Final = (OSError, EOFError, UnicodeError, lzma.LZMAError, zlib.error, csv.Error)


def read_tree(source: Path | str) -> SemanticTree:
    """Read a semantic tree of either form (takes seconds); raises TreeError."""
    if str(source).startswith(PREFIX):
        return read_wn(str(source))
    return read_table(Path(source).expanduser())


def read_wn(source: str) -> SemanticTree:
    """Read the lexicon named by ``source``; raises TreeError, also if wn is missing."""
    try:
        import wn  # noqa: PLC0415 - optional
    except ImportError as error:
        way_out = 'needs the wn package; pip install "hubwatch[semantic]"'
        raise TreeError(source, way_out) from error
    lexicon = source.removeprefix(PREFIX)
    try:
        wordnet = wn.Wordnet(lexicon)
        # Sense by sense, which takes a minute where a file takes seconds.
        synsets = {synset.id: synset for synset in wordnet.synsets()}
        # A broader one of another lexicon may be missing.
        parents = {
            name: [one.id for one in synset.hypernyms() if one.id in synsets]
            for name, synset in synsets.items()
        }
        # By word, not by synset: a word's senses come commonest first.
        words = [
            (word.lemma(), synset.id, word.lexicon().language)
            for word in wordnet.words()
            for synset in word.synsets()
        ]
    except (wn.Error, OSError) as error:
        way_out = f"cannot be read: {error}; install it with: python -m wn download {lexicon}"
        raise TreeError(source, way_out) from error
    return tree_of(source, parents, words)


def read_table(path: Path) -> SemanticTree:
    """Read the table; raises TreeError."""
    try:
        with _OPENERS.get(path.suffix, open)(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
        lines = content.decode("utf-8-sig").splitlines()
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    except _DAMAGE as error:
        raise TreeError(path, f"cannot be read as UTF-8: {error}") from error
    if len(content) > MAX_BYTES:
        raise TreeError(path, f"is larger than {MAX_BYTES} bytes")
    languages = [name for name in rows[0] if name not in COLUMNS] if rows else []
    if not languages or not rows[0].keys() >= {*COLUMNS}:
        way_out = "a table (id, pos, hypernyms, then languages) or wn:LEXICON"
        raise TreeError(path, f"is of no format that we know; known are {way_out}")
    for number, row in enumerate(rows, 2):
        if not row["id"] or None in row or None in row.values():
            raise TreeError(path, f"row {number} lacks a field or has too many; is it cut off?")
    parents = {row["id"]: [*filter(None, row["hypernyms"].split("|"))] for row in rows}
    words = (
        (word, row["id"], language)
        for row in rows
        for language in languages
        for word in row[language].split("|")
    )
    return tree_of(path, parents, words)

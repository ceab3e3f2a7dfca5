r"""Readers of semantic trees (WordNet or any thesaurus) in two formats; none is shipped.

::

    wn:LEXICON                  a lexicon of the installed package ``wn`` (``python -m wn download``)
    first line "id\tpos..."     a table: ``id pos hypernyms``, then a column of words for each language;
                                tab-separated, words and parents between bars, UTF-8; also as .xz, .gz, .bz2
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from classifier.papers.semantic_tree import SemanticTree, TreeBuilder, TreeError

if TYPE_CHECKING:
    import wn

KNOWN: Final = "a table (id, pos, hypernyms, then languages) or wn:LEXICON"
PREFIX: Final = "wn:"
_NO_LANGUAGE: Final = ""
# The first columns; each further one holds the words of one language.
COLUMNS: Final = ("id", "pos", "hypernyms")
# After decompression: a damaged or hostile archive must not fill the memory.
MAX_BYTES: Final = 1 << 28
_OPENERS: Final[dict[str, Callable[..., Any]]] = {
    ".xz": lzma.open,
    ".gz": gzip.open,
    ".bz2": bz2.open,
}
_DAMAGE: Final = (lzma.LZMAError, EOFError, zlib.error, gzip.BadGzipFile)


def read_tree(source: Path | str) -> SemanticTree:
    """Read a semantic tree of either form (takes seconds); raises TreeError."""
    if str(source).startswith(PREFIX):
        return read_wn(str(source))
    path = Path(source).expanduser()
    if path.is_dir():
        raise TreeError(path, 0, f"is a folder; known are {KNOWN}")
    return read_table(path)


def read_wn(source: str) -> SemanticTree:
    """Read the lexicon named by ``source``; raises TreeError, also if wn is missing."""
    try:
        import wn  # noqa: PLC0415 - optional
    except ImportError as error:
        raise TreeError(
            source, 0, 'needs the wn package; pip install "hubwatch[semantic]"'
        ) from error
    lexicon = source.removeprefix(PREFIX)
    try:
        return _packed(source, wn.Wordnet(lexicon))
    except (wn.Error, OSError) as error:
        raise TreeError(
            source, 0, f"cannot be read: {error}; install it with: python -m wn download {lexicon}"
        ) from error


def _packed(source: str, wordnet: wn.Wordnet) -> SemanticTree:
    builder = TreeBuilder(source)
    # Sense by sense, which takes a minute where a file takes seconds.
    for synset in wordnet.synsets():
        sense = builder.sense(synset.id)
        for parent in (*synset.hypernyms(), *synset.get_related("instance_hypernym")):
            builder.sense(parent.id)
            builder.parent(sense, parent.id)
    # By word, not by synset: a word's senses come commonest first.
    for word in wordnet.words():
        language = word.lexicon().language if word.lexicon() else _NO_LANGUAGE
        for synset in word.synsets():
            builder.word(word.lemma(), builder.sense(synset.id), language=language)
    return builder.build()


def read_table(path: Path) -> SemanticTree:
    """Read the table; raises TreeError that names the line."""
    lines = _read_lines(path)
    languages = _languages(path, lines)
    builder = TreeBuilder(path)
    for number, line in lines:
        if not line:
            continue
        identifier, _, hypernyms, *words = _fields(path, number, line, len(languages))
        sense = builder.sense(identifier, number)
        for parent in filter(None, hypernyms.split("|")):
            builder.parent(sense, parent, number)
        for language, column in zip(languages, words, strict=True):
            for word in column.split("|"):
                builder.word(word, sense, language=language)
    return builder.build()


def _languages(path: Path, lines: Iterator[tuple[int, str]]) -> tuple[str, ...]:
    _, header = next(lines, (0, ""))
    columns = tuple(header.split("\t"))
    if columns[: len(COLUMNS)] != COLUMNS or len(columns) == len(COLUMNS):
        raise TreeError(path, 1, f"is of no format that we know; known are {KNOWN}")
    return columns[len(COLUMNS) :]


def _fields(path: Path, number: int, line: str, languages: int) -> list[str]:
    fields = line.split("\t")
    expected = len(COLUMNS) + languages
    if len(fields) != expected or not fields[0]:
        raise TreeError(
            path, number, f"has {len(fields)} fields, not {expected} with an id; is it cut off?"
        )
    return fields


def _read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Return (number from 1, line without its end) of each line."""
    try:
        with _OPENERS.get(path.suffix, open)(path, "rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except _DAMAGE as error:
        raise TreeError(path, 0, "is damaged or cut off; fetch it again") from error
    except OSError as error:
        raise TreeError(path, 0, f"cannot be read: {error.strerror or error}") from error
    if len(content) > MAX_BYTES:
        raise TreeError(path, 0, f"is larger than {MAX_BYTES} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise TreeError(path, line, "is not UTF-8; convert it with iconv") from error
    return enumerate(text.replace("\r\n", "\n").rstrip("\n").split("\n"), 1)

r"""Readers of semantic trees: WordNet in two forms, Cilin, SKOS. None is shipped.

::

    wn:LEXICON            -> wn_package       a lexicon of the installed ``wn`` package
    .ttl .rdf .xml .nt    -> skos             also compressed, ``thesaurus.ttl.xz``
    first line "id\tpos"   -> table            WordNet as one table of several languages
    first line "A ..."    -> cilin            Cilin's codes
"""

from __future__ import annotations

from pathlib import Path

from classifier.topic.semantic_tree import CompactTree, TreeError
from classifier.topic.trees.cilin import is_cilin_line, read_cilin
from classifier.topic.trees.skos import read_skos, skos_format
from classifier.topic.trees.sources import read_lines
from classifier.topic.trees.table import COLUMNS, read_table
from classifier.topic.trees.wn_package import PREFIX, read_wn

KNOWN = (
    "a WordNet table (id, pos, hypernyms, ...), Cilin, SKOS (.ttl, .rdf, .xml, .nt), or wn:LEXICON"
)


def read_tree(source: Path | str) -> CompactTree:
    """Read a semantic tree of any known format (takes seconds); raises TreeError."""
    if str(source).startswith(PREFIX):
        return read_wn(str(source))
    path = Path(source).expanduser()
    if path.is_dir():
        raise TreeError(path, 0, f"is a folder; known are {KNOWN}")
    if skos_format(path):
        return read_skos(path)
    return _read_by_first_line(path)


def _read_by_first_line(path: Path) -> CompactTree:
    _, first = next(read_lines(path), (0, ""))
    if first.split("\t")[: len(COLUMNS)] == list(COLUMNS):
        return read_table(path)
    if is_cilin_line(first):
        return read_cilin(path)
    raise TreeError(path, 1, f"is of no format that we know; known are {KNOWN}")

"""Any SKOS thesaurus, by rdflib: concepts, ``broader`` and ``narrower``, preferred and other labels.

Reads Turtle, RDF/XML and N-Triples.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from classifier.topic.semantic_tree import CompactTree, TreeBuilder, TreeError, plain_word
from classifier.topic.trees.sources import read_bytes

if TYPE_CHECKING:
    from rdflib import Graph

# Not JSON-LD, whose contexts come from the network.
FORMATS: Final = {".ttl": "turtle", ".nt": "nt", ".rdf": "xml", ".xml": "xml", ".owl": "xml"}
# A word of more labels than this is too common to mean one of them.
_MAX_CONCEPTS_OF_WORD: Final = 8
_MIN_WORD_CHARS: Final = 3


def skos_format(path: Path) -> str | None:
    """Return rdflib's name of the format, by the file's extension before any compression suffix."""
    endings = path.suffixes[-1:] + path.suffixes[-2:-1]
    return next((FORMATS[ending] for ending in endings if ending in FORMATS), None)


def read_skos(path: Path) -> CompactTree:
    """Read the thesaurus; raises TreeError, also if rdflib is missing."""
    graph = _parsed(path)
    builder = TreeBuilder(path)
    _add_concepts(builder, graph)
    labels = list(_labels(graph))
    for word, language, concept in labels:
        builder.word(word, builder.sense(concept), language=language)
    _add_label_words(builder, labels)
    return builder.build()


def _parsed(path: Path) -> Graph:
    try:
        import rdflib  # noqa: PLC0415 - optional and heavy
        from rdflib.exceptions import ParserError  # noqa: PLC0415
        from rdflib.plugins.parsers.notation3 import BadSyntax  # noqa: PLC0415
    except ImportError as error:
        raise TreeError(path, 0, 'needs rdflib; pip install "hubwatch[semantic]"') from error
    from xml.sax import SAXParseException  # noqa: PLC0415

    data = read_bytes(path)
    _check_utf8(path, data)
    graph = rdflib.Graph()
    try:
        graph.parse(data=data, format=skos_format(path))
    except BadSyntax as error:
        raise TreeError(path, error.lines + 1, "is not valid Turtle from here on") from error
    except SAXParseException as error:
        line = error.getLineNumber() or 0
        raise TreeError(path, line, f"is not valid XML: {error.getMessage()}") from error
    # rdflib's parsers raise these on truncated files.
    except (ParserError, ValueError, LookupError, AssertionError) as error:
        raise TreeError(path, 0, f"is not valid RDF, or is cut off: {error}") from error
    return graph


def _check_utf8(path: Path, data: bytes) -> None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TreeError(path, line, "is not UTF-8; convert it with iconv") from error


def _add_concepts(builder: TreeBuilder, graph: Graph) -> None:
    from rdflib.namespace import RDF, SKOS  # noqa: PLC0415 - optional

    for concept in graph.subjects(RDF.type, SKOS.Concept):
        builder.sense(str(concept))
    links = {(str(narrow), str(broad)) for narrow, broad in graph.subject_objects(SKOS.broader)}
    links |= {(str(narrow), str(broad)) for broad, narrow in graph.subject_objects(SKOS.narrower)}
    for narrow, broad in sorted(links):
        # Concepts of other thesauri become roots here.
        builder.sense(broad)
        builder.parent(builder.sense(narrow), broad)


def _labels(graph: Graph) -> Iterator[tuple[str, str, str]]:
    """Yield label, its language, concept; the preferred labels first."""
    from rdflib import Literal  # noqa: PLC0415 - optional
    from rdflib.namespace import SKOS  # noqa: PLC0415 - optional

    for kind in (SKOS.prefLabel, SKOS.altLabel, SKOS.hiddenLabel):
        for concept, label in sorted(graph.subject_objects(kind)):
            if isinstance(label, Literal):
                yield str(label), (label.language or "en").partition("-")[0], str(concept)


def _add_label_words(builder: TreeBuilder, labels: list[tuple[str, str, str]]) -> None:
    # Labels mostly have several words ("Environmental law"), but texts are looked up word by word. So each
    # word of a label also means its concept, unless it is a label itself or in too many labels ("policy").
    whole = {plain_word(label) for label, _, _ in labels}
    concepts: dict[tuple[str, str], set[str]] = {}
    for label, language, concept in labels:
        for word in plain_word(label).split():
            bare = word.strip("()[],.;:'\"")
            if len(bare) >= _MIN_WORD_CHARS and bare not in whole:
                concepts.setdefault((bare, language), set()).add(concept)
    for (word, language), meant in concepts.items():
        if len(meant) <= _MAX_CONCEPTS_OF_WORD:
            for concept in sorted(meant):
                builder.word(word, builder.sense(concept), language=language)

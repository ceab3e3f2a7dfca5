"""A lexicon of the ``wn`` package: any open multilingual wordnet that the user has installed.

Named ``wn:oewn:2024`` in the settings. Users run ``python -m wn download`` themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from classifier.topic.semantic_tree import CompactTree, TreeBuilder, TreeError

if TYPE_CHECKING:
    import wn

PREFIX: Final = "wn:"
_NO_LANGUAGE: Final = ""


def read_wn(source: str) -> CompactTree:
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


def _packed(source: str, wordnet: wn.Wordnet) -> CompactTree:
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

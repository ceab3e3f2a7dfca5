"""A topic's evidence: examples, key words, corrections, negatives. Plain, bounded data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

from classifier.embedding.meaning import Meaning
from classifier.words.errors import TopicError
from classifier.words.keywords import MAX_KEYWORDS, Keywords
from classifier.words.sample import PageSample, page_key
from classifier.words.text import weighted_terms
from classifier.words.values import PageText
from classifier.words.vectors import Vector, truncated

# The heaviest terms of a page.
MAX_TERMS: Final = 300
MAX_EXAMPLES: Final = 50
# The latest, of each kind.
MAX_CORRECTIONS: Final = 300
MAX_NEGATIVES: Final = 200
# The latest pages that the topic itself judged relevant.
MAX_JUDGED: Final = 200
_MAX_NEGATIVE_TERMS: Final = 100
_MAX_WORD_CHARS: Final = 100


@dataclass(frozen=True, slots=True)
class Evidence:
    """Pages as weighted terms; immutable."""

    examples: tuple[Vector, ...] = ()
    keywords: tuple[str, ...] = ()
    relevant: tuple[Vector, ...] = ()
    """Pages that the user marked relevant later."""
    irrelevant: tuple[Vector, ...] = ()
    negatives: tuple[Vector, ...] = ()
    """Pages of no particular topic."""
    # Pages that the topic judged relevant, oldest first: paper 000 adapts to them, and each training run
    # applies them again.
    judged: tuple[Vector, ...] = ()
    empty_examples: tuple[str, ...] = ()
    """URLs of example pages without words."""
    example_urls: tuple[str, ...] = ()
    """Of :attr:`examples`, in their order."""
    meanings: tuple[tuple[int, Meaning], ...] = ()
    """Vectors of examples, corrections and key words, by :func:`~classifier.words.sample.page_key`."""

    @classmethod
    def gather(  # noqa: PLR0913 - each is a kind of evidence, named where it is given
        cls,
        examples: Sequence[PageText],
        keywords: Sequence[str],
        *,
        relevant: Sequence[PageText] = (),
        irrelevant: Sequence[PageText] = (),
        negatives: Sequence[PageText] = (),
        judged: Sequence[PageText] = (),
        keywords_meaning: Meaning | None = None,
    ) -> Self:
        """Reduce pages to terms; raises TopicError without evidence."""
        # Once, because splitting hundreds of corrections into terms takes a second.
        given = [(page, heaviest_terms(page)) for page in examples[:MAX_EXAMPLES]]
        liked = _latest(relevant)
        disliked = _latest(irrelevant)
        words = tuple(word.strip()[:_MAX_WORD_CHARS] for word in keywords if word.strip())
        evidence = cls(
            examples=tuple(terms for _, terms in given if terms),
            keywords=words[:MAX_KEYWORDS],
            relevant=tuple(terms for _, terms in liked),
            irrelevant=tuple(terms for _, terms in disliked),
            negatives=tuple(
                terms
                for page in negatives[:MAX_NEGATIVES]
                if (terms := truncated(heaviest_terms(page), _MAX_NEGATIVE_TERMS))
            ),
            judged=tuple(terms for _, terms in _latest(judged, MAX_JUDGED)),
            empty_examples=tuple(page.url for page, terms in given if not terms),
            example_urls=tuple(page.url for page, terms in given if terms),
            meanings=tuple(
                (page_key(terms), page.meaning)
                for page, terms in (*given, *liked, *disliked)
                if terms and page.meaning is not None
            ),
        )
        evidence.check()
        if keywords_meaning is None or not (said := evidence.keyword_page):
            return evidence
        meanings = (*evidence.meanings, (page_key(said), keywords_meaning))
        return replace(evidence, meanings=meanings)

    @property
    def keyword_page(self) -> Vector:
        """The key words as a page; empty if they are all too common."""
        return heaviest_terms(spoken(self.keywords)) if Keywords(self.keywords) else {}

    @property
    def positives(self) -> tuple[Vector, ...]:
        """Examples, then pages marked relevant."""
        return self.examples + self.relevant

    @property
    def keys(self) -> set[int]:
        """The examples, the corrections and the key words as one text, by key."""
        said = [self.keyword_page] if self.keywords else []
        return {page_key(page) for page in (*self.positives, *self.irrelevant, *said) if page}

    def lacking(self, space: str) -> set[int]:
        """Return those of :attr:`keys` without a vector of *space*."""
        return self.keys - {key for key, meaning in self.meanings if meaning.space == space}

    def with_negatives_of(self, sample: PageSample) -> Evidence:
        """Return this with negatives from a sample unless some were given."""
        if self.negatives:
            return self
        pages = list(sample.learnable.values())[:MAX_NEGATIVES]
        return replace(
            self, negatives=tuple(truncated(page, _MAX_NEGATIVE_TERMS) for page in pages)
        )

    def check(self) -> None:
        """Raise TopicError without evidence."""
        if self.positives or Keywords(self.keywords):
            return
        if self.empty_examples:
            urls = ", ".join(url or "the sentence" for url in self.empty_examples[:3])
            raise TopicError("examples", urls, "hold no word; give other pages or key words")
        if self.keywords:
            words = ", ".join(self.keywords[:5])
            raise TopicError("keywords", words, "are all too common to define a topic; give others")
        raise TopicError(
            "examples", "", "nothing to learn from; give an example page or a key word"
        )

    def with_judged(self, page: PageText) -> Evidence:
        """Return this with one more page judged relevant; unchanged if it is known."""
        terms = heaviest_terms(page)
        if not terms or terms in (*self.positives, *self.irrelevant, *self.judged):
            return self
        return replace(self, judged=(*self.judged, terms)[-MAX_JUDGED:])


def spoken(keywords: Sequence[str]) -> PageText:
    """Return key words as one text, to embed them besides matching them."""
    return PageText("", body=", ".join(keywords))


def heaviest_terms(page: PageText) -> Vector:
    """Return the terms by which a page is evidence."""
    return truncated(weighted_terms(page), MAX_TERMS)


def _latest(
    pages: Sequence[PageText], limit: int = MAX_CORRECTIONS
) -> list[tuple[PageText, Vector]]:
    """Return the last pages that have words, with their terms."""
    return [(page, terms) for page in pages[-limit:] if (terms := heaviest_terms(page))]

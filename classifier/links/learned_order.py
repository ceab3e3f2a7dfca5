"""The learned link order: scores links before a fetch, trains on every fetched page.

::

    expect(links)   lift of the parents, nearness of the best parent,
                    value of the site and of the folder                (link_memory)
                    cosine of the anchor, and of the URL's words       (link_words)
                    the anchor's meaning, if it has a vector           (link_vectors)
                    weighted by the outcome of such links              (link_weights)  -> 0 to 1
                    a list: raised to LIST_WORTH                       (link_lists)
    learn_anchors   vectors of anchors, whenever they come
    observe(page)   its value credits the pages that link to it, rates its own links,
                    and moves the centre of words

No labels are needed: a page's value is its nearness to the topic's examples and their opinion of it
(:mod:`.opinion`), and their opinion by meaning if it has a vector (:mod:`.meaning_opinion`). The score orders
a queue and never rejects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from classifier.embedding.meaning import Meaning
from classifier.links.lists import LinkLists
from classifier.links.memory import NOTHING_KNOWN, Likeness, LinkMemory
from classifier.links.places import key_of
from classifier.links.text import has_dense
from classifier.links.vectors import LinkVectors
from classifier.links.weights import LinkWeights
from classifier.links.words import LinkWords
from classifier.topic.model import TopicModel
from classifier.topic.opinion import Opinion
from classifier.words.errors import of_format, reading
from classifier.words.latest import Latest
from classifier.words.text import language_of_page, url_words, weighted_terms
from classifier.words.values import LinkContext, PageText
from classifier.words.vectors import Vector

_FORMAT: Final = 1
_MAX_LANGUAGES: Final = 20_000
# Characters of a page checked for its script; one Chinese one suffices, as code and names are Latin.
_LEAD: Final = 2_000
# Expected r at which a list is read, before less promising pages. A higher value raises the harvest on
# Chinese sites, whose lists have no label, but finds fewer pages on topic (docs/relevance-figures.md).
LIST_WORTH: Final = 0.25


def is_left_to_words(page: PageText) -> bool:
    """Whether the page's vector is ignored: on the Chinese graph no measured model helped."""
    return has_dense(page.title + page.body[:_LEAD])


class LearnedOrder:
    """The link order of one topic, small enough to be stored with it.

    It never rejects and accepts any input. Not thread-safe.
    """

    def __init__(self) -> None:
        self._memory = LinkMemory()
        self._words = LinkWords()
        self._weights = LinkWeights()
        self._lists = LinkLists()
        self._vectors = LinkVectors()
        self._languages: Latest[str, str] = Latest(_MAX_LANGUAGES)
        # With the version of its topic model.
        self._opinion: tuple[str, Opinion] | None = None

    def observe(
        self,
        page: PageText,
        led_here: Sequence[LinkContext],
        links: Sequence[LinkContext],
        relevance: float,
        model: TopicModel | None = None,
    ) -> None:
        """Learn from a fetched page: its judgement, the links to it, and its own links.

        *led_here* are links to it; they matter only for parents that were not observed. With *model* its
        examples' opinion of the page counts instead of *relevance*.
        """
        parent = led_here[0].parent_url if led_here else ""
        terms = weighted_terms(page)
        self._memory.add(
            page.url,
            relevance,
            (link.url for link in links),
            parent=parent,
            likeness=NOTHING_KNOWN if model is None else self.likeness([terms], model)[0],
        )
        self._languages[page.url] = language_of_page(page)
        self._learn_meaning(page, led_here, model)
        self._lists.learn(page, led_here)
        # Words are taken from the better half of the scale only.
        self._weights.learn(page.url, key_of(page.url), self._memory)
        self._words.learn(terms, max(self._memory.value_of_key(key_of(page.url)) - 0.5, 0.0) * 2)

    def renew(self, page: PageText, relevance: float, model: TopicModel) -> None:
        """Update the judgement of an observed page; its links stay."""
        likeness = self.likeness([weighted_terms(page)], model)[0]
        self.revalue({page.url: relevance}, {page.url: likeness})
        self._learn_meaning(page, (), model)

    def learn_anchors(self, found: Mapping[str, Meaning]) -> None:
        """Remember the vectors of links' anchors, by their text; they come when they were made."""
        for meaning in found.values():
            self._use(meaning.space)
        self._vectors.add_anchors(
            {anchor: one for anchor, one in found.items() if not has_dense(anchor)}
        )

    def _learn_meaning(
        self, page: PageText, led_here: Sequence[LinkContext], model: TopicModel | None
    ) -> None:
        """Learn from a page's vector, and from those before it if that is due."""
        meaning = None if is_left_to_words(page) else page.meaning
        if meaning is not None:
            self._use(meaning.space)
        vectors = self._vectors
        vectors.add_page(page.url, meaning, (link.anchor for link in led_here))
        if model is None or model.background.meanings.space != vectors.space:
            return
        if vectors.is_due(model.version):
            rows, evidence = model.background.meanings.rows, model.evidence
            examples, wrong = rows(evidence.positives), rows(evidence.irrelevant)
            self._memory.put_meanings(vectors.opinions(examples, wrong, model.version))
            vectors.learn(self._memory.value_of_key)
        else:
            self._memory.put_meanings(vectors.opinion(page.url))

    def _use(self, space: str) -> None:
        """Drop the vectors of another space, and their opinions."""
        if self._vectors.space not in {"", space}:
            self._vectors = LinkVectors()
            self._memory.forget_meanings()

    def revalue(
        self, relevances: Mapping[str, float], likeness: Mapping[str, Likeness] | None = None
    ) -> None:
        """Update judgements of observed pages by URL, and their :meth:`likeness`.

        A page without a new likeness keeps its old one.
        """
        self._memory.revalue(relevances, likeness)

    def likeness(self, pages: Sequence[Vector], model: TopicModel) -> list[tuple[float, float]]:
        """Return the examples' opinion of pages, and the pages' nearness to them; by weighted terms."""
        if self._opinion is None or self._opinion[0] != model.version:
            self._opinion = model.version, Opinion.fit(model.evidence, model.fit.setting)
        near = (self._words.nearness(terms, model) for terms in pages)
        return list(zip(self._opinion[1].scores(model.batch(pages)), near, strict=True))

    def order(self, links: Sequence[LinkContext], model: TopicModel) -> list[float]:
        """Return each link's promise: any number, higher is better, comparable within a call."""
        return [self._promise(link, model) for link in links]

    def expect(self, links: Sequence[LinkContext], model: TopicModel) -> list[float]:
        """Return :meth:`order` as the relevance that each page is expected to have."""
        return [self._memory.expected(promise) for promise in self.order(links, model)]

    def usual(self, model: TopicModel) -> float:
        """Return the expectation for a link without any evidence."""
        return self.expect([LinkContext("")], model)[0]

    def _promise(self, link: LinkContext, model: TopicModel) -> float:
        # Chosen on link graphs of encyclopedia pages and of Chinese sites. Left out after trials: PageRank
        # from relevant pages, the relevance of links in the same list, words learned from anchors (no gain
        # overall; docs/relevance-figures.md, "Choices in the learned order").
        lift = self._memory.lift(link.url, link.parent_url, link.parent_score)
        language = self._languages.get(link.parent_url)
        best = self._memory.best_nearness(link.url, link.parent_url)
        anchor = self._words.cosine(link.anchor, language, model)
        words = self._words.cosine(url_words(link.url), language, model)
        site, folder = self._memory.site(link.url), self._memory.folder(link.url)
        said = self._vectors.of_anchor(link.anchor)
        promise = self._weights.promise(link.url, (lift, best, anchor, words, site, folder, *said))
        return promise + self._lists.expected(link) * max(
            self._weights.promise_of(LIST_WORTH) - promise, 0.0
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "format": _FORMAT,
            "memory": self._memory.to_json(),
            "words": self._words.to_json(),
            "weights": self._weights.to_json(),
            "lists": self._lists.to_json(),
            "vectors": self._vectors.to_json(),
        }

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Read the form of :meth:`to_json`.

        Raises TopicModelError if it is damaged, foreign or too new; callers may then start a new one.
        """
        kept = of_format(data, "links", _FORMAT)
        read = cls()
        with reading("links"):
            read._memory = LinkMemory.from_json(kept["memory"])
            read._words = LinkWords.from_json(kept["words"])
            read._weights = LinkWeights.from_json(kept["weights"])
            read._vectors = LinkVectors.from_json(kept["vectors"])
            read._lists = LinkLists.from_json(kept["lists"])
        return read

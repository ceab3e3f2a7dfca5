"""The learned link order: scores links before a fetch, trains on every fetched page.

::

    expect(links)   lift of the parents, nearness of the best parent,
                    value of the site and of the folder                (memory)
                    cosine of the anchor, and of the URL's words       (words)
                    the anchor's meaning, if it has a vector           (vectors)
                    weighted by the outcome of such links              (LinkWeights)  -> 0 to 1
                    a list: raised to LIST_WORTH                       (LinkLists)
    learn_anchors   vectors of anchors, whenever they come
    observe(page)   its value credits the pages that link to it, rates its own links,
                    and moves the centre of words

No labels are needed: a page's value is its nearness to the topic's examples and their opinion of it
(:class:`Opinion`), and their opinion by meaning if it has a vector (:mod:`.vectors`). The score orders
a queue and never rejects.
"""

import math
import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, Self
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from classifier.embedding.meaning import Meaning
from classifier.links.memory import NOTHING_KNOWN, Likeness, LinkMemory
from classifier.links.places import key_of, places_of
from classifier.links.text import has_dense
from classifier.links.vectors import LinkVectors
from classifier.links.words import LinkWords
from classifier.papers.rankers import Fitted
from classifier.topic.fusion import Scale
from classifier.topic.methods import Setting, fit_method, views_of
from classifier.topic.model import TopicModel
from classifier.words.batch import PageBatch, np_array
from classifier.words.errors import TopicModelError, of_format, reading
from classifier.words.evidence import Evidence
from classifier.words.latest import Latest
from classifier.words.text import anchor_share, language_of_page, url_words, weighted_terms
from classifier.words.values import LinkContext, PageText
from classifier.words.vectors import Vector, truncated

# Median shares of four Chinese blogs: .38 to .52 of pages without a label, mostly lists, .06 to .17 of
# labelled articles; of the encyclopedia 99 pages in 100 have less than .1. Where each page has the whole
# menu of its site, articles count as lists too, and unpromising links are then taken by age.
ARTICLE: Final = 0.2
LIST: Final = 0.35
PRIOR: Final = 3.0
# Further members of a group add no information.
_GROUP_AT_MOST: Final = 10.0
_MAX_GROUPS: Final = 5_000
_DIGITS: Final = re.compile(r"\d+")


class LinkLists:
    """For one topic; not thread-safe.

    Predicts which links lead to lists, such as pages of a tag or a month, or "page 2".

    ::

        list(page)   = share of its text that is anchors: 0 up to ARTICLE, 1 from LIST
        is_list(t)   = mean list() of the fetched pages
                         in the folder of t, with a URL of its form, and that links in its place led to,
                       each a group; drawn to the mean of all by PRIOR pages

    The three groups count together, ten pages of each at most.
    """

    def __init__(self) -> None:
        # Sum of list() over the fetched pages, and their number: of all, and of each group.
        self._all = (0.0, 0)
        self._groups: Latest[int, tuple[float, int]] = Latest(_MAX_GROUPS)

    def learn(self, page: PageText, led_here: Sequence[LinkContext]) -> None:
        """Learn from a fetched page and the links to it."""
        value = min(max((anchor_share(page) - ARTICLE) / (LIST - ARTICLE), 0.0), 1.0)
        self._all = self._all[0] + value, self._all[1] + 1
        places = {group for link in led_here for group in _groups_of_place(link)}
        for group in (*_groups_of_url(page.url), *places):
            total, count = self._groups.get(group, (0.0, 0))
            self._groups[group] = total + value, count + 1

    def expected(self, link: LinkContext) -> float:
        """Return the probability that the link leads to a list, 0 to 1."""
        total, count = self._all
        if not total:
            return 0.0
        total, weight = PRIOR * total / count, PRIOR
        for group in (*_groups_of_url(link.url), *_groups_of_place(link)):
            of_group, count = self._groups.get(group, (0.0, 0))
            damped = min(1.0, _GROUP_AT_MOST / max(count, 1))
            total += of_group * damped
            weight += count * damped
        return total / weight

    def to_json(self) -> dict[str, Any]:
        """Return plain data; places are stored as hashes."""
        groups = [[key, round(total, 4), count] for key, (total, count) in self._groups.items()]
        return {"all": list(self._all), "groups": groups}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read the form of :meth:`to_json`; raises TopicModelError."""
        read = cls()
        with reading("link lists"):
            total, count = data["all"]
            read._all = float(total), int(count)
            for key, of_group, members in data["groups"]:
                read._groups[int(key)] = float(of_group), int(members)
        return read


@lru_cache(maxsize=16_384)
def _groups_of_url(url: str) -> tuple[int, ...]:
    """Return the innermost folder of a URL, and its form if that has a number."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ()
    folder = places_of(url)[-1:]
    form, numbers = _DIGITS.subn("0", f"{parts.netloc}{parts.path}?{parts.query}")
    # Without a number it is the page itself.
    return (*folder, key_of(f"form {form}")) if numbers else folder


def _groups_of_place(link: LinkContext) -> tuple[int, ...]:
    """Return the place of a link on its page, by site and tag path; () if it is unknown."""
    return (_place(link.parent_url, link.tag_path),) if link.tag_path else ()


@lru_cache(maxsize=4_096)
def _place(parent_url: str, tag_path: str) -> int:
    return key_of(f"place {places_of(parent_url)[:1]} {_DIGITS.sub('0', tag_path)}")


Features = tuple[float, ...]
"""As many as :data:`SPREADS`, in their order."""

# Usual deviations of the features, measured on two graphs: they make the weights comparable.
SPREADS: Final = (0.3, 0.1, 0.15, 0.15, 0.15, 0.15, 0.1, 0.15)
# Prior weights, per deviation. Only a prior, because no fixed weights suit all graphs: encyclopedia pages
# link to related subjects, so the parents' lift matters most; a blog's pages link to neighbours by date,
# so the anchor does.
WEIGHTS: Final = (0.3, 0.1, 0.15, 0.1, 0.05, 0.2, 0.15, 0.25)
# Weight of the prior, in pages.
PRIOR_PAGES: Final = 30.0
# The last fetched pages. A share of the best parent fixed by hand was tried before the weights were learned:
# it helped blogs and hurt the encyclopedia.
MAX_TRAINING_EXAMPLES: Final = 600
_PRIOR_SHRINK: Final = 0.5
_FIRST_FIT: Final = 20
_FIT_EVERY: Final = 10
_MAX_PROMISED: Final = 100_000


class LinkWeights:
    """For one topic; not thread-safe.

    Weights of a link's features, learned while crawling: ridge regression on the fetched pages.

    ::

        expected r = weights * (lift of the parents, nearness of the best parent, cosine of the anchor,
                                cosine of the URL's words, worth of the site, worth of the folder,
                                anchor's cosine by vector, its predicted outcome)
        page fetched  ->  its features when it was chosen, and the value r it turned out to have
        every few pages: weights = ridge, drawn to WEIGHTS by PRIOR_PAGES, none below 0
    """

    def __init__(self) -> None:
        self._weights = [weight / spread for weight, spread in zip(WEIGHTS, SPREADS, strict=True)]
        # Latest features of links that may be fetched.
        self._promised: Latest[str, Features] = Latest(_MAX_PROMISED)
        self._training_examples: deque[tuple[Features, int]] = deque(maxlen=MAX_TRAINING_EXAMPLES)
        """Features and key of each fetched page."""
        self._pages = 0
        # Expected r of a link with all features 0; None = not trained yet.
        self._start: float | None = None

    def promise(self, url: str, features: Features) -> float:
        """Return a link's weighted features, and remember them until its page is fetched."""
        self._promised[url] = features
        return sum(
            weight * feature for weight, feature in zip(self._weights, features, strict=True)
        )

    def promise_of(self, value: float) -> float:
        """Return the promise at which *value* is the expected r; the lowest before weights were learned."""
        return -math.inf if self._start is None else value - self._start

    def learn(self, url: str, key: int, memory: LinkMemory) -> None:
        """Train on a link whose page was fetched and judged."""
        features = self._promised.pop(url, None)
        self._pages += 1
        if features is not None:
            self._training_examples.append((features, key))
        if len(self._training_examples) >= _FIRST_FIT and self._pages % _FIT_EVERY == 0:
            self._fit(memory)

    def _fit(self, memory: LinkMemory) -> None:
        spreads = np.array(SPREADS)
        features = np.array([features for features, _ in self._training_examples]) / spreads
        values = np.array([memory.value_of_key(key) for _, key in self._training_examples])
        usual, mean = features.mean(axis=0), float(values.mean())
        features -= usual
        values -= mean
        normal = features.T @ features + PRIOR_PAGES * np.eye(len(SPREADS))
        # Pages were chosen by these features, so they seem to matter less than they do: the prior
        # pulls towards half of itself, which keeps the proportions right.
        pull = features.T @ values + PRIOR_PAGES * _PRIOR_SHRINK * np.array(WEIGHTS)
        fitted = np.maximum(np.linalg.solve(normal, pull), 0.0)
        self._weights = [float(weight) for weight in fitted / spreads]
        self._start = mean - float(usual @ fitted)

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        training_examples = [
            [*(round(feature, 4) for feature in features), key]
            for features, key in self._training_examples
        ]
        return {
            "weights": self._weights,
            "start": self._start,
            "training_examples": training_examples,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read the form of :meth:`to_json`; raises TopicModelError."""
        read = cls()
        with reading("link weights"):
            weights = [float(weight) for weight in data["weights"]]
            read._start = None if data["start"] is None else float(data["start"])
            for *features, key in data["training_examples"][-MAX_TRAINING_EXAMPLES:]:
                read._training_examples.append((tuple(map(float, features)), int(key)))
        counts = {len(weights), *(len(features) for features, _ in read._training_examples)}
        if counts != {len(SPREADS)}:
            raise TopicModelError("link weights", str(len(weights)), "do not fit the features")
        read._weights = weights
        return read


# With fewer there is no logistic regression.
MIN_NEGATIVES: Final = 15
MAX_NEGATIVES: Final = 200
# Of the sample, the pages least like the examples. Many fetched pages are relevant, so not all may serve
# (reliable negatives, as is usual without labels: Liu et al. 2003, Rocchio step).
NEGATIVE_SHARE: Final = 0.5
# Not the fused judgement: its centre moves towards the fetched pages, and a crawl fetches what it judged
# well. On the Chinese graph the harvest over best first was .88 with the judgement alone, 1.00 with
# judgement and nearness, 1.04 with opinion and nearness (docs/relevance-figures.md).
# As a further opinion it was better on the encyclopedia, and worse on the Chinese graph by as much.
_WEIGHTS: Final = {"tfidf_centroid": 0.5, "logistic": 1.0, "nearest": 1.0}
# Standard deviations above the sample's mean at which an opinion is 0.5.
_MIDDLE: Final = 1.2
_NEGATIVE_TERMS: Final = 100
# A smaller sample's spread is meaningless; the sum of the weights replaces it.
_FEW_PAGES: Final = 30


@dataclass(frozen=True, slots=True)
class Opinion:
    """Fitted to one topic's evidence; immutable.

    The examples' opinion of a page, which does not drift with a topic's feedback.

    ::

        examples ── centre's cosine (half)  ─┐
                 ── logistic regression     ─┼─ standardised by the sample ── sum ── 0 to 1
                 ── nearest example         ─┘
        negatives: the half of the sample that is least like the examples (reliable negatives)

    A crawl values a page's links by it.
    """

    views: tuple[Fitted, ...]
    weights: tuple[float, ...]
    scale: Scale
    """The views on the sample."""
    spread: Scale
    """The views' weighted sum on the sample."""

    @classmethod
    def fit(cls, evidence: Evidence, setting: Setting) -> Self:
        """Learn from the examples (or key words) and the far half of the sample."""
        centre = fit_method("tfidf_centroid", evidence, setting)
        fitted = {"tfidf_centroid": centre}
        far = _far_pages(centre.scores(setting.sample), setting.sample)
        if len(far) >= MIN_NEGATIVES:
            fitted["logistic"] = fit_method("logistic", replace(evidence, negatives=far), setting)
        if setting.sample.concepts is not None:
            fitted["nearest"] = fit_method("nearest", evidence, setting)
        views, weights = tuple(fitted.values()), tuple(_WEIGHTS[name] for name in fitted)
        scores = views_of(views, setting.sample)
        scale = Scale.measured(scores)
        total = np_array(weights) @ scale.standardised(scores)
        spread = Scale.measured(total[None, :])
        if len(setting.sample) < _FEW_PAGES:
            spread = Scale(np_array([0.0]), np_array([sum(weights)]))
        return cls(views, weights, scale, spread)

    def scores(self, batch: PageBatch) -> list[float]:
        """Return the opinion of each page, 0 to 1."""
        total = np_array(self.weights) @ self.scale.standardised(views_of(self.views, batch))
        steps = self.spread.standardised(total[None, :])[0].clip(-30.0, 30.0) - _MIDDLE
        return [1.0 / (1.0 + math.exp(-step)) for step in steps.tolist()]


def _far_pages(scores: NDArray[np.float64], sample: PageBatch) -> tuple[dict[str, float], ...]:
    count = min(int(len(scores) * NEGATIVE_SHARE), MAX_NEGATIVES)
    far = sorted(scores.argsort(kind="stable")[: int(len(scores) * NEGATIVE_SHARE)].tolist())
    chosen = (far[place * len(far) // count] for place in range(count))
    return tuple(truncated(sample.pages[index], _NEGATIVE_TERMS) for index in chosen)


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

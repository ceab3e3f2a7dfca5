"""An active topic: judges pages, scores links, and trains its link order."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from classifier.embedding.meaning import Meaning
from classifier.links.learned_order import LearnedOrder
from classifier.links.meaning import LinkStanding, refined, standings
from classifier.topic.model import TopicModel
from classifier.words.values import LinkContext, PageText, Relevance, Verdict
from incremental.topics.judging import BY_MEANING, BY_WORDS, LIKELY
from store.topics.values import KeptPage, TopicRow
from store.values import TopicScore


@dataclass
class ActiveTopic:
    """A ready topic with its model and link order. Used by the crawler's thread only."""

    row: TopicRow
    model: TopicModel
    links: LearnedOrder
    # What it learned from without a vector of the present model, by key; empty without an embedder.
    lacking: set[int] = field(default_factory=set)
    # Pages announced before it was ready have been judged.
    caught_up: bool = False
    # Latest pages without a verdict of this model, newest first.
    outdated: list[KeptPage] = field(default_factory=list)
    # Unjudged pages whose bodies are lost or have no text.
    unreadable: int = 0
    # URLs of hubs already observed: their words count once.
    hubs_read: set[str] = field(default_factory=set)

    def read_hub(self, page: PageText, links: Sequence[LinkContext]) -> float:
        """Return the relevance of a hub, whose links are not judged yet."""
        score = self.model.judge(page).score
        if page.url in self.hubs_read:
            self.links.renew(page, score, self.model)
        else:
            self.hubs_read.add(page.url)
            self.links.observe(page, (), links, score, self.model)
        return score

    def judge(self, page: PageText, *, again: bool = False) -> Relevance:
        """Judge a fetched page; unless *again*, it adapts the centre of methods that adapt."""
        relevance = self.model.judge(page)
        if not again:
            self.model = self.model.adapted(page, relevance)
        return relevance

    def expect(self, links: Sequence[LinkContext]) -> list[float]:
        """Return the expected relevance of links, 0 to 1, before their pages are fetched."""
        return self.links.expect(links, self.model)

    def learn_links(
        self,
        page: PageText,
        led_here: LinkContext | None,
        links: Sequence[LinkContext],
        relevance: Relevance,
    ) -> None:
        """Train the link order with the relevance of a fetched page and the link to it."""
        parents = () if led_here is None else (led_here,)
        self.links.observe(page, parents, links, relevance.score, self.model)

    def refine(self, guesses: Sequence[tuple[str, float, Meaning]]) -> list[TopicScore]:
        """Return guesses refined by the meaning of their links, of those that meaning says something about.

        *guesses* are canonical keys, scores by the link order, and vectors.
        """
        found = standings(self.model, [meaning for _, _, meaning in guesses])
        return [
            replace(
                self.guess(key, refined(by_words, standing.score)),
                method=BY_MEANING,
                terms=_like(standing),
            )
            for (key, by_words, _), standing in zip(guesses, found, strict=True)
            if standing is not None
        ]

    def guess(self, key: str, score: float) -> TopicScore:
        """Return the expected relevance of a link as a stored guess."""
        # Never irrelevant: before a fetch a score only orders the queue, only after a fetch may it reject.
        verdict = Verdict.RELEVANT if score >= LIKELY else Verdict.DOUBTFUL
        return TopicScore(
            canonical_key=key,
            topic_id=self.row.id,
            score=round(score, 4),
            verdict=verdict.value,
            fetched=False,
            method=BY_WORDS,
            version=self.model.version,
        )


def _like(standing: LinkStanding) -> tuple[tuple[str, float], ...]:
    """Return the example that raised a guess, with the cosine; () = none did."""
    if not standing.example or standing.score <= 0:
        return ()
    return ((standing.example, round(standing.cosine, 4)),)

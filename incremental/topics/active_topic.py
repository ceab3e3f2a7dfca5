"""A topic at work: it judges pages, guesses of links, and learns what links like those are worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from classifier.topic.link_order import LinkOrder
from classifier.topic.model import TopicModel
from classifier.topic.values import LinkContext, PageText, Relevance, Verdict
from incremental.decide.topics import LIKELY
from store.topic_values import TopicRow
from store.values import TopicScore


@dataclass
class ActiveTopic:
    """A ready topic: its model, and what it learned of links. Only the crawler's thread touches it."""

    row: TopicRow
    model: TopicModel
    links: LinkOrder
    caught_up: bool = False
    """Whether the pages that were announced before it was ready have been judged."""
    unreadable: int = 0
    """Pages among them whose bodies are lost or hold no text."""
    hubs_read: set[str] = field(default_factory=set)
    """URLs of hubs that were observed: their words are learned once."""

    def read_hub(self, page: PageText, links: Sequence[LinkContext]) -> float:
        """Return the relevance of a page that leads to others; what it leads to will speak for it."""
        score = self.model.judge(page).score
        if page.url in self.hubs_read:
            self.links.renew(page, links, score, self.model)
        else:
            self.hubs_read.add(page.url)
            self.links.observe(page, (), links, score, self.model)
        return score

    def judge(self, page: PageText, *, again: bool = False) -> Relevance:
        """Judge a fetched page; one that was not judged before moves the centre of a method that adapts."""
        relevance = self.model.judge(page)
        if not again:
            self.model = self.model.adapted(page, relevance)
        return relevance

    def expect(self, links: Sequence[LinkContext]) -> list[float]:
        """Return what is expected of each link, 0 to 1, before its page is fetched."""
        return self.links.expect(links, self.model)

    def usual(self) -> float:
        """Return what is expected of a link that nothing speaks for or against; above 0."""
        return self.links.usual(self.model)

    def learn_links(
        self,
        page: PageText,
        led_here: LinkContext | None,
        links: Sequence[LinkContext],
        relevance: Relevance,
    ) -> None:
        """Learn from a fetched page what links like the one that led to it are worth."""
        parents = () if led_here is None else (led_here,)
        self.links.observe(page, parents, links, relevance, self.model)

    def guess(self, key: str, score: float) -> TopicScore:
        """Return what it expects of a link, as the store keeps it. A guess never rejects."""
        verdict = Verdict.RELEVANT if score >= LIKELY else Verdict.GREY
        return TopicScore(
            canonical_key=key,
            topic_id=self.row.id,
            score=round(score, 4),
            verdict=verdict.value,
            fetched=False,
            method="links",
            version=self.model.version,
        )

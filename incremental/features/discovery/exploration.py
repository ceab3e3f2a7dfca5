"""A bounded search for pages like the seeds, in rounds (paper 001, algorithm 1).

::

    seeds ─► choose an operator ─► its candidates ─► read them ─► rank all that was found
      ▲          (bandit)             (new ones)      (caller)            │ (caller)
      └───────────── the best that it has not begun from ◄── reward ◄─────┘
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from classifier.papers.bandit import Bandit, page_reward
from incremental.features.discovery.operators import Candidate, KnownPage, Operator

PAGES_PER_ROUND = 20
# Calls of an operator per round, so that rewards of rounds are comparable: a round of two pages would be
# chosen again for its bonus, and its reward tells little.
CALLS_PER_ROUND = 3
# Unread candidates kept per operator; the weakest are dropped.
MAX_BACKLOG = 1_000
# Rounds an operator is skipped after its first empty round.
FIRST_COOLDOWN = 2
# Consecutive empty rounds after which an operator waits until others find more.
EMPTY_ROUNDS = 10

Read = Callable[[Sequence[str]], Sequence[KnownPage]]
Rank = Callable[[Sequence[str]], Sequence[str]]
"""Ranks URLs of read pages, most relevant first."""
Choose = Callable[[Bandit, Sequence[str]], str | None]


class Exploration:
    """A run. *seeds* are fetched pages of the topic."""

    def __init__(
        self,
        operators: Mapping[str, Operator],
        seeds: Sequence[KnownPage],
        *,
        read: Read,
        rank: Rank,
        choose: Choose = Bandit.choose,
    ) -> None:
        self.bandit = Bandit.over(list(operators))
        self.finds: dict[str, str] = {}
        """Pages that the run fetched, each with what led to it."""
        self.rounds = 0
        self._operators = operators
        self._pages = {seed.url: seed for seed in seeds}
        self._read = read
        self._rank = rank
        self._choose = choose
        self._order: list[str] = []
        self._tried = dict.fromkeys(self._pages)
        # By operator: pages it started from, its unread candidates, its empty rounds since any operator found
        # candidates, and until which round it is skipped, for how many.
        self._begun: dict[str, dict[str, None]] = {}
        self._backlog: dict[str, dict[str, Candidate]] = {}
        self._empty: dict[str, int] = {}
        self._cooldowns: dict[str, tuple[int, int]] = {}

    def step(self, most: int) -> str | None:
        """Run one round of up to *most* pages; return its operator, None when none finds more."""
        while True:
            name = self._choose(self.bandit, self._open())
            if name is None:
                return None
            candidates = self._candidates(name, min(most, PAGES_PER_ROUND))
            if candidates:
                break
            self._empty[name] = self._empty.get(name, 0) + 1
            # Unlike the paper, an operator that found nothing is skipped for a while, each time longer:
            # UCB1 alone would choose it again and again.
            length = 2 * self._cooldowns[name][1] if name in self._cooldowns else FIRST_COOLDOWN
            self._cooldowns[name] = (self.rounds + length, length)
            self.bandit = self.bandit.rewarded(name, reward=0.0, pages=0)
        self._settle(name, candidates)
        return name

    def _open(self) -> list[str]:
        """Return the operators to choose from; those cooling down only if there are no others."""
        names = [name for name in self._operators if self._empty.get(name, 0) < EMPTY_ROUNDS]
        awake = [name for name in names if self._cooldowns.get(name, (0, 0))[0] <= self.rounds]
        # A cooldown that applies to all operators is ignored.
        return awake or names

    def ranked(self) -> list[str]:
        """Return all read pages of the run, seeds included, best first."""
        if len(self._order) != len(self._pages):
            self._order = list(self._rank(list(self._pages)))
        return self._order

    def _candidates(self, name: str, count: int) -> list[Candidate]:
        operator, waiting = self._operators[name], self._backlog.setdefault(name, {})
        # Unlike the paper, no page is fetched twice.
        for url in [url for url in waiting if url in self._tried]:
            del waiting[url]
        for call in range(CALLS_PER_ROUND):
            if len(waiting) >= count and (call or operator.costly):
                break
            for one in self._asked_for(name):
                before = waiting.get(one.url)
                evidence = one.evidence + (before.evidence if before else 0.0)
                waiting[one.url] = replace(one, evidence=evidence)
        best = sorted(waiting.values(), key=lambda one: -one.evidence)
        self._backlog[name] = {one.url: one for one in best[count : count + MAX_BACKLOG]}
        return best[:count]

    def _asked_for(self, name: str) -> list[Candidate]:
        operator, ranked = self._operators[name], self.ranked()
        if operator.share:
            most = max(operator.seeds, int(operator.share * len(ranked)))
            places = list(range(min(most, len(ranked))))
        else:
            begun = self._begun.setdefault(name, {})
            # Unlike the paper: starting twice from one page would find the same.
            fresh = (place for place, url in enumerate(ranked) if url not in begun)
            places = list(islice(fresh, operator.seeds))
            begun.update(dict.fromkeys(ranked[place] for place in places))
        seeds = []
        for place in places:
            via, worth = self.finds.get(ranked[place], ""), 1.0 - place / len(ranked)
            seeds.append(replace(self._pages[ranked[place]], via=via, worth=worth))
        return operator.pages(seeds, MAX_BACKLOG, self._tried) if seeds else []

    def _settle(self, name: str, candidates: Sequence[Candidate]) -> None:
        self.rounds += 1
        seen = set(self._pages)
        via = {one.url: one.via for one in candidates}
        self._tried.update(dict.fromkeys(via))
        pages = [page for page in self._read(list(via)) if page.url not in seen]
        self._pages |= {page.url: page for page in pages}
        self.finds |= {page.url: via.get(page.url, "") for page in pages}
        if pages:
            self._cooldowns.pop(name, None)
        returned = {page.url for page in pages}
        reward = page_reward(self.ranked(), returned, seen)
        # Candidates count, read or not; the paper counts pages returned (section 4.2).
        self.bandit = self.bandit.rewarded(name, reward=reward, pages=len(candidates))
        # New pages may give exhausted operators something to start from.
        self._empty = {} if pages else self._empty

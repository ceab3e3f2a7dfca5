"""The host gate: whether a URL may be fetched, and when, for crawler, single fetches and explanations.

::

    ask(url, now)      -> Answer: host busy or owed a pause? robots.txt due? denied by it?
                          Nothing is sent.
    admit(url, fetch)  -> the Answer for a fetch beside the crawler's rounds: robots.txt is fetched if it is
                          due; back-off is kept, the pause between two requests is not
    take(url, answer)  -> the Answer, or a later one where another daemon asks the host
    release(url, ...)  <- a request ended: what the host is owed now, for the store
    obey(response)     -> the response, empty if a redirect led where robots.txt denies

Rows of hosts are read once and kept, up to a bound. A gate with a store belongs to one thread.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

from classifier.words.latest import Latest
from incremental.base.texts import Text, named
from incremental.base.times import DAY, HOUR
from incremental.fetch.politeness import (
    LONGEST_ASKED_SECONDS,
    HostState,
    after_visit,
    host_key,
    polite_delay_seconds,
)
from incremental.fetch.robots import RobotsPolicy, follow_robots, robots_url
from incremental.fetch.status import FetchStatus, Request, Response
from incremental.settings import Settings
from store import Store
from store.daemons import Daemons
from store.values import HostRow

# Origins whose parsed robots.txt is kept in memory (paper 004); others are read from the store again.
MOST_POLICIES = 1_000
# Hosts kept in memory: those that discovery asks hardly ever come again.
MOST_HOSTS = 1_000
# Rules whose term ends later than this from now were read by a clock that was ahead.
FURTHEST_TERM_SECONDS = DAY + HOUR
# A host whose last request kept a worker for longer is slow.
SLOW_SECONDS = 5.0
# A page denied by robots.txt is asked about again after this long.
DENIED_RETRY_SECONDS = DAY


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether one URL may be fetched at one moment."""

    allowed_at: float
    """From when on its host may be asked; may be in the past."""
    busy: bool
    """A request to the host is under way."""
    failures: int
    """Requests in a row that failed for the whole host."""
    robots_due: bool
    """robots.txt must be fetched first: its rules are unknown or have expired."""
    refusal: FetchStatus | None
    """Why the URL may not be fetched, by the last known rules; None = it may, or they are unknown."""
    retry_at: float
    """When to ask again about a refused URL."""
    delay_seconds: float
    """The pause between two requests that robots.txt asks for."""
    says: str
    """In words, for people."""


class HostTurns:
    """The turns of one daemon at hosts: the store knows who asks each, and when it is free.

    ::

        take(host)  ── one statement ──>  ours, or how long to wait
        free(host)  ── with the next take, or within seconds ──>  free after what it is owed

    Thread-safe: icons are asked for beside the crawler.
    """

    def __init__(self, daemons: Daemons) -> None:
        self._daemons = daemons
        self._daemon = 0
        # Until when each is owed a pause, by this machine's clock.
        self._freed: dict[str, float] = {}
        self._lock = Lock()

    def begin(self, daemon: int) -> None:
        """Take turns as the daemon of this id."""
        self._daemon = daemon
        self._freed.clear()

    def take(self, host: str, delay_seconds: float, now: float) -> float:
        """Take a host for one request; return 0, or how many seconds to wait.

        Raises:
            StoreFencedError: another daemon has taken over.
        """
        freed = self._given_back(now)
        return self._daemons.take_host(self._daemon, host, delay_seconds=delay_seconds, freed=freed)

    def free(self, host: str, until: float) -> None:
        """Give a host back, which may be asked again from *until* on."""
        with self._lock:
            self._freed[host] = until

    def settle(self, busy: Sequence[str], now: float) -> None:
        """Write what was given back; *busy* hosts are being asked."""
        self._daemons.settle_hosts(self._daemon, self._given_back(now), busy)

    def _given_back(self, now: float) -> dict[str, float]:
        """Return the pauses as seconds from now: only these mean the same on every machine."""
        with self._lock:
            freed, self._freed = self._freed, {}
        return {host: max(until - now, 0.0) for host, until in freed.items()}


class HostGate:
    """What hosts allow and are owed, from the store and from this process's fetches since."""

    def __init__(
        self, store: Store | None, settings: Settings, turns: HostTurns | None = None
    ) -> None:
        """Make a gate; *store* None = it knows this process's fetches alone.

        *turns*: those of several daemons, None = there is one.
        """
        self._lock = Lock()
        self._store = store
        self._turns = turns
        self._settings = settings
        # A visit elsewhere goes on when the daemon has ended, stands still or is cut off from the store.
        outlives = settings.engine.kind != "threads"
        self._outlives_seconds = settings.fetch.visit_timeout_seconds if outlives else 0.0
        self._hosts: OrderedDict[str, HostState] = OrderedDict()
        self.busy: dict[str, float] = {}
        """Hosts to which a request is under way, and since when."""
        # Of those in memory.
        self._quick: set[str] = set()
        self._policies: Latest[str, RobotsPolicy] = Latest(MOST_POLICIES)

    def ask(self, url: str, now: float, rules: RobotsPolicy | None = None) -> Answer:
        """Return whether *url* may be fetched at *now*, by *rules* of its origin if they are given."""
        with self._lock:
            host, policy = self._host(host_key(url), now), rules or self.rules(url)
        refusal: FetchStatus | None = None
        retry_at, says = now + DENIED_RETRY_SECONDS, Text("robots.allowed")
        if policy is None:
            says = Text("robots.not_asked")
        elif policy.status is FetchStatus.FORBIDDEN_ADDRESS and not policy.reachable:
            refusal, retry_at = FetchStatus.FORBIDDEN_ADDRESS, policy.expires_at
            says = Text("robots.not_public")
        elif not policy.reachable:
            refusal, retry_at = FetchStatus.ROBOTS_UNREACHABLE, policy.expires_at
            says = Text("robots.robots_away", why=named("fetch", policy.status))
        elif not policy.allows(url):
            refusal, says = FetchStatus.ROBOTS_DENIED, Text("robots.denied")
        return Answer(
            allowed_at=host.next_allowed_at,
            busy=host.name in self.busy,
            failures=host.failures,
            robots_due=rules is None
            and (policy is None or not now < policy.expires_at <= now + FURTHEST_TERM_SECONDS),
            refusal=refusal,
            retry_at=retry_at,
            delay_seconds=(policy.crawl_delay_seconds if policy is not None else None) or 0.0,
            says=says,
        )

    def admit(
        self,
        url: str,
        fetch: Callable[[Request], Response],
        now: float,
        *,
        rules: RobotsPolicy | None = None,
        put: Callable[[HostRow], object] = lambda _: None,
    ) -> Answer:
        """Answer for a single fetch or a part of a page; a back-off after failures is a refusal.

        A robots.txt that is due is fetched, and *put* stores what its host is owed.
        """
        answer = self.ask(url, now, rules)
        if answer.failures and answer.allowed_at > now:
            wait = Text("robots.trouble", seconds=f"{answer.allowed_at - now:.0f}")
            return replace(answer, refusal=FetchStatus.RATE_LIMITED, says=wait)
        if answer.robots_due:
            robots = follow_robots(fetch, fetch(Request(robots_url(url))))
            put(self.release(url, robots, now, robots=True))
            answer = self.ask(url, now)
        return answer

    def allowed_at(self, url: str, now: float) -> float:
        """Return from when on the host of *url* may be asked, whatever its robots.txt says."""
        return self._host(host_key(url), now).next_allowed_at

    def take(self, url: str, answer: Answer, now: float) -> Answer:
        """Take the host's turn for a request that *answer* allows; return a later answer without it."""
        refused = answer.refusal is not None and not answer.robots_due
        if self._turns is None or answer.allowed_at > now or refused:
            return answer
        host = self._host(host_key(url), now)
        delay = polite_delay_seconds(host, self._settings.politeness)
        wait = self._turns.take(host.name, self._outlives_seconds + delay, now)
        if not wait:
            return answer
        self._keep(replace(host, next_allowed_at=now + wait))
        return replace(answer, allowed_at=now + wait)

    def reserve(self, url: str, seconds: float, now: float) -> bool:
        """Keep the host of *url* from the crawler for so long, for a single fetch; False = not now."""
        with self._lock:
            host = self._host(host_key(url), now)
            if host.name in self.busy or host.next_allowed_at > now:
                return False
            wait = 0.0 if self._turns is None else self._turns.take(host.name, seconds, now)
            self._keep(replace(host, next_allowed_at=now + (wait or seconds)))
        return not wait

    def occupy(self, url: str, now: float) -> None:
        """Mark the host of *url* as busy."""
        self.busy[host_key(url)] = now

    def is_quick(self, url: str, now: float) -> bool:
        """Whether the host of *url* answered its last request, in this process within a few seconds."""
        return self._host(host_key(url), now).name in self._quick

    def release(
        self, url: str, response: Response, now: float, *, robots: bool = False, requests: int = 1
    ) -> HostRow:
        """Take in a finished request; return what its host is owed, for the store.

        *robots*: it was a robots.txt, whose rules apply from now on. *requests*: that were sent, with those
        for what belongs to the page.
        """
        with self._lock:
            # First of all: what follows may meet a store that cannot be used.
            since = self.busy.pop(host_key(url), now)
            host = self._host(host_key(url), now)
            if robots:
                # robots.txt is fetched once a day; a crawl delay of a day after it would leave no page.
                host = replace(host, crawl_delay_seconds=None)
            wait = response.retry_after_seconds
            polite = self._settings.politeness
            host = after_visit(host, response.status, wait, now, polite, requests=requests)
            if host.failures or now - since > SLOW_SECONDS:
                self._quick.discard(host.name)
            else:
                self._quick.add(host.name)
            rules: str | None = None
            if robots:
                agent = self._settings.fetch.product_token
                policy = RobotsPolicy.from_response(response, agent, now, self.rules(url))
                self._policies[robots_url(url)] = policy
                host = replace(host, crawl_delay_seconds=policy.crawl_delay_seconds)
                stored = self._stored(host.name) | {robots_url(url): policy.to_stored()}
                rules = json.dumps(stored, ensure_ascii=False)
            self._keep(host)
        if self._turns is not None:
            self._turns.free(host.name, host.next_allowed_at)
        delay = host.crawl_delay_seconds
        until = response.certificate_until
        return HostRow(host.name, host.next_allowed_at, host.failures, delay, rules, until)

    def obey(self, response: Response, rules: RobotsPolicy | None = None) -> Response:
        """Drop a body that came, by redirect, from a URL that robots.txt denies; *rules* as for ask()."""
        with self._lock:
            policy = (rules or self.rules(response.url)) if response.redirects else None
        if policy is None or policy.allows(response.url):
            return response
        return replace(response, status=FetchStatus.ROBOTS_DENIED, body=b"")

    def sitemaps(self, url: str) -> tuple[str, ...]:
        """Return the sitemaps that the robots.txt for *url* names."""
        policy = self.rules(url)
        return policy.sitemaps if policy is not None else ()

    def set_back(self, seconds: float) -> None:
        """Shift what hosts are owed after the clock went back."""
        for name, host in self._hosts.items():
            self._hosts[name] = replace(host, next_allowed_at=host.next_allowed_at - seconds)

    def _host(self, name: str, now: float) -> HostState:
        host = self._hosts.get(name)
        if host is None:
            row = self._row(name)
            host = HostState(name)
            if row is not None:
                owed = self._believable(row.next_allowed_at, now)
                host = HostState(name, owed, row.failures, row.crawl_delay_seconds)
                if not row.failures:
                    self._quick.add(name)
            self._keep(host)
        return host

    def _row(self, name: str) -> HostRow | None:
        return self._store.read.host(name) if self._store is not None else None

    def _keep(self, host: HostState) -> None:
        """Keep a host in memory; the one kept longest unchanged is read from the store again."""
        self._hosts[host.name] = host
        self._hosts.move_to_end(host.name)
        while len(self._hosts) > MOST_HOSTS:
            self._quick.discard(self._hosts.popitem(last=False)[0])

    def _believable(self, next_allowed_at: float, now: float) -> float:
        """Return a stored time, or *now* for one that only a clock that was ahead can have written."""
        longest = max(LONGEST_ASKED_SECONDS, self._settings.politeness.max_backoff_seconds)
        return next_allowed_at if next_allowed_at <= now + longest else now

    def rules(self, url: str) -> RobotsPolicy | None:
        """Return the last known rules of the origin of *url*; None = unknown."""
        key = robots_url(url)
        if key in self._policies:
            self._policies.move_to_end(key)
            return self._policies[key]
        stored = self._stored(host_key(url)).get(key)
        if stored is None:
            return None
        if stored["status"] == FetchStatus.FORBIDDEN_ADDRESS:
            # The settings may have changed since and allow it; if not, nothing leaves.
            stored |= {"fetched_at": 0.0, "failures": 0}
        agent = self._settings.fetch.product_token
        policy = RobotsPolicy.from_stored(stored, agent)
        self._policies[robots_url(url)] = policy
        return policy

    def _stored(self, name: str) -> dict[str, dict[str, Any]]:
        """Return a host's stored robots.txt files, by URL."""
        row = self._row(name)
        found: dict[str, dict[str, Any]] = json.loads(row.robots or "{}") if row else {}
        return found

"""The life of a watcher: rounds of visits of the kinds and in the shares that replays have."""

import contextlib
import itertools
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from incremental.base.urls import canonical_key
from incremental.crawl.facts import FactReader
from incremental.decide.hub_facts import ListFacts, RobotsFacts, SameFacts, SameLinksFacts
from incremental.decide.refresh import RefreshFacts
from incremental.decide.verification import VerifiedFacts
from incremental.settings.loading import build_settings
from lab.load_server import MENU, LoadServer, Mix
from lab.scrapy_rounds import Round, scrapy_reads
from lab.speed import SETTINGS, Crawling, Phase, Setup, add_lists, addresses_of, crawl, crawling
from store.enums import HubKind, HubRole
from store.values import NewHub, SeenLink

KINDS = ("first", "unchanged", "same_links", "changed", "verification", "robots", "other")
SHARES = Path(__file__).resolve().parents[2] / "benchmarks" / "mix.json"
_MIXES = {"mix": "with_validators", "mix_without_validators": "without_validators"}
_ROUNDS = 4
# Between two rounds the clock is put forward by this: longer than the longest interval.
_LATER_SECONDS = 1_800.0
_STAGGERED_SECONDS = 60.0
_WHOLE = 10_000
_KIND_OF: Mapping[type, str] = {
    RobotsFacts: "robots",
    VerifiedFacts: "verification",
    RefreshFacts: "verification",
    SameFacts: "unchanged",
    SameLinksFacts: "same_links",
}


def kind_of(facts: object) -> str:
    """Return the kind of a visit, one of ``KINDS``, by its facts."""
    if isinstance(facts, ListFacts):
        return "first" if facts.hub.baseline_at is None else "changed"
    return _KIND_OF.get(type(facts), "other")


@contextlib.contextmanager
def counted_kinds() -> Iterator[Counter[str]]:
    """Count the visits of all crawlers by kind, and the ``new_links`` of changed lists."""
    counts: Counter[str] = Counter()
    ask = FactReader.ask

    def counted(reader: FactReader, *arguments: Any) -> Any:  # noqa: ANN401 - passed on
        facts = ask(reader, *arguments)
        if facts is not None:
            counts[kind_of(facts)] += 1
        if isinstance(facts, ListFacts) and facts.hub.baseline_at is not None:
            found, known = facts.view.found, facts.view.known
            counts["new_links"] += sum(link.canonical_key not in known for link in found)
        return facts

    with patch.object(FactReader, "ask", counted):
        yield counts


@dataclass(frozen=True)
class Measured:
    """A mix, as it was crawled."""

    rounds: Sequence[tuple[str, Sequence[str]]]
    """Path that changes the server, and the lists there are."""
    phases: Sequence[Phase]
    kinds: Mapping[str, int]

    @property
    def per_second(self) -> float:
        """Visits of lists and articles a second."""
        done = sum(one.in_time + one.articles for one in self.phases)
        return done / sum(one.seconds for one in self.phases)

    def figures(self, name: str) -> dict[str, Any]:
        """Return the figures, with keys that begin with *name*."""
        visits = sum(count for kind, count in self.kinds.items() if kind in KINDS)
        cpu_seconds = sum(sum(one.rooms.values()) for one in self.phases)
        return {
            f"{name}_per_second": self.per_second,
            f"cpu_ms_{name}": 1000 * cpu_seconds / visits,
            f"{name}_statements": sum(one.statements for one in self.phases) / visits,
            f"{name}_shares": {kind: self.kinds.get(kind, 0) / visits for kind in KINDS},
        }


def measure_mixes(
    pages: int, hosts: int, tick: Callable[[str, int], None], setup: Callable[[str], Setup]
) -> dict[str, Measured]:
    """Crawl both mixes on *pages* lists of *hosts*, each on the place that *setup* gives by its name."""
    shares = json.loads(SHARES.read_text(encoding="utf-8"))
    # The menu names no list that is not visited.
    hosts = min(hosts, max(pages // MENU, 1))
    return {
        name: _measure(pages, hosts, shares[kind], partial(tick, name), setup(name))
        for name, kind in _MIXES.items()
    }


def _measure(
    pages: int,
    hosts: int,
    shares: Mapping[str, float],
    tick: Callable[[int], None],
    setup: Setup,
) -> Measured:
    settings = build_settings(SETTINGS | {"news": {"max_per_day": 1_000_000}})
    of_lists = sum(shares[kind] for kind in ("first", "unchanged", "same_links", "changed"))
    same, changed = (int(_WHOLE * shares[kind] / of_lists) for kind in ("same_links", "changed"))
    tags, new = int(shares["tags"]), int(_WHOLE * shares["new_links"])
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hubwatch-mix-")))
        server = stack.enter_context(LoadServer())
        lists = list(itertools.chain(*addresses_of(server, pages, hosts)))
        late = _late(lists, shares["first"] / of_lists)
        rounds = [
            (Mix(number, same, changed, new, tags).path, _there(lists, late, number))
            for number in range(_ROUNDS + 1)
        ]
        world = stack.enter_context(crawling(folder, settings, setup))
        server.ask(rounds[0][0])
        world.visits.lists |= add_lists(
            world.store, server, pages, hosts, HubRole.USER, without=frozenset(late)
        )
        # The first requests after a start are spread over a minute, which has passed by now.
        world.crawler.load(world.now() - _STAGGERED_SECONDS)
        for _ in range(2):  # what the first reading leads to is read in the second
            crawl(world, len(world.visits.lists), tick)
            world.offset += _LATER_SECONDS
        kinds, phases = stack.enter_context(counted_kinds()), []
        for number, (path, _) in enumerate(rounds[1:], 1):
            server.ask(path)
            _add(world, [url for url, when in late.items() if when == number])
            phases.append(crawl(world, len(world.visits.lists), tick))
            world.offset += _LATER_SECONDS
    return Measured(rounds, phases, dict(kinds))


def _late(lists: Sequence[str], share: float) -> dict[str, int]:
    """Return the lists that come later, and the rounds that they come in."""
    sections = [url for url in lists if url.count("/") > 3]  # noqa: PLR2004 - a home page has three
    count = min(round(share * _ROUNDS * len(lists)), len(sections))
    step = max(len(sections) // max(count, 1), 1)
    return {url: 1 + number % _ROUNDS for number, url in enumerate(sections[::step][:count])}


def _there(lists: Sequence[str], late: Mapping[str, int], number: int) -> list[str]:
    return [url for url in lists if late.get(url, 0) <= number]


def _add(world: Crawling, urls: Sequence[str]) -> None:
    now = world.now()
    hub = NewHub(HubKind.HTML, HubRole.USER, 1.0, "given by you", now)
    for site in world.store.read.sites():
        mine = [url for url in urls if url.startswith(site.seed_url)]
        links = [SeenLink(canonical_key(url), url, hub=hub) for url in mine]
        world.visits.lists |= set(world.store.write.add_pages(site.id, links, now=now).values())
    world.crawler.load(now)


def scrapy_mix(mix: Measured) -> dict[str, float]:
    """Let Scrapy read the same lists in the same rounds, and the articles that they gain."""
    with LoadServer() as server, tempfile.TemporaryDirectory(prefix="hubwatch-peer-") as folder:
        home = server.url(0).rstrip("/")
        port = f":{home.rpartition(':')[2]}/"
        rounds = [
            Round([_moved(url, port) for url in lists], home + path, counted=number > 0)
            for number, (path, lists) in enumerate(mix.rounds)
        ]
        return scrapy_reads(rounds, Path(folder))


def _moved(url: str, port: str) -> str:
    """Return an address on the server of another *port*."""
    scheme, host, rest = url.split(":", 2)
    return f"{scheme}:{host}{port}{rest.partition('/')[2]}"

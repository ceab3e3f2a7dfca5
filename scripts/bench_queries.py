#!/usr/bin/env python3
"""Time the questions that people and the crawler ask, on a store of a given size.

    scripts/bench_queries.py --pages 1e5 --sightings 1e6
    scripts/bench_queries.py --pages 1e6 --sightings 1e7 --json

The store is synthetic and lies in a temporary folder (``--folder`` keeps it, and uses it again): sites
of 500 pages, 20 of them hubs; four in five of the others announced over two years and read, with titles
and texts whose words follow Zipf's law, in English, Chinese, German and Finnish; one in a hundred
unread, one in a thousand starred; three topics, of a fifth, a hundredth and a ten-thousandth of the
pages; one text in twenty copied. Each question is asked ``--runs`` times, with other parameters
each time; the first time counts like the others. Besides the time that passed, the time that the
process was at work is given: on a busy machine the rest is waiting for a turn.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, not installed

from lab.printing import show
from rich.console import Console
from rich.progress import Progress

from store import Store, open_store
from store.answers import NewQuery
from store.enums import HubClass
from store.search.fulltext import words_of
from store.values import ReadText, VisitRecord

SITE_PAGES, SITE_HUBS = 500, 20
ANNOUNCED_SHARE = 0.8
START, SPAN = 1_700_000_000.0, 2 * 365 * 86_400.0
NOW = START + SPAN
LANGUAGES = ("en", "zh", "de", "fi")
LANGUAGE_WEIGHTS = (60, 30, 9, 1)
TOPIC_SHARES = (0.2, 0.01, 0.0001)
VOCABULARY = 50_000
BANDS = 12
BATCH = 2_000

Rows = Iterator[tuple[Any, ...]]


def main(arguments: list[str] | None = None) -> int:
    """Make the store, ask the questions, report; 0 = done."""
    options = _options(arguments)
    folder = Path(options.folder or tempfile.mkdtemp(prefix="hubwatch-bench-"))
    try:
        report = _bench(options, folder)
    finally:
        if options.folder is None:
            shutil.rmtree(folder, ignore_errors=True)
    show(report)
    if options.json:
        print(json.dumps(report))
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pages", type=float, default=1e5)
    parser.add_argument("--sightings", type=float, default=1e6)
    parser.add_argument("--words", type=int, default=80, help="of each text")
    parser.add_argument("--runs", type=int, default=50, help="of each question")
    parser.add_argument("--folder", help="keep the store here, or use the one that is here")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(arguments)


def _bench(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    path = folder / "bench.sqlite"
    there = path.exists()
    began = time.perf_counter()
    with open_store(str(path), cache_folder=folder / "pages") as store:
        world = World(int(options.pages), int(options.sightings), options.words)
        if not there:
            world.fill(store)
        made = time.perf_counter() - began
        queries = _ask(store, world, options.runs)
    return {
        "pages": world.pages,
        "sightings": world.sightings,
        "announced": world.announced,
        "bytes": sum(file.stat().st_size for file in folder.glob("bench.sqlite*")),
        "seconds_to_make": None if there else round(made, 1),
        "queries": queries,
    }


class World:
    """The synthetic store: what it holds follows from its size alone, so a kept one can be asked again."""

    def __init__(self, pages: int, sightings: int, words: int) -> None:
        self.pages = max(pages, 2 * SITE_PAGES)
        self.sites = self.pages // SITE_PAGES
        self.pages = self.sites * SITE_PAGES
        self.sightings = sightings
        self._words = words
        self.announced = sum(self.is_announced(page) for page in range(1, self.pages + 1))
        draws = random.Random(1)
        # Zipf's law: the rank of a word drawn from a uniform u is about VOCABULARY ** u.
        self._ranks = [int(VOCABULARY ** draws.random()) - 1 for _ in range(200_000)]

    def site_of(self, page: int) -> int:
        """Return the id of a page's site."""
        return (page - 1) // SITE_PAGES + 1

    def is_hub(self, page: int) -> bool:
        """Return whether a page is a hub: the first of each site are."""
        return (page - 1) % SITE_PAGES < SITE_HUBS

    def is_announced(self, page: int) -> bool:
        """Return whether a page was announced as new."""
        return not self.is_hub(page) and page % 10 < 10 * ANNOUNCED_SHARE

    def hub_of(self, page: int, number: int = 0) -> int:
        """Return a hub that shows a page; *number* 0 is the first that did."""
        return (self.site_of(page) - 1) * SITE_PAGES + 1 + (page + number) % SITE_HUBS

    def url(self, page: int) -> str:
        """Return a page's address."""
        return f"https://site{self.site_of(page)}.example/{page}.html"

    def announced_order(self) -> list[int]:
        """Return the announced pages in order of announcement, sites in turn."""
        per_site = [page for page in range(1, SITE_PAGES + 1) if self.is_announced(page)]
        steps = range(0, self.pages, SITE_PAGES)
        return [step + page for page in per_site for step in steps]

    def language(self, page: int) -> str:
        """Return the language of a page."""
        draws = random.Random(page)
        return draws.choices(LANGUAGES, LANGUAGE_WEIGHTS)[0]

    def words(self, page: int, count: int) -> str:
        """Return a text: a copy of another page's for one page in twenty."""
        source = page - 1 if page % 20 == 0 else page
        start = source * 7919 % (len(self._ranks) - count)
        ranks = self._ranks[start : start + count]
        if self.language(source) == "zh":
            return "".join(map(han_word, ranks))
        return " ".join(f"word{rank}" for rank in ranks)

    # Filling.

    def fill(self, store: Store) -> None:
        """Insert all of it."""
        steps: list[tuple[str, str, int, Rows]] = [
            ("sites", _SITE, self.sites, self._sites()),
            ("pages", _PAGE, self.pages, self._pages()),
            ("hubs", _HUB, self.sites * SITE_HUBS, self._hubs()),
            ("sightings", _SIGHTING, self.sightings, self._sightings()),
            ("visits", _VISIT, self.pages, self._visits()),
            ("changes", _CHANGE, self.announced, self._changes()),
            ("announced pages", _NEWS, self.announced, self._news()),
            ("scores", _SCORE, self.announced, self._scores()),
            ("texts", _TEXT, self.announced, self._texts()),
            ("words", _WORDS, self.announced, self._index()),
            ("bands of signatures", _BAND, self.announced * BANDS, self._bands()),
            ("checks", _CHECK, self.announced, self._checks()),
        ]
        database: Any = store.database
        connection = database.connection()
        for number, share in enumerate(TOPIC_SHARES, 1):
            connection.execute(_TOPIC, (number, f"topic {share}", START, START))
        console = Console(stderr=True)
        with Progress(console=console, disable=not console.is_terminal) as progress:
            for name, statement, total, rows in steps:
                task = progress.add_task(name, total=total)
                for batch in _batches(rows):
                    connection.execute("BEGIN")
                    connection.executemany(statement, batch)
                    connection.execute("COMMIT")
                    progress.advance(task, len(batch))
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _sites(self) -> Rows:
        for site in range(1, self.sites + 1):
            yield site, f"https://site{site}.example/", f"site{site}.example", START

    def _pages(self) -> Rows:
        for page in range(1, self.pages + 1):
            url, announced = self.url(page), self.is_announced(page)
            title = self.words(page, 8) if announced else ""
            at = START + SPAN * page / self.pages
            canonical_key = url.removeprefix("https:")
            announced_at = at if announced else None
            due_at = NOW - 60 if page % 1_000 == SITE_HUBS + 1 else None
            yield (
                *(page, self.site_of(page), canonical_key, url, title, title, self.language(page)),
                *(at, self.hub_of(page), announced_at, due_at),
            )

    def _hubs(self) -> Rows:
        for page in filter(self.is_hub, range(1, self.pages + 1)):
            yield page, self.site_of(page), NOW + page % 7_200 - 3_600, START, START

    def _sightings(self) -> Rows:
        """Yield sightings: each page on as many hubs of its site as the number asks for."""
        each, more = divmod(self.sightings, self.pages)
        for page in range(1, self.pages + 1):
            for number in range(min(each + (page <= more), SITE_HUBS)):
                gone = None if page % SITE_PAGES > SITE_PAGES - 60 else NOW
                yield self.hub_of(page, number), page, START + SPAN * page / self.pages, gone

    def _visits(self) -> Rows:
        for page in range(1, self.pages + 1):
            yield page, START + SPAN * page / self.pages, "fetched"

    def _announced(self) -> Iterator[tuple[int, int, float]]:
        """Yield (cursor, page, time)."""
        for number, page in enumerate(self.announced_order(), 1):
            yield number, page, START + SPAN * number / self.announced

    def _changes(self) -> Rows:
        for number, page, at in self._announced():
            yield number, self.site_of(page), page, at, self.hub_of(page)

    def _news(self) -> Rows:
        for number, page, at in self._announced():
            read_at = None if number % 100 == 0 else at
            starred_at = at if number % 1_000 == 1 else None
            row = (number, page, self.site_of(page), self.hub_of(page), at)
            yield (*row, self.language(page), read_at, starred_at)

    def _scores(self) -> Rows:
        for _, page, at in self._announced():
            draws = random.Random(page + 1)
            for topic, share in enumerate(TOPIC_SHARES, 1):
                if draws.random() < share:
                    yield page, topic, draws.uniform(0.4, 1.0), "relevant", at

    def _texts(self) -> Rows:
        for _, page, at in self._announced():
            cluster = page - 1 if page % 20 == 0 and self.is_announced(page - 1) else page
            yield page, self.words(page, 8), cluster, self._signature(cluster), at

    @staticmethod
    def _signature(cluster: int) -> bytes:
        return random.Random(cluster).randbytes(120)

    def _bands(self) -> Rows:
        for page, _, cluster, _, _ in self._texts():
            draws = random.Random(-cluster)
            for _ in range(BANDS):
                yield draws.getrandbits(63), page

    def _index(self) -> Rows:
        from store.search.fulltext import _parts  # noqa: PLC0415 - what index_page inserts, row by row

        for number, page, _ in self._announced():
            head, body = _parts(words_of(self.words(page, 8), self.words(page, self._words)))
            yield number, head, body

    def _checks(self) -> Rows:
        for _, page, _ in self._announced():
            yield page, self.site_of(page), NOW + (page % 90 - 5) * 86_400


def _insert(table: str, columns: str, **fixed: object) -> str:
    """Write an INSERT of rows with these columns, and with the same values in the *fixed* ones."""
    names = columns.split()
    values = ["?"] * len(names) + [repr(value) for value in fixed.values()]
    listed = ", ".join([*names, *fixed])
    return f"INSERT OR IGNORE INTO {table} ({listed}) VALUES ({', '.join(values)})"  # noqa: S608 - ours


_JSON = "{}"
_SITE = _insert(
    "site",
    "id seed_url name added_at",
    state="active",
    **dict.fromkeys(("scope", "path_aliases", "budget", "revisit", "origin"), _JSON),
)
_PAGE = _insert(
    "page",
    "id site_id canonical_key url anchor title language first_seen_at first_hub_id announced_at"
    " verify_due_at",
    state="known",
)
_HUB = _insert(
    "hub",
    "page_id site_id due_at baseline_at visited_at",
    kind="html",
    role="list",
    state="active",
    score=0.9,
    why="",
    revisit=_JSON,
    way=_JSON,
    **dict.fromkeys(("visits", "failures", "new_pages", "unproductive_visits", "shown_links"), 1),
)
_SIGHTING = _insert(
    "sighting", "hub_id page_id first_seen_at gone_at", anchor="", tag_path="", position=0
)
_VISIT = _insert(
    "visit",
    "page_id at status",
    detail="",
    **dict.fromkeys(("body_bytes", "elapsed_seconds", "links", "new_pages", "overflow"), 0),
)
_CHANGE = _insert("change", "id site_id page_id at hub_id", kind="added", detail="")
_NEWS = _insert("news", "id page_id site_id hub_id found_at language read_at starred_at")
_TOPIC = _insert(
    "topic",
    "id name created_at changed_at",
    keywords="[]",
    description="",
    include="[]",
    exclude="[]",
    warnings="[]",
    method="fused",
    state="ready",
    **dict.fromkeys(("why", "model", "version", "links"), ""),
)
_SCORE = _insert(
    "page_topic", "page_id topic_id score verdict at", fetched=1, method="", version="", terms="[]"
)
_TEXT = _insert("page_text", "page_id title cluster signature at")
_BAND = _insert("page_band", "band page_id")
_WORDS = "INSERT INTO news_words (rowid, title, body) VALUES (?, ?, ?)"
_CHECK = _insert("refresh", "page_id site_id due_at", checks=0)


def han_word(rank: int) -> str:
    """Return the Chinese word of a rank: two characters, of three thousand."""
    return chr(0x4E00 + rank % 3_000) + chr(0x4E00 + rank * 7 % 2_999)


def _batches(rows: Rows) -> Iterator[list[tuple[Any, ...]]]:
    batch: list[tuple[Any, ...]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch


Question = Callable[[random.Random], object]


def _questions(store: Store, world: World) -> dict[str, Question]:
    def new(**fixed: Any) -> Question:  # noqa: ANN401 - fields of NewQuery
        return lambda _: store.answers.new(NewQuery(**fixed))

    def drawn(draw: Callable[[random.Random], dict[str, Any]], **fixed: Any) -> Question:  # noqa: ANN401 - likewise
        return lambda draws: store.answers.new(NewQuery(**draw(draws), **fixed))

    def site(draws: random.Random) -> int:
        return draws.randint(1, world.sites)

    def cursor(draws: random.Random) -> int:
        return draws.randint(1, world.announced)

    def page(draws: random.Random) -> int:
        return next(
            p for _ in iter(int, 1) if world.is_announced(p := draws.randint(1, world.pages))
        )

    def rank(draws: random.Random, low: int, high: int) -> int:
        return draws.randint(low, high)

    answers, read = store.answers, store.read
    month = 30 * 86_400.0
    return {
        "new: newest": new(),
        "new: next page from anywhere": drawn(lambda d: {"after": cursor(d)}),
        "new: follow from anywhere": drawn(lambda d: {"after": cursor(d)}, order="oldest"),
        "new: of a site": drawn(lambda d: {"sites": (site(d),)}),
        "new: of 20 sites": drawn(lambda d: {"sites": tuple(site(d) for _ in range(20))}),
        "new: of a hub": drawn(lambda d: {"hubs": (world.hub_of(page(d)),)}),
        "new: in a common language": new(language="en"),
        "new: in a rare language": new(language="fi"),
        "new: unread": new(read=False),
        "new: unread of a site": drawn(lambda d: {"sites": (site(d),)}, read=False),
        "new: starred": new(starred=True),
        "new: of the last day": new(since=NOW - 86_400),
        "new: of a month, any": drawn(lambda d: _span(START + d.random() * (SPAN - month), month)),
        "new: of a common topic": new(topic=1),
        "new: of a rare topic": new(topic=2),
        "new: of a very rare topic": new(topic=3),
        "new: topic and score": new(topic=1, min_score=0.95),
        "new: topic, unread": new(topic=1, read=False),
        "search: common word": drawn(lambda d: {"text": f"word{rank(d, 1, 20)}"}),
        "search: word of middle rank": drawn(lambda d: {"text": f"word{rank(d, 100, 1_000)}"}),
        "search: rare word": drawn(lambda d: {"text": f"word{rank(d, 20_000, 49_000)}"}),
        "search: two words": drawn(
            lambda d: {"text": f"word{rank(d, 1, 50)} word{rank(d, 1, 50)}"}
        ),
        "search: a phrase": drawn(lambda d: {"text": f'"{_phrase(world, page(d))}"'}),
        "search: begin*": drawn(lambda d: {"text": f"word{rank(d, 100, 999)}*"}),
        "search: Chinese, two characters": drawn(lambda d: {"text": han_word(rank(d, 1, 2_000))}),
        "search: Chinese, one character": drawn(lambda d: {"text": han_word(rank(d, 1, 2_000))[0]}),
        "search: common word, unread": drawn(
            lambda d: {"text": f"word{rank(d, 1, 20)}"}, read=False
        ),
        "search: word of a site": drawn(
            lambda d: {"text": f"word{rank(d, 1, 500)}", "sites": (site(d),)}
        ),
        "counts": lambda _: answers.totals(),
        "counts by site": lambda _: answers.counts(),
        "page: all of it": lambda d: answers.page(page(d)),
        "page: history": lambda d: answers.history(page(d)),
        "page: copies": lambda d: answers.copies(page(d)),
        "page: sightings": lambda d: read.sightings(page(d)),
        "page: by URL": lambda d: read.find_page(world.url(p := page(d)), world.url(p)[6:]),
        "mark 50 as read": lambda d: answers.mark([page(d) for _ in range(50)], now=NOW, read=True),
        "write: a page that was read": lambda d: store.write.visit(
            _verification(world, page(d), d)
        ),
        "crawler: due hubs": lambda d: read.due_hubs(site(d), NOW, HubClass.REVISIT, limit=8),
        "crawler: due looks": lambda d: read.due_verifications(site(d), NOW),
        "crawler: due checks": lambda d: store.refreshes.due(site(d), NOW, watched=False),
        "crawler: 200 known pages": lambda d: read.known(
            s := site(d), [world.url((s - 1) * SITE_PAGES + n)[6:] for n in range(1, 201)]
        ),
        "crawler: shown by a hub": lambda d: read.visible(world.hub_of(page(d))),
        "crawler: told today": lambda d: read.announced_since(site(d), NOW - 86_400),
    }


def _verification(world: World, page: int, draws: random.Random) -> VisitRecord:
    """Return the record of a look at a page whose text has changed."""
    other = draws.randint(1, world.pages)
    bands = tuple(draws.getrandbits(63) for _ in range(BANDS))
    text = ReadText("title", world.words(other, 300), "0" * 32, "en", draws.randbytes(120), bands)
    return VisitRecord(world.site_of(page), page, NOW, "fetched", text=text)


def _span(start: float, length: float) -> dict[str, Any]:
    return {"since": start, "until": start + length}


def _phrase(world: World, page: int) -> str:
    return " ".join(world.words(page, 8).split()[2:5])[:40]


def _ask(store: Store, world: World, runs: int) -> dict[str, dict[str, float]]:
    found = {}
    console = Console(stderr=True)
    questions = _questions(store, world)
    with Progress(console=console, disable=not console.is_terminal) as progress:
        for name, question in progress.track(questions.items(), description="asking"):
            draws = random.Random(name)
            walls, own = [], []
            for _ in range(runs):
                began, busy = time.perf_counter(), time.process_time()
                question(draws)
                walls.append((time.perf_counter() - began) * 1_000)
                own.append((time.process_time() - busy) * 1_000)
            found[name] = {
                "p50_ms": _share(walls, 0.5),
                "p95_ms": _share(walls, 0.95),
                "cpu_p50_ms": _share(own, 0.5),
                "cpu_p95_ms": _share(own, 0.95),
            }
    return found


def _share(times: list[float], share: float) -> float:
    """Return the time below which that share of them lies."""
    return round(sorted(times)[min(int(len(times) * share), len(times) - 1)], 2)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""How long a search by meaning takes, and what vectors take on disk and in memory.

    scripts/bench_like.py --pages 1e5

A SQLite store of announced pages with random
unit vectors is made in a temporary folder; each search is for the 20 pages nearest to one of them.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import statistics
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, not installed

import numpy as np

from classifier.embedding.packing import packed, squeezed
from incremental.topics.embedding.likeness import pages_like, vector_of
from store import Store, open_store
from store.answers import NewQuery

_BATCH = 10_000
_START = 1_700_000_000.0
_MEGABYTE = 1e6


def fill(where: Path, pages: int, dimension: int) -> None:
    """Write *pages* announced pages with vectors, through SQL: the daemon would take hours."""
    numbers = np.random.default_rng(15)
    connection = sqlite3.connect(where)
    connection.execute(
        "INSERT INTO site (id, seed_url, name, scope, state, added_at, path_aliases, budget, revisit, "
        "origin) VALUES (1, 'https://a.example/', 'a.example', '{}', 'active', ?, '{}', '{}', '{}', '{}')",
        (_START,),
    )
    connection.execute("INSERT INTO vector_space (id, name) VALUES (1, 'random')")
    for start in range(1, pages + 1, _BATCH):
        ids = range(start, min(start + _BATCH, pages + 1))
        urls = [f"https://a.example/{number}" for number in ids]
        connection.executemany(
            "INSERT INTO page (id, site_id, canonical_key, url, anchor, title, first_seen_at, announced_at, "
            "state) VALUES (?, 1, ?, ?, 'A page', '', ?, ?, 'known')",
            [(n, url, url, _START + n, _START + n) for n, url in zip(ids, urls, strict=True)],
        )
        connection.executemany(
            "INSERT INTO news (id, page_id, site_id, found_at) VALUES (?, ?, 1, ?)",
            [(n, n, _START + n) for n in ids],
        )
        vectors = numbers.standard_normal((len(ids), dimension)).astype(np.float32)
        meanings = [packed("random", row) for row in vectors]
        connection.executemany(
            "INSERT INTO page_vector (page_id, space, vector, digest) VALUES (?, 1, ?, ?)",
            [
                (n, squeezed(one.packed), n.to_bytes(8, "big"))
                for n, one in zip(ids, meanings, strict=True)
                if one is not None
            ],
        )
    connection.commit()
    connection.close()


def measure(store: Store, pages: int, searches: int, query: NewQuery) -> dict[str, float]:
    """Search *searches* times; return seconds, elapsed and of processor time."""
    elapsed, used = [], []
    for number in range(searches):
        page = 1 + number * pages // searches
        begun, began = time.perf_counter(), time.process_time()
        found = pages_like(store, *vector_of(store, page), query, but=page)
        elapsed.append(time.perf_counter() - begun)
        used.append(time.process_time() - began)
        if len(found) != query.limit:
            sys.exit(f"{len(found)} pages found instead of {query.limit}")
    return {
        "seconds_p50": statistics.median(elapsed),
        "seconds_max": max(elapsed),
        "processor_seconds_p50": statistics.median(used),
    }


def peak_megabytes(store: Store) -> float:
    """Return the most memory that one search allocates, numpy's included."""
    tracemalloc.start()
    pages_like(store, *vector_of(store, 1), NewQuery(limit=20), but=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / _MEGABYTE


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=float, default=1e5)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--searches", type=int, default=7)
    given = parser.parse_args()
    pages = int(given.pages)
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder) / "hubwatch.sqlite"
        open_store(str(where), cache_folder=Path(folder)).close()
        fill(where, pages, given.dimension)
        with open_store(str(where), cache_folder=Path(folder)) as store:
            plain = measure(store, pages, given.searches, NewQuery(limit=20))
            late = NewQuery(limit=20, since=_START + 0.99 * pages)
            filtered = measure(store, pages, given.searches, late)
            size = store.space.tables()["page_vector"].size_bytes or 0
            figures = {
                "pages": pages,
                "dimension": given.dimension,
                "disk_megabytes": size / _MEGABYTE,
                "search": plain,
                "search_of_the_latest_hundredth": filtered,
                "memory_megabytes": peak_megabytes(store),
            }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Count the kinds of visits of a watcher's life: replay recordings, and write the shares down.

    scripts/measure_mix.py FILE.sqlite ... --write benchmarks/mix.json
    scripts/measure_mix.py ../shared/replay --days 60 --json    all recordings of a folder

Each recording is replayed twice, as ``scripts/replay.py`` does: with the ETags and Last-Modified of its
server, and without. ``scripts/bench_throughput.py`` makes its stream of visits from the shares.

first          a list that was not read before, or begins anew
unchanged      304, or the same body
same_links     another body with the same links
changed        other links
verification   a page that is read before it is announced, or again
robots         robots.txt
other          redirects, failures, what is no list
new_links      links of a changed list that are new, in the mean
"""

import json
import math
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from lab.cli import parser_of, print_json, show
from lab.watcher_mix import KINDS, counted_kinds
from replay import DAY, simulate
from replay_site import Answer, ReplaySite
from rich.progress import track

from incremental.settings import Settings


class WithoutValidators(ReplaySite):
    """A site whose server knows neither ETags nor Last-Modified."""

    def answer(self, url: str, moment: float, etag: str | None = None) -> Answer:  # noqa: ARG002 - not known
        """Return the whole answer."""
        answer = super().answer(url, moment)
        kept = {k: v for k, v in answer.headers.items() if k not in ("ETag", "Last-Modified")}
        return Answer(answer.code, answer.body, kept)


def count(file: Path, days: float, *, validators: bool) -> Counter[str]:
    """Replay a recording; return its visits by kind, and ``new_links`` of changed lists in all."""
    site = (ReplaySite if validators else WithoutValidators)(file)
    with counted_kinds() as counts:
        simulate(site, Settings(), None, quiet=True, until=site.first_ts + days * DAY)
    return counts


def shares(all_counts: list[Counter[str]]) -> dict[str, float]:
    """Return the mean share of each kind, every recording counted alike."""
    totals = [sum(one[kind] for kind in KINDS) for one in all_counts]
    pairs = list(zip(all_counts, totals, strict=True))
    means = {kind: sum(one[kind] / total for one, total in pairs) / len(pairs) for kind in KINDS}
    changed = sum(one["changed"] for one in all_counts)
    means["new_links"] = sum(one["new_links"] for one in all_counts) / max(changed, 1)
    return {name: round(value, 4) for name, value in means.items()}


def _recordings(places: list[Path]) -> Iterator[Path]:
    for place in places:
        yield from sorted(place.rglob("*.sqlite")) if place.is_dir() else [place]


def main() -> int:
    """Measure; 0 = done."""
    parser = parser_of(__doc__)
    parser.add_argument("places", nargs="+", type=Path, metavar="FILE.sqlite or FOLDER")
    parser.add_argument(
        "--days", type=float, default=math.inf, metavar="N", help="the first N only"
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the shares as JSON")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="replays at a time")
    arguments = parser.parse_args()
    files = list(_recordings(arguments.places))
    answer: dict[str, Any] = {"recordings": [file.stem for file in files]}
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for name, validators in (("with_validators", True), ("without_validators", False)):
            counted = pool.map(partial(count, days=arguments.days, validators=validators), files)
            steps = track(counted, name, total=len(files), disable=arguments.json)
            answer[name] = shares(list(steps)) | {"tags": int(validators)}
    show(answer)
    if arguments.write:
        arguments.write.write_text(json.dumps(answer, indent=1) + "\n", encoding="utf-8")
    print_json(arguments, answer)
    return 0


if __name__ == "__main__":
    sys.exit(main())

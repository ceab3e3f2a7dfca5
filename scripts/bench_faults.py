#!/usr/bin/env python3
"""Let faults happen to the real daemon, and hostile servers be crawled beside healthy sites.

    scripts/bench_faults.py --json
    scripts/bench_faults.py --only postgres,locked --without-hostile
    scripts/bench_faults.py --only nothing --minutes 40

Each fault has a daemon, a site that publishes and a web hook of its own. It holds if the daemon goes on,
finds what was published during the fault and after it, announces and sends each page once, gives the
reason on /healthz where the fault is the machine's, and ends by TERM within ten seconds; or, where the
store is gone, if the daemon ends with an error and makes no new one. Some faults need root.

hostile: the mean delay, in minutes, of articles on eight healthy sites, alone and together with every
behaviour of scripts/lab/fault_server.py, one host each.

Exit 1 when a fault did not hold, or the hostile hosts cost more than a tenth of the delay.
"""

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.cli import parser_of, print_json, show
from lab.faults import FAULTS, SkippedError
from lab.hostile_crawl import compared, crawl
from lab.postgres_server import missing_for_postgres
from rich.console import Console
from rich.progress import Progress

MOST_RATIO = 1.1


@dataclass
class Result:
    """What came of a fault."""

    held: bool
    why: str = ""
    notes: list[str] = field(default_factory=list)
    skipped: bool = False


def happen(name: str, root: Path) -> Result:
    """Let one fault happen, in a folder of its own."""
    fault = FAULTS[name]
    if fault.postgres and (missing := missing_for_postgres()):
        return Result(held=False, why=missing, skipped=True)
    with tempfile.TemporaryDirectory(
        prefix="fault-", dir=root, ignore_cleanup_errors=True
    ) as folder:
        try:
            why, notes = fault.run(Path(folder))
        except SkippedError as error:
            return Result(held=False, why=str(error), skipped=True)
        except Exception as error:  # noqa: BLE001 - one broken experiment does not end the others; it counts as not held
            return Result(held=False, why=f"{type(error).__name__}: {error}"[:400])
    return Result(held=not why, why=why, notes=notes)


def main() -> int:
    """Run from the command line; 0 = all held, 1 = not, 2 = wrong usage."""
    parser = parser_of(__doc__)
    parser.add_argument("--only", default="", help="faults whose names hold one of these words")
    parser.add_argument("--at-a-time", type=int, default=4, help="faults at once (default: 4)")
    parser.add_argument("--without-hostile", action="store_true")
    parser.add_argument(
        "--minutes", type=float, default=40, help="of publishing beside hostile hosts"
    )
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    words = [word.casefold() for word in arguments.only.split(",") if word]
    chosen = [
        name for name in FAULTS if not words or any(word in name.casefold() for word in words)
    ]
    console = Console(stderr=arguments.json)
    with tempfile.TemporaryDirectory(prefix="hubwatch-faults-") as folder:
        results = _all(chosen, Path(folder), arguments.at_a_time, console)
        hostile: dict[str, Any] = {}
        if not arguments.without_hostile:
            runs = []
            for name in ("alone", "together"):
                home = Path(folder) / name
                home.mkdir()
                together = name == "together"
                runs.append(
                    crawl(home, hostile=together, minutes=arguments.minutes, seed=arguments.seed)
                )
            hostile = compared(*runs)
    counted = {name: one for name, one in results.items() if not one.skipped}
    answer = {
        "held": sum(one.held for one in counted.values()),
        "of": len(counted),
        "faults": {name: one.held for name, one in counted.items()},
        "skipped": {name: one.why for name, one in results.items() if one.skipped},
        "hostile": hostile,
    }
    show({name: "; ".join(one.notes) for name, one in results.items()}, "seen", console)
    show(answer, console=console)
    print_json(arguments, answer)
    well = answer["held"] == answer["of"]
    tame = not hostile or (
        hostile["ratio"] <= MOST_RATIO and hostile["ended"] and hostile["healthy_recall"] == 1
    )
    return 0 if well and tame else 1


def _all(chosen: list[str], root: Path, at_a_time: int, console: Console) -> dict[str, Result]:
    with ThreadPoolExecutor(at_a_time) as pool, Progress(console=console) as bar:
        task = bar.add_task("faults", total=len(chosen))

        def one(name: str) -> Result:
            result = happen(name, root)
            bar.update(task, advance=1)
            said = "skipped" if result.skipped else "held" if result.held else "NOT HELD"
            console.print(f"{said}: {name} {result.why}", markup=False, highlight=False)
            return result

        return dict(zip(chosen, pool.map(one, chosen), strict=True))


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Look for data that makes a parser raise, by coverage-guided fuzzing (atheris).

    scripts/fuzz.py                              every target for a minute
    scripts/fuzz.py body robots --seconds 600
    scripts/fuzz.py --list

Needs the extra ``fuzz`` (pip install 'hubwatch[fuzz]'); the test suite does not. What fails is written to
tests/corpus/TARGET/ and ends its target; mend it, keep the file, and the suite replays it for good. Exits
with 1 if anything failed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from lab.cli import parser_of, print_json

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "corpus"
SEEDS = ROOT / "tests" / "parse" / "recorded"
# Of one input; a slower one counts as a failure.
SLOWEST_SECONDS = 25
MAX_BYTES = 4_096
MOST_MEGABYTES = 2_048
_EXECUTED = re.compile(r"stat::number_of_executed_units:\s*(\d+)")
_COVERED = re.compile(r"cov: (\d+)")


def fuzz(target: str, options: list[str]) -> None:
    """Run one target in this process until libFuzzer ends it."""
    import atheris  # noqa: PLC0415 - only fuzzing needs it

    packages = ["incremental", "classifier", "store", "feedparser", "protego", "w3lib", "htmldate"]
    with atheris.instrument_imports(include=packages):
        from fuzz_targets import TARGETS  # noqa: PLC0415 - instrumented while it is loaded

    atheris.Setup([sys.argv[0], *options], TARGETS[target])
    atheris.Fuzz()


def run(target: str, seconds: int) -> dict[str, Any]:
    """Fuzz one target in a process of its own; return what came of it."""
    kept = CORPUS / target
    kept.mkdir(parents=True, exist_ok=True)
    before = set(kept.iterdir())
    with tempfile.TemporaryDirectory() as found:
        options = [found, str(kept), *([str(SEEDS)] if target in {"body", "feed"} else [])]
        options += [f"-max_total_time={seconds}", f"-timeout={SLOWEST_SECONDS}"]
        options += [f"-rss_limit_mb={MOST_MEGABYTES}", f"-max_len={MAX_BYTES}"]
        options += [f"-artifact_prefix={kept}/", "-print_final_stats=1"]
        command = [sys.executable, __file__, "--child", target, *options]
        ended = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - ourselves
    words = ended.stderr.decode("utf-8", "replace") + ended.stdout.decode("utf-8", "replace")
    executed, covered = _EXECUTED.search(words), _COVERED.findall(words)
    new = set(kept.iterdir()) - before
    for path in new:
        if path.name.startswith("slow-unit"):
            path.unlink()  # within the time, which libFuzzer finds remarkable
    failures = sorted(path.name for path in new if path.exists())
    if ended.returncode:
        sys.stderr.write(words[-4_000:])
    if not any(kept.iterdir()):
        kept.rmdir()
    return {
        "target": target,
        "seconds": seconds,
        "executions": int(executed[1]) if executed else 0,
        "covered": int(covered[-1]) if covered else 0,
        "failures": failures,
        "ended_with": ended.returncode,
    }


def main() -> int:
    """Parse the command line."""
    if sys.argv[1:2] == ["--child"]:
        fuzz(sys.argv[2], sys.argv[3:])
        return 0
    from fuzz_targets import TARGETS  # noqa: PLC0415 - a child loads it instrumented

    parser = parser_of(__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="default: all")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--list", action="store_true", help="name the targets")
    given = parser.parse_args()
    unknown = set(given.targets) - set(TARGETS)
    if unknown:
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    if given.list:
        for name, target in TARGETS.items():
            print(f"{name:12} {(target.__doc__ or '').splitlines()[0]}")
        return 0
    rows = []
    for name in given.targets or TARGETS:
        rows.append(run(name, given.seconds))
        row = rows[-1]
        print(f"{name:12} {row['executions']:>9,} executions  {row['covered']:>6,} covered", end="")
        print(f"  {', '.join(row['failures']) or 'no failure'}", flush=True)
    print_json(given, {"targets": rows})
    return int(any(row["failures"] or row["ended_with"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())

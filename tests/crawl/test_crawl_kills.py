"""The real daemon is killed a dozen times; what it found, kept and sent is compared with the truth.

``scripts/bench_crash.py`` does the same a thousand times.
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench_crash import problems, run
from lab.crashes import Counted, CrashWorld, Moment

_FIRST = [Moment.START_UP, Moment.WORK]
STORY = [*_FIRST, Moment.BACKUP, Moment.RESTORE, *_FIRST]


def test_a_dozen_kills_lose_nothing_and_announce_nothing_twice(tmp_path: Path) -> None:
    """At start, at work, in a backup and a restore; two daemons at a time, to be quick."""
    worlds = []
    for seed in range(2):
        (tmp_path / str(seed)).mkdir()
        worlds.append(CrashWorld(tmp_path / str(seed), seed=seed, web_share=0))
    total = Counted()
    with ThreadPoolExecutor(len(worlds)) as pool:
        for counted in pool.map(
            lambda world: run(world, STORY, len(STORY), lambda _: None), worlds
        ):
            total.add(counted)
    assert problems(total) == []
    assert total.kills >= 12
    assert total.published > 0
    assert total.messages > 0

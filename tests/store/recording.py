"""A process that records visits until it is killed. ``recording.py WHERE CACHE FIRST LAST``.

Visit *n* shows the pages n*10 to n*10+29 and tells what it did not tell before, so that visits
overlap; and as many old ones, which the list gained. After each one that is committed, its number is printed.
"""

import sys
from pathlib import Path

from stories import HOME, START, news_site, seen, visit_of

from store import Store, open_store

STEP = 10
SHOWN = 30


def record(store: Store, number: int) -> None:
    """Record visit *number* as a crawler would that knows what was announced before."""
    site, home = news_site(store)
    links = [
        seen(f"{HOME}{page}", fate="announce")
        for page in range(number * STEP, number * STEP + SHOWN)
    ]
    links += [
        seen(f"{HOME}2007/{page}", fate="backfill")
        for page in range(number * STEP, number * STEP + SHOWN)
    ]
    store.write.visit(visit_of(site, home, START + number, *links, backfill_folder="/2007/"))


if __name__ == "__main__":
    with open_store(sys.argv[1], cache_folder=Path(sys.argv[2])) as opened:
        for visit in range(int(sys.argv[3]), int(sys.argv[4])):
            record(opened, visit)
            sys.stdout.write(f"{visit}\n")
            sys.stdout.flush()

"""Where visits run: in threads, in processes beside the daemon, or on the workers of a Dask cluster.

::

    Engine ── start(task) ──> Visits ── task, terms, credentials of its origin ──> worker
    (crawl)                     │ an executor:                                      │ its own Fetcher:
      ^                         │ ThreadPoolExecutor, ProcessPoolExecutor,          │ guard, limits
      └── Outcome <── future ───┤ or that of a distributed.Client                   │ its own readers
          or LostVisitError     └──────────────────────────────────────────────────┘

    visits      what the crawler needs of each of them; what goes before or after a visit
    worker      what runs on a worker: a visit, and what it is made with
    elsewhere   visits on an executor of processes
    cluster     visits on the executor of a Dask cluster
    choice      from settings to visits

What to fetch and when is decided in the daemon before a visit starts, and what came of it is recorded there.
"""

from __future__ import annotations

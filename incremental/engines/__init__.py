"""Where visits run: in threads, in processes beside the daemon, or on the workers of a Dask cluster.

::

    Engine ── start(task) ──> Visits ── task, terms, credentials of its origin ──> worker
    (crawl)                     │ LocalVisits     threads of the daemon             │ its own Fetcher:
      ^                         │ ProcessVisits   processes, started by spawn       │ guard, limits
      └── Outcome <── future ───┤ ClusterVisits   distributed.Client                │ its own readers
          or LostVisitError     └──────────────────────────────────────────────────┘

    visits      what the crawler needs of each of them
    worker      what runs on a worker: a visit, and what it is made with
    processes   visits in processes
    cluster     visits on a Dask cluster
    visitor     what a daemon starts on each of its workers, and asks for visits
    roster      which workers of a cluster are accepted, and what each has to do
    meaning     vectors for pages that came back from a worker
    drawn       pages that need a browser: the daemon has one
    fenced      nothing starts after the lease of a daemon that shares its store
    choice      from settings to visits

What to fetch and when is decided in the daemon before a visit starts, and what came of it is recorded there.
"""

from __future__ import annotations

"""Where visits run: in threads, in processes beside the daemon, or on the workers of a Dask cluster.

::

    Engine ── start(task) ──> thread of the daemon: fetch, read ──────────────────────> Outcome
    (crawl)                     └─ or wait for another executor:
                                   ProcessPoolExecutor, or distributed.Client.get_executor()
                                     │ task, terms, credentials of its origin
                                     ▼
                                   worker: its own Fetcher (guard, limits), its own readers

    visits      what the crawler needs of visits, wherever they run
    worker      what runs on a worker: a visit, and what it is made with
    elsewhere   a visit on an executor outside of this process, and that of processes
    cluster     the executor of a Dask cluster

What to fetch and when is decided in the daemon before a visit starts, and what came of it is recorded there.
"""

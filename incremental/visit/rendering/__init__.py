"""Drawing pages: a Chromium without a network, fed by our own fetcher.

::

    BrowserPool.render(url)                        in the visit's thread
        │  Order                                   ▲ Drawn: the document as HTML
        ▼                                          │
    BrowserProcess ──────── frames ─────────── worker.py ── Playwright ── Chromium
        ▲ Wanted: a request of the page            │
        │    sifting: fetched, empty or refused    ▼ Answer
        └─ Parts -> Fetcher -> address guard, robots.txt, budget

Chromium has a proxy and a resolver that lead nowhere, and every request is intercepted before them. A process
that takes too long, grows too large or crashes is killed with all that it started, and replaced.
"""

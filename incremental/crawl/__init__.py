"""A round of the crawler: which page is next, what came of the visit, when it is visited again.

::

    frontier ── engine ── crawler ── facts          what is due, visits under way, one step after another
      │  │                   │
      │  sites               ├─ rescheduling        the next visit
      │                      └─ upkeep · overflows · topics
    host_gate                   what robots.txt, politeness and the host allow; single fetches ask it, too
"""

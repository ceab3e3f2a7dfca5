"""A round of the crawler: which page is next, what came of a visit, when it is visited again.

::

    frontier ── engine ── crawler          what is due, visits under way, one step after another
      │  │                   │
      │  sites             hub_visits ── coverage_watch · path_alias_watch · probes
      │  a watched site    what a visit of a hub leads to
    host_gate              what robots.txt, politeness and the host allow; single fetches ask it, too
"""

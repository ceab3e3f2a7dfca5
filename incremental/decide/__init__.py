"""Facts in, decision out: pure functions of what was fetched and what was known before.

::

    outcome, HubFacts      -> hub_visit     ─┐
    outcome, PageFacts     -> verification  ─┼─> Decision: record, rule, numbers for the schedule
    outcome, RefreshFacts  -> refresh       ─┘
    news decides whether a page is news; rules names what decided
"""

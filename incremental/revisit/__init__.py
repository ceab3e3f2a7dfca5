"""When to look at which hub again: arithmetic on counts and times, nothing else.

Nothing here fetches, stores or reads a clock, so that a benchmark, a replay and the daemon run the
same code::

    Visit ──observe──> HubState, SiteState ──due_at──> when
                                           ──index───> how urgent
                                           ──why─────> the numbers behind it
"""

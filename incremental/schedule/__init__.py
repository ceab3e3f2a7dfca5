"""When to visit which hub: arithmetic on counts and times.

No network, store or clock, so that benchmark, replay and daemon run the same code::

    Visit ──observe──> HubState, SiteState ──due_at──> when
                                           ──index───> how urgent
                                           ──why─────> the numbers behind it
"""

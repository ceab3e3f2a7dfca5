"""Several daemons on one PostgreSQL store: who visits which site, and who asks which host when.

::

    rendezvous   which site is whose: pure
    host_turns   one daemon at a time asks a host
    place_locks  which daemons of a folder were killed
    membership   joining, the heartbeat, taking and giving sites, leaving
"""

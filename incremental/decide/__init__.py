"""What a visit means. Decisions are pure functions of what was fetched and what was known before.

::

    links    parsed links  -> canonical targets in scope
    hubs     unknown links -> which of them become hubs
    news     known, new, backdated; overflows, URL migrations, soft 404s
    outcome  all of it     -> the one record that the store writes
"""

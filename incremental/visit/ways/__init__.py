"""How a hub is read when its plain page shows no links.

::

    plain page ── links ───────────────────────────────────────> PLAIN
        │ a shell
        ├─ a list in the state that it carries ────────────────> EMBEDDED
        ├─ a list in the JSON that its scripts ask for ────────> JSON
        ├─ a browser draws it ─────────────────────────────────> RENDERED
        └─ nothing of these ───────────────────────────────────> BROWSER_MISSING, or PLAIN for a while

:mod:`incremental.parse.hub_way` is the value that the store keeps; ``parts`` fetches what belongs to a page,
``visiting`` makes the visit. When to search again is decided in :mod:`incremental.decide.ways`.
"""

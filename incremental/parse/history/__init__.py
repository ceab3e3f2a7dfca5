"""The history of a page's text: what is noise, what changed. Pure.

::

    main text ── noise      lines that differ at every fetch and mean nothing
                   │
                 textdiff   two texts -> rows of pieces, for any interface to draw
    plan                    when a page is refreshed
"""

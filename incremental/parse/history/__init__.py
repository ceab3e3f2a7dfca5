"""The history of a page's text: what is noise, what changed, whose copy it is. Pure.

::

    main text ── noise      lines that differ at every fetch and mean nothing
                   │
                 textdiff   two texts -> rows of pieces, for any interface to draw
                 fingerprint  a text -> MinHash signature and its bands, for the store to compare
    plan                    when a page is refreshed
"""

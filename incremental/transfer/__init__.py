"""Import and export: lists of sites, new pages, and the whole store.

::

    lists     text of a file -> Wanted(url, feed?)     OPML, CSV, URL lists, changedetection.io, urlwatch
    adding    Wanted -> watched sites, feeds as hubs
    writing   new pages -> CSV, JSON Lines, OPML, WARC
    backup    the whole store <-> one file
"""

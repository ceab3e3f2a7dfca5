"""Import and export: lists of sites, new pages, and the whole store.

::

    lists     a file -> Wanted(url, feed?, name, folders)   CSV, URL lists
              with outlines (OPML), watches (changedetection.io), jobs (urlwatch)
    adding    Wanted -> watched sites, feeds as hubs
    writing   new pages -> CSV, JSON Lines, OPML, WARC
    backup    the whole store <-> one file
"""

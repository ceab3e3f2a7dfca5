"""Import and export: lists of sites, new pages, and the whole store.

::

    lists     a file -> Wanted(url, feed?, name, folders)   CSV, URL lists, OPML
    adding    Wanted -> watched sites, feeds as hubs
    writing   new pages -> CSV, JSON Lines, OPML, WARC
    packing   what was learned about sites -> a pack, and back; its format and signature in packs
    commands, pages           where people and programs ask for it
"""

from pathlib import Path

from incremental.base.features import Feature

_ROOM = "incremental.features.exchange"
FEATURE = Feature(
    name="exchange",
    summary="Lists of sites are imported; pages, sites, what was learned and the whole store are exported.",
    commands={
        "Move data": {
            "import": f"{_ROOM}.commands:import_list Watch the sites in a list or a pack.",
            "export": f"{_ROOM}.commands:export Export new pages, the watched sites, or what was learned.",
            "backup": f"{_ROOM}.commands:backup Back up the whole store to one file, beside a daemon or not.",
            "restore": f"{_ROOM}.commands:restore Restore a backup into the configured folder.",
        },
    },
    routers=(f"{_ROOM}.pages:router",),
    templates=Path(__file__).with_name("templates"),
    add_form="exchange/import.html",
)

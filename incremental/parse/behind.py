"""What lies behind a shell: the list that its state or its JSON holds, or where else to ask. Pure.

::

    a page              -> shell? -> lists in its states, else files and addresses to ask
    a JSON answer       -> its lists
    a script file       -> addresses to ask, and the folders of the pages that it shows
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from incremental.parse.addresses import data_addresses, folder_for, routes, script_files
from incremental.parse.embedded import read_json, states
from incremental.parse.hub_way import Listing
from incremental.parse.json_lists import MIN_ITEMS, find_lists, links_of, needs_folder
from incremental.parse.page import Link
from incremental.parse.scripts import read_scripts
from incremental.parse.shell import ShellSign, shell_sign

MOST_ADDRESSES = 6
MOST_FILES = 3


@dataclass(frozen=True, slots=True)
class Behind:
    """What was found behind a shell."""

    sign: ShellSign | None = None
    """By what the page is a shell; None for a JSON answer or a script."""
    listing: Listing | None = None
    """None = no list was found."""
    links: tuple[Link, ...] = ()
    by_slug: bool = False
    """The list has slugs only, and no script said below which folder."""
    addresses: tuple[str, ...] = ()
    """Of data, likeliest first."""
    files: tuple[str, ...] = ()
    """The page's own scripts."""
    folders: tuple[str, ...] = ()
    """Below which the scripts build addresses of pages."""


def behind_page(
    html: str, url: str, known: Listing | None = None, folders: Sequence[str] = ()
) -> Behind | None:
    """Return what lies behind the page at *url*; None = it is no shell.

    *known* is what was found before; *folders* are those that its scripts name.
    """
    scripts = read_scripts(html)
    sign = shell_sign(scripts.outline)
    if sign is None:
        return None
    folders = (*folders, *routes(scripts.code))
    found = Behind(
        sign,
        addresses=tuple(data_addresses(scripts.code, url, MOST_ADDRESSES)),
        files=tuple(script_files(scripts, url, MOST_FILES)),
        folders=tuple(folders),
    )
    for name, value in states(scripts):
        same = known is not None and known.name == name
        listed = _listed(value, url, folders, known if same else None, name)
        if listed is not None:
            listing, links, by_slug = listed
            return replace(found, listing=listing, links=links, by_slug=by_slug)
    return found


def behind_json(
    text: str, url: str, known: Listing | None = None, folders: Sequence[str] = ()
) -> Behind:
    """Return the lists of a JSON answer to a script of the page at *url*."""
    value = read_json(text)
    listed = _listed(value, url, folders, known, "") if value is not None else None
    if listed is None:
        return Behind()
    listing, links, by_slug = listed
    return Behind(listing=listing, links=links, by_slug=by_slug)


def behind_script(text: str, url: str) -> Behind:
    """Return what a script of the page at *url* would ask for."""
    return Behind(
        addresses=tuple(data_addresses([text], url, MOST_ADDRESSES)), folders=tuple(routes([text]))
    )


def _listed(
    value: object, url: str, folders: Sequence[str], known: Listing | None, name: str
) -> tuple[Listing, tuple[Link, ...], bool] | None:
    """Return where the lists of *value* are, their links, and whether their folder is a guess."""
    folder = known.folder if known is not None else folder_for(url, folders)
    # A known list may be short, or empty between two terms.
    least = 1 if known is not None else MIN_ITEMS
    lists = [
        one
        for one in find_lists(value, url, folder=folder, least=least)
        if len(one.links) >= MIN_ITEMS or (known is not None and one.place == known.place)
    ]
    if not lists:
        return None
    by_slug = known is None and not folders and needs_folder(value)
    return Listing(name, lists[0].place, folder), links_of(lists), by_slug

"""``hubwatch missed`` and ``hubwatch not-news``."""

from typing import Annotated

import typer

from incremental.base.lookup import find_sites
from incremental.base.readable_urls import readable
from incremental.features.corrections.not_news import object_to, suggested, take_back
from incremental.interfaces.cli.common import (
    now,
    open_store,
    print_list,
    printed_json,
    report,
    say,
    settings_of,
    wants_json,
)

Address = Annotated[str, typer.Argument(metavar="URL", help="The page.")]


def missed(context: typer.Context, url: Address) -> None:
    """Say why a page was missed, look for the hub that shows it, and watch that hub.

    The page and at most five likely hubs are fetched, as politely as by the daemon.
    """
    # What reads pages is loaded where that is done.
    from incremental.features.corrections.missed import missed_page  # noqa: PLC0415

    settings, folder = settings_of(context)
    with open_store(context) as store:
        found = missed_page(store, settings, folder, url)
    if printed_json(context, found):
        return
    for sentence in found.says:
        say(sentence)


def not_news(
    context: typer.Context,
    url: Annotated[str, typer.Argument(metavar="URL", help="The page; with --ask, the site.")],
    *,
    ask: Annotated[
        bool,
        typer.Option("--ask", help="List the site's pages about which an answer teaches most."),
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take it back.")] = False,
) -> None:
    """Say that an announced page is no news, so that pages like it are not announced again.

    Like pages share its form of address, the list that showed it, or the rule that announced it.
    """
    with open_store(context) as store:
        if ask:
            found = suggested(store, find_sites(store, [url])[0], now=now())
            rows = [(readable(one),) for one in found]
            title, empty = "Pages to ask about", "no page to ask about yet"
            print_list(context, found, title, ("url",), rows, empty=empty)
            return
        done = (take_back if undo else object_to)(store, url, now=now())
    report(context, done, done.says)
    if not (undo or wants_json(context)):
        say(f"to undo: hubwatch not-news --undo {done.url}")

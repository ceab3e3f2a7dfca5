"""``hubwatch completeness``."""

from typing import Annotated

import typer

from incremental.base.lookup import find_sites, find_topic
from incremental.features.completeness.showing import completeness_of, of_site, of_topic
from incremental.interfaces.cli.common import now, open_store, print_table, printed_json, say

Sites = Annotated[list[str] | None, typer.Argument(metavar="[SITE]...", help="Default: all sites.")]


Topic = Annotated[str, typer.Option("--topic", metavar="NAME", help="Of a topic, over all sites.")]


def completeness(context: typer.Context, names: Sites = None, *, topic: Topic = "") -> None:
    """Show what share of the new pages of the last 30 days was found, and how soon, by site.

    For sites that are named, each page that was missed, or found more than a day after its date, is listed
    with the reason.
    """
    if topic:
        with open_store(context) as store:
            one = of_topic(store, find_topic(store, topic), now())
        if not printed_json(context, one):
            typer.echo(one.says)
        return
    with open_store(context) as store:
        if names:
            found = [of_site(store, row.id, row.name, now()) for row in find_sites(store, names)]
        else:
            found = completeness_of(store, now())
    if printed_json(context, found):
        return
    if not found:
        say("no site yet; add one: hubwatch add https://example.org/")
    else:
        print_table("", ("site", "completeness"), [(one.site, one.says) for one in found])
        late = [(page.url, page.says) for one in found for page in one.late]
        if names and late:
            print_table("", ("missed or late", "why"), late)

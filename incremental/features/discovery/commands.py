"""Further sites of a topic: ``discover run``, ``proposals``, ``accept``, ``reject``."""

from typing import Annotated

import typer

from incremental.base.errors import InputError
from incremental.base.lookup import find_topic
from incremental.base.texts import read_text
from incremental.features.discovery.facts import Decision, decide, discovery_result
from incremental.features.discovery.making import make_discoverer
from incremental.features.discovery.settings import DiscoverySettings
from incremental.interfaces.cli.common import (
    counted,
    now,
    open_store,
    print_list,
    progress_bar,
    report,
    say,
    settings_of,
    wants_json,
)
from store.discovery.values import ProposalRow

OfTopic = Annotated[str, typer.Option("--topic", metavar="NAME", help="The topic of the search.")]
Sites = Annotated[
    list[str] | None, typer.Argument(metavar="[SITE]...", help="As listed by `proposals`.")
]
All = Annotated[bool, typer.Option("--all", help="All open proposals.")]
_SHOWN = 3


def run(
    context: typer.Context,
    *,
    of: OfTopic,
    rounds: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum rounds.")] = 20,
    pages: Annotated[int, typer.Option(min=1, max=100_000, help="Maximum pages to read.")] = 200,
) -> None:
    """Search for pages like the topic's, round by round, and propose their sites.

    Ctrl-C stops it; what was read is kept, and not fetched again by the next run.
    """
    settings, folder = settings_of(context)
    with open_store(context) as store, progress_bar(disable=wants_json(context)) as bar:
        topic = find_topic(store, of)
        task = bar.add_task("pages read", total=pages)
        if not settings.of(DiscoverySettings).url:
            say("no search provider configured ([discovery] url): only links are followed")
        with make_discoverer(store, settings, folder, topic) as discoverer:
            ended = discoverer.run(
                rounds=rounds,
                pages=pages,
                progress=lambda number, operator, read: bar.update(
                    task, completed=read, description=f"round {number}: {operator}"
                ),
            )
        proposals = store.discovery.proposals(topic.id)
    facts = {"run": discovery_result(ended), "proposals": list(map(discovery_result, proposals))}
    said = f"{read_text(ended.why)}; {counted(len(proposals), 'site')} proposed"
    if ended.note:
        say(f"hubwatch: {ended.note}")
    if proposals and not wants_json(context):
        say(said)
    _print_proposals(context, facts, of, proposals, empty=said)


def proposals(
    context: typer.Context,
    *,
    of: OfTopic,
    which: Annotated[
        str, typer.Option("--state", help="proposed, accepted, rejected or all.")
    ] = "proposed",
) -> None:
    """List proposed sites, best first, with their best pages and hubs."""
    if which not in ("proposed", "accepted", "rejected", "all"):
        raise InputError("--state", which, "must be one of: proposed, accepted, rejected, all")
    with open_store(context) as store:
        topic = find_topic(store, of)
        rows = store.discovery.proposals(topic.id, None if which == "all" else which)
    empty = f"no site {'proposed' if which == 'all' else which} yet for {of}"
    _print_proposals(context, list(map(discovery_result, rows)), of, rows, empty=empty)


def accept(
    context: typer.Context,
    sites: Sites = None,
    *,
    of: OfTopic,
    everything: All = False,
) -> None:
    """Watch proposed sites, starting from the hubs found on them."""
    _decide(context, sites, of, "accept", everything=everything)


def reject(
    context: typer.Context,
    sites: Sites = None,
    *,
    of: OfTopic,
    everything: All = False,
) -> None:
    """Reject sites: they are not proposed again, and similar pages rank lower."""
    _decide(context, sites, of, "reject", everything=everything)


def _decide(
    context: typer.Context,
    sites: list[str] | None,
    of: str,
    decision: Decision,
    *,
    everything: bool,
) -> None:
    if not (sites or everything):
        raise InputError("site", "", "name sites, or use --all")
    with open_store(context) as store:
        chosen = None if everything else sites
        done = decide(store, find_topic(store, of), chosen, decision, now=now())
    report(context, {"sites": done}, f"{counted(len(done), 'site')} {decision}ed")


def _print_proposals(
    context: typer.Context, facts: object, of: str, rows: list[ProposalRow], *, empty: str
) -> None:
    cells = [_proposal_cells(one) for one in rows]
    columns = ["site", "state", "score", "why", "best pages", "hubs"]
    print_list(
        context, facts, f"{counted(len(rows), 'site')} for {of}", columns, cells, empty=empty
    )


def _proposal_cells(one: ProposalRow) -> list[object]:
    best, hubs = one.pages[:_SHOWN], one.hubs[:_SHOWN]
    pages = "\n".join(f"{page.score:.2f} {page.title or page.url}" for page in best)
    places = "\n".join(hub.url for hub in hubs)
    return [one.host, one.state, f"{one.score:.2f}", read_text(one.why), pages, places]

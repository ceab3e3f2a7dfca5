"""Watched sites: ``init add remove pause resume list``."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer

from incremental.base.clock import SystemClock
from incremental.base.errors import InputError
from incremental.base.lookup import find_sites
from incremental.base.readable_urls import readable
from incremental.base.scope import Reach
from incremental.base.tagging import checked_tags, joined
from incremental.interfaces.cli.common import (
    counted,
    now,
    open_store,
    print_list,
    print_table,
    printed_json,
    progress_bar,
    report,
    say,
    say_failed,
    settings_of,
    wants_json,
)
from incremental.interfaces.results.schema import dated, when
from incremental.interfaces.results.sites import (
    AddedSite,
    Understood,
    add_sites,
    listed_sites,
    understood,
)
from incremental.settings import Settings
from incremental.settings.seeds import SeedTerms, folder_of, usable_seed
from incremental.settings.storage import daemon_at_work, models_folder
from incremental.settings.template import settings_template
from store import Store
from store.database.home import make_file
from store.enums import SiteStatus

if TYPE_CHECKING:
    from incremental.crawl.first_look import FirstLook

# A grant of sixty requests at five seconds each lasts five minutes; a host may ask for longer pauses.
_MOST_FOLLOWED_SECONDS = 1200.0
Names = Annotated[list[str], typer.Argument(metavar="SITE...", help="Name, seed URL or id.")]


def init(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(help="Where to write the settings.")] = Path(
        "hubwatch.toml"
    ),
    *,
    force: Annotated[bool, typer.Option(help="Replace an existing file.")] = False,
) -> None:
    """Write a commented settings file to start from."""
    if path.exists() and not force:
        raise InputError("file", str(path), "already exists; --force replaces it")
    try:
        path.unlink(missing_ok=True)
        make_file(path)  # readable by the owner only: it will hold passwords
        path.write_text(settings_template(), encoding="utf-8")
    except OSError as error:
        raise InputError("file", str(path), f"cannot be written: {error.strerror}") from None
    said = f"wrote {path}; set a contact address in it, then: hubwatch add URL"
    report(context, {"written": str(path)}, said)


def add(  # noqa: PLR0913 - each is an option of the command
    context: typer.Context,
    urls: Annotated[
        list[str],
        typer.Argument(metavar="URL...", help="A page of the site, ideally its home page."),
    ],
    *,
    reach: Annotated[Reach, typer.Option(help="How far from the seed to go.")] = Reach.HOST,
    include: Annotated[
        list[str], typer.Option(help="Only URLs matching this glob (or re:REGEX).")
    ] = [],  # noqa: B006 - Typer's way
    exclude: Annotated[list[str], typer.Option(help="Skip URLs matching it.")] = [],  # noqa: B006
    tag: Annotated[list[str], typer.Option(help="A tag of the sites; may be repeated.")] = [],  # noqa: B006
    look: Annotated[
        bool | None,
        typer.Option("--look/--no-look", help="Read them at once and say what is there."),
    ] = None,
) -> None:
    """Watch the sites of these URLs. Adding one again changes its options.

    At a terminal, what is there is said at once: feeds, sitemaps, likely lists, new pages a day.
    """
    at_terminal = sys.stdin.isatty() and sys.stdout.isatty() and not wants_json(context)
    below = folder_of(usable_seed(urls[0])) if at_terminal and len(urls) == 1 else ""
    if below and not (include or exclude) and reach is Reach.HOST:
        say(f"The whole host is watched; only what is below {below}: add it with --reach prefix")
    terms = SeedTerms(reach, tuple(include), tuple(exclude))
    settings, folder = settings_of(context)
    tags = checked_tags(tag)
    with open_store(context) as store:
        results = add_sites(store, settings, urls, terms=terms, tags=tags, now=now())
        looks = {}
        if look if look is not None else at_terminal:
            looks = _look(store, settings, folder, results, quiet=wants_json(context))
        running = daemon_at_work(store, settings, folder)
        added = [one.site_id for one in results if one.site_id is not None and one.hub_of is None]
        if running and looks:
            _follow(store, settings, added)
        known = _known(store, settings, added)
    found = [dated(one, found=looks.get(one.site_id or 0)) for one in results]
    if not printed_json(context, found):
        _say_added(results, known, running=running)
    say_failed([result.error for result in results if result.error], len(results))


def _known(store: Store, settings: Settings, site_ids: Sequence[int]) -> dict[str, Understood]:
    """Return what is understood of sites so far, by name."""
    rows = store.read.sites_by_id(site_ids)
    return {row.name: understood(store, settings, row, now()) for row in rows}


def _follow(store: Store, settings: Settings, site_ids: Sequence[int]) -> None:
    """Show on a terminal how the daemon reads the hubs of new sites, until it has; Ctrl-C stops showing."""
    with progress_bar() as bar, contextlib.suppress(KeyboardInterrupt):
        task, waits, until = bar.add_task("", total=None), Event(), now() + _MOST_FOLLOWED_SECONDS
        while not bar.disable and now() < until:
            known = _known(store, settings, site_ids).values()
            if not any(one.goes_on for one in known):
                return
            read, unread = sum(one.hubs for one in known), sum(one.candidates for one in known)
            shown = (
                f"{counted(read, 'hub')} read, {unread} not yet; Ctrl-C: the daemon goes on alone"
            )
            bar.update(task, description=shown)
            waits.wait(1)


def _terms_said(name: str, known: Understood, *, running: bool) -> str:
    """Say what is watched, how often, from when news can be expected, and what it takes to be faster."""
    hubs = f"{counted(known.hubs, 'hub')} read, {known.candidates} not read yet. "
    least = f"{known.min_minutes:g} minute{'' if known.min_minutes == 1 else 's'}"
    if known.news_from is not None:
        since = f"New pages can be expected from {when(max(known.news_from, now()))} on. "
    else:
        after = "its first visit" if running else "the daemon has begun"
        since = f"New pages can be expected from {least} after {after}. "
    return (
        f"{name}: {hubs if known.hubs else ''}Each hub is visited every {least} to "
        f"{known.max_hours:g} hours, as often as it pays, with {known.requests_per_day:g} requests a day. "
        f"{since}Faster: hubwatch edit {shlex.quote(name)} --requests-per-day "
        f"{2 * known.requests_per_day or 48:g} --min-interval-minutes {known.min_minutes / 3:.2g}"
    )


def _say_added(
    results: Sequence[AddedSite], known: Mapping[str, Understood], *, running: bool
) -> None:
    """Say what is watched from now on."""
    for one in results:
        if one.hub_of:
            say(
                f"{readable(one.url)} is a hub of {one.hub_of} from now on, which is watched already. "
                f"A site of its own: --reach prefix; no list of pages: hubwatch label {one.url} article"
            )
    if known:
        visits = "the daemon visits it within seconds"
        begins = visits if running else "start the daemon with: hubwatch run"
        say(f"watching {counted(len(known), 'site')}; {begins}")
    for name, seen in known.items() if len(known) == 1 else ():
        say(_terms_said(name, seen, running=running))


def _look(
    store: Store, settings: Settings, folder: Path, results: list[AddedSite], *, quiet: bool
) -> dict[int, FirstLook]:
    """Look at the seeds of sites, with a progress bar if there are several; say what is there."""
    # The classifier and the parser take half a second to load, which other commands need not wait for.
    from incremental.daemon.assembly import first_looks  # noqa: PLC0415

    added = {one.site_id: one.url for one in results if one.site_id and one.hub_of is None}
    with progress_bar() as bar:
        found = first_looks(store, settings, models_folder(settings, folder), added, SystemClock())
        looks = dict(bar.track(found, total=len(added), description="looking"))
    for site_id, seen in looks.items() if not quiet else ():
        _show_look(store, site_id, seen)
    return looks


def _show_look(store: Store, site_id: int, look: FirstLook) -> None:
    """Print what a seed shows."""
    row = store.read.site(site_id)
    name = row.name if row is not None else look.url
    if look.problem:
        say(
            f"{readable(look.url)} could not be read: {look.problem}. It is watched anyway and will be "
            f"tried again; to undo: hubwatch remove '{name}'"
        )
        return
    if look.without_tls:
        say(f"{name} does not answer by HTTPS; it is watched at {readable(look.url)}")
    rate = look.new_pages_per_day
    rows: list[tuple[str, str]] = [
        ("title", look.title or "-"),
        *_urls("feeds", look.feeds),
        *_urls("sitemaps", look.sitemaps),
        *_urls("look like lists", look.lists),
        ("pages linked", f"{look.links}"),
        (
            "new pages",
            "not known yet" if rate is None else f"about {rate:.2g} a day, by their dates",
        ),
        ("requests", f"at most {look.requests_per_day:g} a day"),
    ]
    print_table("", (readable(look.url), ""), rows)
    if look.is_shell:
        say(
            "Scripts build this page. Their data is searched for links; if there are none, a browser "
            f"renders the page. How it is read: hubwatch check {look.url}"
        )
    elif not (look.links or look.feeds or look.sitemaps):
        say("It links to nothing within reach: is it the right page, or is --reach too narrow?")


def _urls(label: str, urls: Sequence[str]) -> list[tuple[str, str]]:
    shown = [readable(url) for url in urls] or ["none found"]
    return [(label, shown[0]), *(("", one) for one in shown[1:])]


def remove(
    context: typer.Context,
    names: Names,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Stop watching sites and delete everything found on them."""
    with open_store(context) as store:
        rows = find_sites(store, names)
        listed = ", ".join(row.name for row in rows)
        if not yes and not typer.confirm(f"Delete {listed} and everything found there?", err=True):
            raise typer.Exit(1)
        for row in rows:
            store.write.remove_site(row.id)
    report(context, {"removed": [row.seed_url for row in rows]}, f"removed {listed}")


def pause(context: typer.Context, names: Names) -> None:
    """Pause sites: nothing is fetched from them until they are resumed."""
    _set_state(context, names, "paused")


def resume(context: typer.Context, names: Names) -> None:
    """Resume paused sites."""
    _set_state(context, names, "active")


def _set_state(context: typer.Context, names: list[str], to: str) -> None:
    with open_store(context) as store:
        rows = find_sites(store, names)
        for row in rows:
            store.write.update_site(row.id, state=SiteStatus(to))
    said = f"{to}: {', '.join(row.name for row in rows)}"
    report(context, {to: [row.seed_url for row in rows]}, said)


def list_sites(
    context: typer.Context,
    *,
    tag: Annotated[str | None, typer.Option(help="Only sites with this tag.")] = None,
) -> None:
    """List the watched sites."""
    with open_store(context) as store:
        rows = listed_sites(store, tag)
    fields = ["id", "name", "seed", "state", "reach", "hubs", "candidates", "pages", "new_pages"]
    table = [
        [
            *(getattr(row, field) for field in fields),
            joined(row.tags),
            row.origin.get("found_by", ""),
        ]
        for row in rows
    ]
    none = "no site yet; add one: hubwatch add https://example.org/"
    empty = none if tag is None else f"no site has the tag {tag}"
    columns = (*fields[:-1], "new", "tags", "found by")
    print_list(context, rows, "Sites", columns, table, empty=empty)

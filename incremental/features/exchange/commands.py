"""Import and export: ``import``, ``export``, ``backup`` and ``restore``."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO, Annotated

import typer

from incremental.base.errors import InputError, NotFoundError, without_credentials
from incremental.base.lookup import find_sites
from incremental.base.plain_text import one_line
from incremental.base.readable_urls import readable
from incremental.base.times import moment
from incremental.features.exchange.adding import Added, AddedEntry, add_all, imported
from incremental.features.exchange.lists import MAX_FILE_BYTES, ReadList
from incremental.features.exchange.writing import PAGES, write_pages, write_sites, write_visits
from incremental.interfaces.cli.common import (
    Json,
    counted,
    now,
    open_store,
    print_json,
    progress_bar,
    say,
    settings_of,
)
from incremental.interfaces.results.tables import TABLES
from incremental.settings.storage import CRAWLER_LOCK, only_writer
from store import Store
from store.answers import NewQuery
from store.errors import StoreRemainsError
from store.maintenance.backup import BackupReport, back_up, check_target
from store.maintenance.backup import restore as put_back

FileIn = Annotated[Path, typer.Argument(metavar="FILE", help="The file to read.")]
_LONGEST_LINE = 500


def import_list(
    context: typer.Context,
    file: FileIn,
    *,
    form: Annotated[
        str,
        typer.Option("--format", help="auto, urls, csv or opml."),
    ] = "auto",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be taken; write nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Watch the sites in a list; feeds become hubs of their site."""
    try:
        with file.open("rb") as source:
            content = source.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise InputError("file", str(file), f"cannot be read: {error.strerror}") from None
    # Numbers and parsers are loaded only where a list is read.
    from incremental.features.exchange.apart import read_list_apart  # noqa: PLC0415

    settings, _ = settings_of(context)
    found = read_list_apart(content, form, settings.daemon, name=str(file))
    with open_store(context) as store:
        added = add_all(store, found.wanted, now=now(), fetch=settings.fetch, dry_run=dry_run)
    result = imported(found, added, dry_run=dry_run)
    problems = [one_line(one, _LONGEST_LINE) for one in result.problems]
    skipped = [one_line(one, _LONGEST_LINE) for one in result.skipped]
    for line in (*problems, *(f"skipped: {one}" for one in skipped)):
        say(f"hubwatch: {line}")
    if as_json:
        print_json(replace(result, problems=problems, skipped=skipped))
    else:
        for one in added.entries:
            if one.result != "refused":
                typer.echo(f"{one.result:8}{readable(one.url)}{_of_site(one)}")
        typer.echo(_summary(found, added, len(problems), len(skipped)))
        if dry_run:
            typer.echo("dry run: nothing was written")
    if problems:
        raise typer.Exit(1)


def _summary(found: ReadList, added: Added, problems: int, skipped: int) -> str:
    """Return how many entries became what; together all of the file."""
    text = (
        f"{found.format}: {counted(added.sites, 'new site')}, {counted(added.feeds, 'feed')} as"
        f" hubs, {added.known} already known"
    )
    if skipped:
        text += f", {skipped} skipped"
    return f"{text}, {problems} not usable" if problems else text


def _of_site(entry: AddedEntry) -> str:
    """Return which site an imported entry belongs to, if known before the first visit, and where it is."""
    said = ""
    if entry.result == "feed" and entry.seed:
        said = f"  its first entries will show its site ({entry.site})"
    elif entry.result == "feed" or entry.new_site:
        said = f"  of {entry.site}" if entry.result == "feed" else f"  {entry.site}"
    said += f"  in {', '.join(entry.folders)}" if entry.folders else ""
    return said + ("  paused" if entry.paused else "")


def export(  # noqa: PLR0913 - options of a command
    context: typer.Context,
    *,
    form: Annotated[
        str,
        typer.Option("--format", help="csv, jsonl, parquet, warc; opml for the sites and feeds."),
    ] = "csv",
    out: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Default: stdout.")
    ] = None,
    since: Annotated[str | None, typer.Option(help="Found since: 3h, 2d, 2026-01-31.")] = None,
    topic: Annotated[str | None, typer.Option(help="Only pages of this topic.")] = None,
    site: Annotated[list[str] | None, typer.Option(help="Only pages of these sites.")] = None,
    with_text: Annotated[
        bool, typer.Option("--with-text", help="With the main text of each page.")
    ] = False,
    visits: Annotated[
        bool, typer.Option("--visits", help="The visits instead of the new pages.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Export new pages, visits, or the watched sites, for other programs."""
    known = TABLES if visits else (*PAGES, "opml")
    if form not in known:
        raise InputError("--format", form, f"must be one of: {', '.join(known)}")
    if as_json and out is None:
        raise InputError(
            "--json", "stdout", "is taken by the export; write it to a file: --output FILE"
        )
    with open_store(context) as store:
        query = _query(store, since, topic, site)
        what = "sites" if form == "opml" else "visits" if visits else "pages"
        with progress_bar(disable=out is None) as bar:
            task = bar.add_task(what, total=None)

            def write(file: IO[bytes]) -> int:
                if form == "opml":
                    return write_sites(store, file)
                if visits:
                    return write_visits(store, query.sites, query.since or 0.0, form, file)
                return write_pages(
                    store,
                    query,
                    form,
                    file,
                    lambda n: bar.update(task, completed=n),
                    with_text=with_text,
                )

            count = _into(out, write)
    if as_json:
        print_json({"written": count, "what": what, "in": str(out)})
    else:
        say(f"{counted(count, what[:-1])} written")


def _query(store: Store, since: str | None, topic: str | None, sites: list[str] | None) -> NewQuery:
    """Return what the options ask for."""
    wanted = store.topics.topic(topic) if topic else None
    if topic and wanted is None:
        raise NotFoundError(f"no topic is called {topic!r}")
    return NewQuery(
        since=moment(since, now()) if since else None,
        topic=wanted.id if wanted else None,
        hidden_verdict="irrelevant" if wanted else None,
        sites=tuple(row.id for row in find_sites(store, sites)) if sites else None,
    )


def _into(path: Path | None, write: Callable[[IO[bytes]], int]) -> int:
    """Write a complete file or none, or to stdout."""
    if path is None:
        return write(sys.stdout.buffer)
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix="~export-", delete=False) as file:
            count = write(file)
        os.replace(file.name, path)  # noqa: PTH105 - the rename that is atomic by contract
    except OSError as error:
        raise InputError("--output", str(path), f"cannot be written: {error.strerror}") from None
    return count


def backup(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="To write or replace, e.g. hubwatch.tar.gz")
    ],
    *,
    pages: Annotated[bool, typer.Option(help="With the page cache.")] = True,
    as_json: Json = False,
) -> None:
    """Back up the whole store to one file; a daemon may keep running."""
    home = _embedded(context)
    with progress_bar() as bar:
        task = bar.add_task("files", total=None)
        report = back_up(
            home, file, pages=pages, progress=lambda n, of: bar.update(task, completed=n, total=of)
        )
    _report(report, file, as_json=as_json)
    if cache := settings_of(context)[0].store.cache:
        say(f"hubwatch: cached pages are at {without_credentials(cache)} and not in this file")


def restore(  # noqa: PLR0913 - options of a command
    context: typer.Context,
    file: FileIn,
    *,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Replace remains of a store without asking.")
    ] = False,
    keep_access: Annotated[
        bool, typer.Option("--keep-access", help="Keep its tokens and sessions.")
    ] = False,
    keep_outgoing: Annotated[
        bool,
        typer.Option(
            "--keep-outgoing", help="Keep what it would send: channels and waiting messages."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Restore a backup into the configured folder, which must not hold a store yet.

    Tokens, sessions and what it would send are left out: trust a file before you keep them.

    Pages and models left over from a store without database are replaced if you agree.
    """
    home = _embedded(context)
    try:
        check_target(home, replace=yes)
    except StoreRemainsError as error:
        _ask(error)
        yes = True
    with progress_bar() as bar, _no_crawler(context, home):
        task = bar.add_task("files", total=None)
        report = put_back(
            file,
            home,
            replace=yes,
            keep_access=keep_access,
            keep_outgoing=keep_outgoing,
            progress=lambda n, _: bar.update(task, completed=n),
        )
    _report(report, home, as_json=as_json)
    left_out = report.removed
    if left_out.tokens:
        what = f"{counted(left_out.tokens, 'token')}, sessions included"
        say(f"hubwatch: left out {what} (--keep-access keeps them)")
    if left_out.outgoing:
        what = ", ".join(counted(count, kind) for kind, count in left_out.outgoing.items())
        say(f"hubwatch: left out {what} (--keep-outgoing keeps them)")


def _ask(error: StoreRemainsError) -> None:
    """Ask before replacing anything.

    Raises:
        InputError: stdin is no terminal, or the answer is no.
    """
    if not sys.stdin.isatty():
        raise InputError(str(error), "", "use --yes to replace it") from None
    if not typer.confirm(f"{error}. Replace it?", err=True):
        raise InputError(str(error), "", "nothing was replaced") from None


def _no_crawler(context: typer.Context, home: Path) -> contextlib.AbstractContextManager[None]:
    """Lock the folder against crawlers, if one has ever used it."""
    if (home / CRAWLER_LOCK).exists():
        return only_writer(*settings_of(context))
    return contextlib.nullcontext()


def _report(report: BackupReport, where: Path, *, as_json: bool) -> None:
    if as_json:
        print_json({"files": report.files, "bytes": report.size_bytes, "in": str(where)})
    else:
        typer.echo(f"{counted(report.files, 'file')}, {report.size_bytes / 1e6:.1f} MB, in {where}")


def _embedded(context: typer.Context) -> Path:
    """Return the folder of the embedded store; PostgreSQL has its own tools."""
    settings, folder = settings_of(context)
    if settings.store.database.startswith("postgres"):
        raise InputError("store.database", "postgresql://...", "is backed up with pg_dump")
    return folder / settings.store.folder

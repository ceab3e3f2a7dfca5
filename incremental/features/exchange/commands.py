"""Import and export: ``import``, ``export``, ``backup`` and ``restore``."""

import contextlib
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Annotated

import typer

from incremental.base.errors import InputError, without_credentials
from incremental.base.plain_text import one_line
from incremental.base.readable_urls import readable
from incremental.features.exchange.adding import Imported, import_all
from incremental.features.exchange.lists import MAX_FILE_BYTES
from incremental.features.exchange.packs import BEGIN, own_key, read_pack, signed
from incremental.features.exchange.writing import PAGES, write_pages, write_sites, write_visits
from incremental.fetch.options import SiteAccess
from incremental.interfaces.cli.common import (
    counted,
    now,
    open_store,
    print_table,
    printed_json,
    progress_bar,
    say,
    settings_of,
    wants_json,
    write_whole,
)
from incremental.interfaces.cli.filtering import Given, filtered, query_of
from incremental.interfaces.results.schema import by_name, when
from incremental.interfaces.results.tables import TABLES
from incremental.settings.seeds import usable_seed
from incremental.settings.storage import CRAWLER_LOCK, only_writer
from store.maintenance.backup import BackupReport, back_up
from store.maintenance.backup import restore as put_back

FileIn = Annotated[Path, typer.Argument(metavar="FILE", help="The file to read.")]
_LONGEST_LINE = 500
_SHOWN = 20


def import_list(
    context: typer.Context,
    file: FileIn,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be taken; write nothing.")
    ] = False,
    signed_by: Annotated[
        str, typer.Option("--signed-by", metavar="KEY", help="Take only a pack signed by this key.")
    ] = "",
) -> None:
    """Watch the sites in a list, or in a pack with what it learned; feeds become hubs of their site."""
    try:
        with file.open("rb") as source:
            content = source.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise InputError("file", str(file), f"cannot be read: {error.strerror}") from None
    # Numbers and parsers are loaded only where a list is read.
    from incremental.features.exchange.apart import read_list_apart  # noqa: PLC0415

    settings, _ = settings_of(context)
    if signed_by or content.startswith(BEGIN):
        _import_pack(context, content, signed_by, name=str(file), dry_run=dry_run)
        return
    found = read_list_apart(content, settings.daemon, name=str(file))
    with open_store(context) as store:
        result = import_all(store, found, settings.fetch, now=now(), dry_run=dry_run)
    problems = [one_line(one, _LONGEST_LINE) for one in result.problems]
    skipped = [one_line(one, _LONGEST_LINE) for one in result.skipped]
    odd = [*problems, *(f"skipped: {one}" for one in skipped)]
    for line in odd[:_SHOWN]:
        say(f"hubwatch: {line}")
    if len(odd) > _SHOWN:
        say(f"hubwatch: and {len(odd) - _SHOWN} more; --json has all")
    if not printed_json(context, replace(result, problems=problems, skipped=skipped)):
        rows = [
            (
                f"{one.result}, paused" if one.paused else one.result,
                one.site,
                ", ".join(one.folders),
                readable(one.url),
            )
            for one in result.entries
            if one.result != "refused"
        ]
        print_table("", ("result", "site", "folders", "url"), rows)
        typer.echo(_summary(result))
        if dry_run:
            typer.echo("dry run: nothing was written")
    if problems:
        raise typer.Exit(1)


def _import_pack(
    context: typer.Context, content: bytes, wanted: str, *, name: str, dry_run: bool
) -> None:
    from incremental.features.exchange.packing import take_pack  # noqa: PLC0415 - seldom used

    pack, signed_by = read_pack(content, name=name)
    if wanted and wanted.lower() != signed_by:
        raise InputError(name, signed_by, "is signed by another key than --signed-by")
    settings, _ = settings_of(context)
    with open_store(context) as store:
        done = take_pack(store, pack, settings.fetch, now=now(), dry_run=dry_run)
    problems = [one_line(one, _LONGEST_LINE) for one in done.problems]
    for line in problems:
        say(f"hubwatch: {line}")
    facts = by_name(replace(done, problems=problems)) | {"signed_by": signed_by}
    if not printed_json(context, facts):
        new = f"{counted(done.sites, 'new site')}, {done.known} already known"
        gained = f"{counted(done.hubs, 'hub')}, {counted(done.topics, 'new topic')}"
        typer.echo(f"pack of {when(pack.made_at)}: {new}, {gained}")
        typer.echo(f"signed by {signed_by}")
        if dry_run:
            typer.echo("dry run: nothing was written")
    if problems:
        raise typer.Exit(1)


def _summary(result: Imported) -> str:
    """Return how many entries became what; together all of the file."""
    text = (
        f"{result.format}: {counted(result.sites, 'new site')}, {counted(result.feeds, 'feed')} as"
        f" hubs, {result.known} already known"
    )
    if result.skipped:
        text += f", {len(result.skipped)} skipped"
    return f"{text}, {len(result.problems)} not usable" if result.problems else text


@filtered("since", "topic", "site")
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
    given: Given,
    with_text: Annotated[
        bool, typer.Option("--with-text", help="With the main text of each page.")
    ] = False,
    visits: Annotated[
        bool, typer.Option("--visits", help="The visits instead of the new pages.")
    ] = False,
    pack: Annotated[
        Path | None,
        typer.Option("--pack", metavar="FILE", help="What was learned, for import elsewhere."),
    ] = None,
) -> None:
    """Export new pages, visits, the watched sites, or what was learned about them."""
    if pack is not None:
        _export_pack(context, pack)
        return
    known = TABLES if visits else (*PAGES, "opml")
    if form not in known:
        raise InputError("--format", form, f"must be one of: {', '.join(known)}")
    if wants_json(context) and out is None:
        raise InputError(
            "--json", "stdout", "is taken by the export; write it to a file: --output FILE"
        )
    with open_store(context) as store:
        query = query_of(store, given)
        what = "sites" if form == "opml" else "visits" if visits else "pages"
        with progress_bar(disable=out is None) as bar:

            def write(file: IO[bytes]) -> int:
                if form == "opml":
                    return write_sites(store, file)
                if visits:
                    return write_visits(store, query.sites, query.since or 0.0, form, file)
                track = partial(bar.track, description=what)
                return write_pages(store, query, form, file, track, with_text=with_text)

            count = write(sys.stdout.buffer) if out is None else write_whole(out, "--output", write)
    if not printed_json(context, {"written": count, "what": what, "in": str(out)}):
        say(f"{counted(count, what[:-1])} written")


def _export_pack(context: typer.Context, file: Path) -> None:
    from incremental.features.exchange.packing import pack_of  # noqa: PLC0415 - seldom used

    settings, folder = settings_of(context)
    key = own_key(folder / settings.store.folder)
    private = [usable_seed(one.url) for one in settings.site if one.access() != SiteAccess()]
    with open_store(context) as store:
        made = pack_of(store, now(), private=private)
    content = signed(made, key)
    read_pack(content, name="--pack")  # nobody gets one that would be refused
    write_whole(file, "--pack", lambda out: out.write(content))
    signed_by = key.public_key().public_bytes_raw().hex()
    done = {"sites": len(made.sites), "topics": len(made.topics), "in": str(file)}
    if not printed_json(context, done | {"signed_by": signed_by}):
        say(f"{counted(len(made.sites), 'site')}, {counted(len(made.topics), 'topic')} written")
        say(f"signed by {signed_by}")


def backup(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="To write or replace, e.g. hubwatch.tar.gz")
    ],
    *,
    pages: Annotated[bool, typer.Option(help="With the page cache.")] = True,
) -> None:
    """Back up the whole store to one file; a daemon may keep running."""
    home = _embedded(context)
    with progress_bar() as bar:
        task = bar.add_task("files", total=None)
        report = back_up(
            home, file, pages=pages, progress=lambda n, of: bar.update(task, completed=n, total=of)
        )
    _report(context, report, file)
    if cache := settings_of(context)[0].store.cache:
        say(f"hubwatch: cached pages are at {without_credentials(cache)} and not in this file")


def restore(
    context: typer.Context,
    file: FileIn,
    *,
    keep_all: Annotated[
        bool,
        typer.Option(
            "--keep-all", help="Keep tokens, sessions, channels and waiting messages as well."
        ),
    ] = False,
) -> None:
    """Restore a backup into the configured folder, which must not hold a store yet.

    Tokens, sessions and what it would send are left out: trust a file before you keep them.
    """
    home = _embedded(context)
    with progress_bar() as bar, _no_crawler(context, home):
        task = bar.add_task("files", total=None)
        report = put_back(
            file, home, keep_all=keep_all, progress=lambda n, _: bar.update(task, completed=n)
        )
    _report(context, report, home)
    if report.removed:
        what = ", ".join(counted(count, kind) for kind, count in report.removed.items())
        say(f"hubwatch: left out {what} (--keep-all keeps them)")


def _no_crawler(context: typer.Context, home: Path) -> contextlib.AbstractContextManager[None]:
    """Lock the folder against crawlers, if one has ever used it."""
    if (home / CRAWLER_LOCK).exists():
        return only_writer(*settings_of(context))
    return contextlib.nullcontext()


def _report(context: typer.Context, report: BackupReport, where: Path) -> None:
    facts = {"files": report.files, "bytes": report.size_bytes, "in": str(where)}
    if not printed_json(context, facts):
        typer.echo(f"{counted(report.files, 'file')}, {report.size_bytes / 1e6:.1f} MB, in {where}")


def _embedded(context: typer.Context) -> Path:
    """Return the folder of the embedded store; PostgreSQL has its own tools."""
    settings, folder = settings_of(context)
    if settings.store.database.startswith("postgres"):
        raise InputError("store.database", "postgresql://...", "is backed up with pg_dump")
    return folder / settings.store.folder

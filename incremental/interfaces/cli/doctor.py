"""Is all well with this installation: ``doctor``. It changes nothing and sends no request.

::

    settings  can they be used as they are? are the features that they name there?
    files     may this user write the store's folder? are the settings kept from others?
    store     can it be read, is it of this version, is it sound (on demand)?
    versions  which are at work, and does the model embed?
"""

import os
import platform
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from incremental.base.errors import FeatureError, SettingsError
from incremental.base.findings import (
    Finding,
    Verdict,
    ok,
    problem,
    settings_checked,
    warning,
    wrong_setting,
)
from incremental.base.plain_text import clean
from incremental.interfaces.cli.common import console, printed_json, settings_file, settings_of
from incremental.settings import Settings
from incremental.settings.storage import same_settings, store_address
from incremental.topics.embedding.choice import embeddings_finding
from incremental.visit.rendering.browser import browser_finding
from store.database.home import is_open_to_others, lost
from store.errors import StoreDamagedError, StoreError, StoreLockedError, StoreTooNewError
from store.maintenance.inspection import Inspection, inspected

_COLOURS = {Verdict.OK: "green", Verdict.WARNING: "yellow", Verdict.PROBLEM: "red"}
_WAYS_OUT: dict[type[StoreError], str] = {
    StoreLockedError: "stop the process that holds it, or ask again later",
    StoreTooNewError: "install that version of Hubwatch, or restore a backup of this one's",
    StoreDamagedError: "stop the daemon, move the database away and restore a backup",
}


def doctor(
    context: typer.Context,
    *,
    store: Annotated[
        bool, typer.Option("--store", help="Read the whole store, and check that it is sound.")
    ] = False,
) -> None:
    """Check settings, files, store and versions; change nothing.

    Exits with status 1 if any check fails.
    """
    try:
        settings, folder = settings_of(context)
    except SettingsError as error:
        findings = [wrong_setting(error), *_versions(Settings())]
    else:
        file = settings_file(context)
        findings = list(_findings(settings, folder, file, check=store))
    healthy = all(one.verdict is not Verdict.PROBLEM for one in findings)
    if not printed_json(context, {"healthy": healthy, "checks": findings}):
        for one in findings:
            _print(one)
    if not healthy:
        raise typer.Exit(1)


def _findings(
    settings: Settings, folder: Path, file: Path | None, *, check: bool
) -> Iterator[Finding]:
    """Make every check, in the order in which they are best mended."""
    home = folder / settings.store.folder
    yield from _of_settings(settings, folder, file)
    yield from _of_files(home, file)
    try:
        with inspected(store_address(settings, folder)) as found:
            yield _of_store(found, home, check=check)
    except (StoreError, SettingsError) as error:
        ways = (way for kind, way in _WAYS_OUT.items() if isinstance(error, kind))
        yield problem("store", str(error), next(ways, "see [store] in the settings"))
    yield from _versions(settings)


def _of_settings(settings: Settings, folder: Path, file: Path | None) -> Iterator[Finding]:
    """Check what only shows when the settings are used."""
    wrong: list[Finding] = []
    with settings_checked(wrong):
        if file is None:
            same_settings(settings, folder, file)
    for found in settings.enabled.asked("checks", settings):
        wrong += found
    yield from wrong
    way_out = "upgrade or uninstall its package, or name it in [features] off"
    for name, why in settings.enabled.broken.items():
        yield problem("features", str(FeatureError(name, why)), way_out)
    on = ", ".join(one.name for one in settings.enabled.on) or "none"
    off = ", ".join(settings.features.off)
    yield ok("features", f"on: {on}" + (f"; off: {off}" if off else ""))
    if not settings.fetch.contact:
        says = "site owners cannot reach you"
        yield warning("settings", says, "set [fetch] contact to a URL or an e-mail address")
    if not wrong:
        yield ok("settings", str(file) if file is not None else "the defaults; there is no file")


def _of_files(home: Path, file: Path | None) -> Iterator[Finding]:
    """Check who may do what with the store's folder and the settings."""
    if file is not None and is_open_to_others(file):
        says = f"{file} can be read by other users, and may hold passwords"
        yield warning("files", says, f"chmod 600 {file}")
    place = next(path for path in (home.absolute(), *home.absolute().parents) if path.exists())
    if not place.is_dir() or not os.access(place, os.R_OK | os.W_OK | os.X_OK):
        way_out = f"let this user write to {place}, or set [store] folder"
        yield problem("files", f"this user cannot write to the folder {place}", way_out)
    elif home.exists():
        yield ok("files", f"{home} can be written")
    else:
        yield ok("files", f"{home} is not there yet; the first command makes it")


def _of_store(store: Inspection | None, home: Path, *, check: bool) -> Finding:
    """Check the store's version and, on demand, all that it holds; None = there is none."""
    if store is None:
        if left := lost(home):
            says = f"there is no database; {', '.join(map(str, left[:3]))} of one is left"
            way_out = (
                "bring it back, restore a backup, or move these away to begin with an empty one"
            )
            return problem("store", says, way_out)
        return ok("store", "there is none yet; the first command makes it")
    pending = store.pending()
    sound = store.check() if check else ""
    kind = f"PostgreSQL {store.version()}" if store.version() else "SQLite"
    if pending:
        says = f"{kind}; migrations are to come: {', '.join(pending)}"
        way_out = "back it up; the next command that opens it applies them"
        return warning("store", says, way_out)
    return ok("store", f"{kind}; {sound or '--store reads all of it'}")


def _versions(settings: Settings) -> Iterator[Finding]:
    """Say what is at work; the model has to embed, and a browser to draw."""
    # A mere source tree has no version.
    own = next(iter(metadata.distributions(name="hubwatch")), None)
    version = "?" if own is None else own.version
    yield ok("versions", f"Hubwatch {version}, Python {platform.python_version()}")
    yield embeddings_finding(settings.embeddings)
    yield browser_finding(settings.browser)


def _print(finding: Finding) -> None:
    line = Text(f"{finding.verdict.value:<8} ", _COLOURS[finding.verdict])
    line.append(f"{finding.check:<10} {clean(finding.says)}", "default")
    console().print(line, soft_wrap=True)
    if finding.way_out:
        console().print(Text(f"{'':<20}{clean(finding.way_out)}"), soft_wrap=True)

"""Is all well with this installation: ``doctor``. It changes nothing.

::

    settings  can they be used as they are? are the features that they name there?
    files     may this user write the store's folder? are the settings kept from others?
    store     can it be read, is it of this version, is it sound (on demand)?
    network   does one watched site answer, through the one egress with its guard?
    versions  which are at work, and does the model embed?
"""

import os
import platform
from collections.abc import Iterator
from contextlib import closing
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from hubwatch.errors import HubwatchError
from incremental.base.clock import SystemClock
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
from incremental.base.texts import named
from incremental.daemon.assembly import make_fetcher
from incremental.fetch.options import host_name
from incremental.fetch.politeness import host_key
from incremental.fetch.robots import robots_url
from incremental.fetch.status import HOST_TROUBLE, FetchStatus, Request, Response
from incremental.interfaces.cli.common import console, now, printed_json, settings_file, settings_of
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
    offline: Annotated[bool, typer.Option("--offline", help="Send no request.")] = False,
    store: Annotated[
        bool, typer.Option("--store", help="Read the whole store, and check that it is sound.")
    ] = False,
) -> None:
    """Check settings, files, store, network and versions; change nothing.

    Exits with status 1 if any check fails.
    """
    try:
        settings, folder = settings_of(context)
    except SettingsError as error:
        findings = [wrong_setting(error), *_versions(Settings())]
    else:
        file = settings_file(context)
        findings = list(_findings(settings, folder, file, offline=offline, check=store))
    healthy = all(one.verdict is not Verdict.PROBLEM for one in findings)
    if not printed_json(context, {"healthy": healthy, "checks": findings}):
        for one in findings:
            _print(one)
    if not healthy:
        raise typer.Exit(1)


def _findings(
    settings: Settings, folder: Path, file: Path | None, *, offline: bool, check: bool
) -> Iterator[Finding]:
    """Make every check, in the order in which they are best mended."""
    home = folder / settings.store.folder
    yield from _of_settings(settings, folder, file)
    yield from _of_files(home, file)
    seeds, owed = [site.url for site in settings.site], dict[str, float]()
    try:
        with inspected(store_address(settings, folder)) as found:
            yield _of_store(found, home, check=check)
            if found is not None and not found.pending():
                seeds, owed = [*found.seeds(), *seeds], found.owed()
    except (StoreError, SettingsError) as error:
        yield _unusable(error)
    if not offline:
        yield _of_network(settings, seeds, owed)
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


def _unusable(error: HubwatchError) -> Finding:
    """Return why the store cannot be used, with the way out."""
    ways = (way for kind, way in _WAYS_OUT.items() if isinstance(error, kind))
    return problem("store", str(error), next(ways, "see [store] in the settings"))


def _of_network(settings: Settings, seeds: list[str], owed: dict[str, float]) -> Finding:
    """Fetch the robots.txt of one site whose host may be asked now; no budget counts it."""
    seed = next((one for one in seeds if owed.get(host_key(one), 0.0) <= now()), None)
    if seed is None:
        says = "every host is paused for politeness" if seeds else named("verdict", "no_site")
        return ok("network", f"not asked: {says}")
    with closing(make_fetcher(settings, SystemClock())) as fetcher:
        return network_finding(fetcher.fetch(Request(robots_url(seed))))


def network_finding(answer: Response) -> Finding:
    """Judge how the request ended."""
    site, code = host_name(answer.requested_url or answer.url), answer.http_code
    trouble = answer.status in HOST_TROUBLE
    if code is not None and not trouble:
        return ok("network", f"{site} answered in {answer.elapsed_seconds:.1f} s")
    if answer.status is FetchStatus.FORBIDDEN_ADDRESS:
        way_out = "if it is meant, name it in [fetch] allowed_hosts or allowed_networks"
    elif code is not None:
        way_out = "the network is there; the site is asked again later"
        return warning("network", f"{site} answers, with trouble: HTTP {code}", way_out)
    elif not trouble:
        way_out = "hubwatch check says more of the site"
        return warning("network", f"{site}: {answer.detail}", way_out)
    else:
        way_out = "look at name resolution, routes, firewall, proxy and [fetch] ca_file"
    return problem("network", f"{site}: {answer.detail}", way_out)


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

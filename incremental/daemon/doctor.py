"""What can be wrong around a store, checked one by one: for ``hubwatch doctor``. Nothing is changed.

::

    files     may this user read and write the store's folder and all in it? are others kept out?
    space     is there room for what will be written?
    clock     is it later than what was recorded, and about what the web says?
    engine    what runs the visits, and who works for it?
    network   does one watched site answer, through the one egress with its guard?
    store     can it be read, is it of this version, is it sound (on demand)?
    versions  what is at work, and is all there that the settings need?

Facts are gathered here and judged by functions of values.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib import metadata
from pathlib import Path

from hubwatch.errors import HubwatchError
from incremental.base.clock import SystemClock
from incremental.base.errors import FeatureError, SettingsError
from incremental.base.features import Features
from incremental.base.findings import Finding, ok, problem, warning
from incremental.base.threads import pause
from incremental.base.times import HOUR, MINUTE
from incremental.fetch.options import host_name
from incremental.fetch.politeness import host_key
from incremental.fetch.robots import robots_url
from incremental.fetch.status import HOST_TROUBLE, FetchStatus, Request, Response
from incremental.settings import Settings
from incremental.settings.storage import CRAWLER_LOCK, MEGABYTE
from incremental.visit.engines.elsewhere import make_elsewhere
from incremental.visit.engines.visits import EngineReport
from incremental.visit.visit import Fetch
from store.daemons import DaemonRow
from store.database.home import DATABASE, SIDE_FILES, TREES, copies_in, is_open_to_others, remains
from store.database.upgrades import known_migrations
from store.errors import (
    StoreDamagedError,
    StoreError,
    StoreLockedError,
    StoreTooNewError,
)
from store.maintenance.inspection import Inspection, sqlite_version

# What is the store's in its folder; others' files may lie beside it.
_OWN = (DATABASE, *SIDE_FILES, CRAWLER_LOCK, "settings.name", *TREES)
LEAST_FREE_MB = 100
LITTLE_FREE_MB = 1_000
LEAST_FREE_FILES = 1_000
# A clock may be this far off before visits suffer, or certificates seem to be of another time.
TOLERATED_SECONDS = MINUTE
TOLERATED_FROM_WEB_SECONDS = 5 * MINUTE
# Machines without a battery begin in 1970, or when their system was built.
EARLIEST = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
_MOST_NAMED = 3
_TICK_SECONDS = 0.25
# Ten seconds: a worker that is busy introduces itself late.
_MOST_TICKS = 40
_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")
_DEVELOPMENT = frozenset({"test", "bench"})
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_WAYS_OUT: dict[type[StoreError], str] = {
    StoreLockedError: "stop the process that holds it, or ask again later",
    StoreTooNewError: "install that version of Hubwatch, or restore a backup of this one's",
    StoreDamagedError: "stop the daemon, move the database away and restore a backup",
}


@dataclass(slots=True)
class Tree:
    """What lies in a store's folder."""

    size_bytes: int = 0
    unusable: list[Path] = field(default_factory=list)
    """What this user cannot read and write."""
    strange: list[Path] = field(default_factory=list)
    """What belongs to another user than the folder."""
    open: list[Path] = field(default_factory=list)
    """What other users may read."""


# --- files ------------------------------------------------------------------------------------


def read_tree(home: Path) -> Tree:
    """Look at *home*, which is there, and at all that is the store's in it; links are not followed."""
    found = Tree()
    owner = home.stat().st_uid
    own = [path for path in map(home.joinpath, _OWN) if path.exists()]
    # Features keep a key there.
    own += [*copies_in(home), *home.glob("*.key")]
    paths = [home, *own]
    for top in own:
        for folder, folders, files in os.walk(top):
            paths += [Path(folder, name) for name in (*folders, *files)]
    for path in paths:
        try:
            state = path.lstat()
        except OSError:
            continue  # gone while we looked: a daemon is at work
        wanted = os.R_OK | os.W_OK | (os.X_OK if path.is_dir() else 0)
        if not os.access(path, wanted):
            found.unusable.append(path)
        if state.st_uid != owner:
            found.strange.append(path)
        if path.is_file():
            found.size_bytes += state.st_size
    # A folder for its owner alone closes all below it.
    if is_open_to_others(home):
        found.open = [path for path in own if is_open_to_others(path)]
    return found


def files_findings(home: Path, settings_file: Path | None) -> list[Finding]:
    """Check who may do what with the store's folder and the settings."""
    found = []
    if settings_file is not None and is_open_to_others(settings_file):
        says = f"{settings_file} can be read by other users, and may hold passwords"
        found.append(warning("files", says, f"chmod 600 {settings_file}"))
    if not home.exists():
        above = next(path for path in home.absolute().parents if path.exists())
        if not os.access(above, os.W_OK | os.X_OK):
            way_out = f"let this user write to {above}, or set [store] folder"
            return [*found, problem("files", f"{home} is not there and cannot be made", way_out)]
        return [*found, ok("files", f"{home} is not there yet; the first command makes it")]
    if not home.is_dir():
        way_out = "move the file away, or set [store] folder"
        return [*found, problem("files", f"{home} is no folder", way_out)]
    tree = read_tree(home)
    if tree.unusable:
        says = f"this user cannot read and write {_named(tree.unusable)}"
        way_out = f"as root: chown -R {_user_of(home)} {home} && chmod -R u+rwX {home}"
        found.append(problem("files", says, way_out))
    elif tree.strange:
        says = f"{_named(tree.strange)} belong to another user than {home}"
        way_out = f"as root: chown -R {_user_of(home)} {home}"
        found.append(warning("files", says, way_out))
    if tree.open:
        says = f"{_named(tree.open)} can be read by other users"
        way_out = f"chmod -R go= {' '.join(map(str, tree.open))}; hubwatch run does it, too"
        found.append(warning("files", says, way_out))
    if copies := copies_in(home):
        size = sum(path.stat().st_size for path in copies) / MEGABYTE
        names = ", ".join(path.name for path in copies)
        says = f"{home} holds copies of the database from before upgrades: {names} ({size:,.1f} MB)"
        found.append(ok("files", says))
    return found or [ok("files", f"{home} is this user's, and closed to others")]


def _named(paths: Sequence[Path]) -> str:
    rest = len(paths) - _MOST_NAMED
    return ", ".join(map(str, paths[:_MOST_NAMED])) + (f" and {rest} more" if rest > 0 else "")


def _user_of(home: Path) -> str:
    return str(home.stat().st_uid)


# --- space ------------------------------------------------------------------------------------


def free_space(home: Path) -> tuple[int, int | None]:
    """Return the bytes and the files for which there is room; None where files are not counted."""
    there = next(path for path in (home.absolute(), *home.absolute().parents) if path.exists())
    state = os.statvfs(there)
    return state.f_bavail * state.f_frsize, state.f_favail if state.f_files else None


def space_finding(free_bytes: int, free_files: int | None, growth_bytes: float) -> Finding:
    """Judge what is free; *growth_bytes* is what the page cache may still take."""
    free = f"{free_bytes / MEGABYTE:,.0f} MB free"
    way_out = "make room, or set a smaller [store] cache_quota_mb"
    if free_bytes < LEAST_FREE_MB * MEGABYTE:
        return problem("space", f"only {free}", way_out)
    if free_files is not None and free_files < LEAST_FREE_FILES:
        return problem("space", f"room for {free_files} more files only", "remove files")
    if free_bytes < LITTLE_FREE_MB * MEGABYTE:
        return warning("space", f"only {free}", way_out)
    if free_bytes < growth_bytes:
        says = f"{free}; the page cache may take {growth_bytes / MEGABYTE:,.0f} MB more"
        return warning("space", says, way_out)
    return ok("space", free)


# --- clock ------------------------------------------------------------------------------------


def clock_findings(now: float, latest: float | None, answer: Response | None) -> list[Finding]:
    """Compare this machine's clock with the store's *latest* entry and a site's *answer*."""
    way_out = "set the clock, and keep it: timedatectl set-ntp true"
    if now < EARLIEST:
        return [problem("clock", f"it says {_date(now)}, which has long passed", way_out)]
    if latest is not None and latest > now + TOLERATED_SECONDS:
        says = f"it is {_span(latest - now)} behind the latest entry of the store"
        return [problem("clock", says, way_out)]
    served = _served_at(answer)
    if served is not None and abs(served - now) > TOLERATED_FROM_WEB_SECONDS:
        side = "behind" if served > now else "ahead of"
        says = f"it is {_span(abs(served - now))} {side} that of {_site(answer)}"
        return [warning("clock", says, f"if other sites say so too, {way_out}")]
    return [ok("clock", f"{_date(now)}")]


def _served_at(answer: Response | None) -> float | None:
    """Return when a server says that it answered; None if it does not, or something else did."""
    headers = answer.headers if answer is not None else {}
    try:
        made = parsedate_to_datetime(headers["date"]).timestamp()
        # A cache repeats the date of what it keeps (RFC 9111, section 5.1).
        return made + float(headers.get("age", 0))
    except (KeyError, ValueError, TypeError, OverflowError):
        return None


def _date(at: float) -> str:
    # A moment that no calendar holds is a fault of the clock, too; it is shown as it is.
    try:
        return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
    except (ValueError, OverflowError, OSError):
        return f"{at:.0f}"


def _span(seconds: float) -> str:
    if seconds < 2 * HOUR:
        return f"{seconds / MINUTE:.0f} minutes"
    return f"{seconds / HOUR:,.1f} hours"


# --- network ----------------------------------------------------------------------------------


def seed_to_ask(seeds: Iterable[str], owed: Mapping[str, float], now: float) -> str | None:
    """Return the first seed whose host may be asked now; None when there is none."""
    return next((seed for seed in seeds if owed.get(host_key(seed), 0.0) <= now), None)


def ask(fetch: Fetch, seed: str) -> Response:
    """Fetch the robots.txt that speaks for *seed*: one request, which no budget counts."""
    return fetch(Request(robots_url(seed)))


def network_finding(answer: Response) -> Finding:
    """Judge how the request ended."""
    site, seconds = _site(answer), f"{answer.elapsed_seconds:.1f} s"
    if answer.status is FetchStatus.FORBIDDEN_ADDRESS:
        way_out = "if it is meant, name it in [fetch] allowed_hosts or allowed_networks"
        return problem("network", f"{site}: {answer.detail}", way_out)
    if answer.http_code is not None and answer.status in HOST_TROUBLE:
        way_out = "the network is there; the site is asked again later"
        return warning("network", f"{site} answers, with trouble: HTTP {answer.http_code}", way_out)
    if answer.status in HOST_TROUBLE:
        way_out = "look at name resolution, routes, firewall, proxy and [fetch] ca_file"
        return problem("network", f"{site}: {answer.detail}", way_out)
    if answer.http_code is None:
        return warning(
            "network", f"{site}: {answer.detail}", "hubwatch check says more of the site"
        )
    return ok("network", f"{site} answered in {seconds} (HTTP {answer.http_code})")


def _site(answer: Response | None) -> str:
    return host_name(answer.requested_url or answer.url) if answer is not None else ""


# --- store ------------------------------------------------------------------------------------


def store_findings(store: Inspection | None, home: Path, *, check: bool) -> list[Finding]:
    """Check the store's version and, on demand, all that it holds; None = there is none."""
    if store is None:
        if left := remains(home):
            way_out = "bring it back, restore a backup, or begin with an empty one: hubwatch init --new-store"
            return [
                problem("store", f"there is no database; {_named(left)} of one is left", way_out)
            ]
        return [ok("store", "there is none yet; the first command makes it")]
    try:
        pending, latest = store.pending(), store.latest()
        sound = store.check() if check else ""
    except StoreError as error:
        return [store_problem(error)]
    kind = f"PostgreSQL {store.version()}" if store.version() else "SQLite"
    if pending:
        says = f"{kind}; {len(pending)} of {len(known_migrations())} migrations are to come ({pending[0]})"
        way_out = "back it up; the next command that opens it applies them"
        return [warning("store", says, way_out)]
    at = f", latest entry {_date(latest)}" if latest is not None else ""
    done = f"; {sound}" if sound else "; --store reads all of it"
    return [ok("store", f"{kind}{at}{done}")]


def bugs_findings(errors: Sequence[str]) -> list[Finding]:
    """Say what is skipped because of a bug; *errors*: of each page, site or topic."""
    if not errors:
        return []
    says = (
        f"skipped because of a bug: {len(errors)} pages, sites or topics; the latest: {errors[-1]}"
    )
    way_out = "each is tried again; hubwatch status lists them, with --json the traces for a report"
    return [warning("bugs", says, way_out)]


def daemons_findings(rows: Sequence[DaemonRow]) -> list[Finding]:
    """Say which daemons share the store, and whether all beat and are of one version."""
    if not rows:
        return []
    found = []
    for one in rows:
        shard = "" if one.shard is None else f", shard {one.shard}/{one.shards}"
        says = f"{one.name}{shard}: {one.sites} sites, heartbeat {one.beat_age:.0f} s ago"
        if one.lives:
            found.append(ok("daemons", says + (", leader" if one.is_leader else "")))
        else:
            way_out = "if it is not stopped on purpose, look at its log; others take over its sites"
            found.append(warning("daemons", says, way_out))
    if len({one.version for one in rows}) > 1:
        versions = ", ".join(sorted({one.version for one in rows}))
        found.append(
            warning("daemons", f"they are of several versions: {versions}", "upgrade them all")
        )
    return found


def engine_findings(settings: Settings, *, offline: bool) -> Iterator[Finding]:
    """Say what runs the visits; a cluster is asked who works there, unless *offline*."""
    engine = settings.engine
    if offline and engine.kind == "dask":
        yield ok("engine", f"Dask at {engine.address}, not asked")
        return
    try:
        report = _asked(settings)
    except SettingsError as error:
        yield problem("engine", f"{error.field} = {error.value!r}", error.way_out)
        return
    for worker in report.refused:
        yield warning("engine", f"refused: {worker}", "install the daemon's version there")
    if report.workers:
        yield ok("engine", report.text())
    else:
        way_out = f"start one with this version of Hubwatch: dask worker {report.address}"
        yield problem("engine", report.waits or "no worker has answered", way_out)


def _asked(settings: Settings) -> EngineReport:
    """Return what runs the visits, when the workers of a cluster have introduced themselves."""
    with make_elsewhere(settings, SystemClock()) as elsewhere:
        if elsewhere is None:
            return EngineReport("threads", settings.daemon.workers)
        for _ in range(_MOST_TICKS):
            report = elsewhere.report()
            if not report.unknown and (report.workers or report.refused):
                break
            pause(_TICK_SECONDS)
        return report


def store_problem(error: HubwatchError) -> Finding:
    """Return why the store cannot be used, with the way out."""
    ways = (way for kind, way in _WAYS_OUT.items() if isinstance(error, kind))
    return problem("store", str(error), next(ways, "see [store] in the settings"))


# --- features ---------------------------------------------------------------------------------


def features_findings(features: Features, off: Sequence[str]) -> list[Finding]:
    """Say which features are on and which are off, and why others cannot be used."""
    way_out = "upgrade or uninstall its package, or name it in [features] off"
    found = [
        problem("features", str(FeatureError(name, why)), way_out)
        for name, why in features.broken.items()
    ]
    on = ", ".join(one.name for one in features.on) or "none"
    return [*found, ok("features", f"on: {on}" + (f"; off: {', '.join(off)}" if off else ""))]


# --- versions ---------------------------------------------------------------------------------


def installed_version(name: str) -> str | None:
    """Return the version of an installed distribution; None when it is not there."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def requirements() -> list[str]:
    """Return what the installed Hubwatch asks for at work; empty for a mere source tree."""
    try:
        lines = metadata.requires("hubwatch") or []
    except metadata.PackageNotFoundError:
        return []
    return [line for line in lines if _extra_of(line) not in _DEVELOPMENT]


def _extra_of(line: str) -> str:
    extra = _EXTRA.search(line)
    return extra[1] if extra else ""


def libraries(
    required: Sequence[str], version_of: Callable[[str], str | None]
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return the versions of what is there by name, and what is not by extra (empty: of no extra)."""
    there, missing = {}, dict[str, list[str]]()
    for line in required:
        name = _NAME.match(line)
        if name is None:
            continue
        version = version_of(name[0])
        if version is not None:
            there[name[0]] = version
        else:
            missing.setdefault(_extra_of(line), []).append(name[0])
    return there, missing


def versions_findings(
    required: Sequence[str], version_of: Callable[[str], str | None], extras: Iterable[str]
) -> list[Finding]:
    """Say what is at work, and what the settings need that is not installed; *extras* by name."""
    own = version_of("hubwatch")
    there, missing = libraries(required, version_of)
    says = f"Hubwatch {own or '?'}, Python {platform.python_version()}, SQLite {sqlite_version()}"
    found = [ok("versions", says)]
    if there:
        listed = ", ".join(f"{name} {there[name]}" for name in sorted(there, key=str.lower))
        found.append(ok("libraries", listed))
    else:
        way_out = "install it: pip install ."
        found.append(warning("libraries", "Hubwatch is not installed as a package", way_out))
    for extra in ("", *extras):
        if extra in missing:
            names = ", ".join(missing[extra])
            wanted = f"hubwatch[{extra}]" if extra else "hubwatch"
            way_out = f"pip install '{wanted}'"
            found.append(problem("libraries", f"not installed: {names}", way_out))
    return found


def full_text_findings(*, known: bool) -> list[Finding]:
    """Refuse an SQLite without its full-text index."""
    if known:
        return []
    way_out = "use a Python whose SQLite was built with it, or PostgreSQL"
    return [problem("versions", "this SQLite has no FTS5, which the search needs", way_out)]

"""Is all well with this installation: ``doctor``."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from incremental.base.clock import SystemClock
from incremental.base.errors import SettingsError, without_credentials
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
from incremental.daemon.doctor import (
    ask,
    bugs_findings,
    clock_findings,
    daemons_findings,
    engine_findings,
    features_findings,
    files_findings,
    free_space,
    full_text_findings,
    installed_version,
    libraries,
    network_finding,
    read_tree,
    requirements,
    seed_to_ask,
    space_finding,
    store_findings,
    store_problem,
    versions_findings,
)
from incremental.fetch.status import Response
from incremental.interfaces.cli.common import console, now, printed_json, settings_file, settings_of
from incremental.interfaces.cli.logs import level_of
from incremental.settings import Settings
from incremental.settings.storage import MEGABYTE, reach_cache, same_settings, store_address
from incremental.topics.embedding.choice import embeddings_findings, needs_net
from incremental.visit.rendering.browser import browser_finding
from store.errors import StoreError
from store.maintenance.inspection import Inspection, inspected, knows_full_text

_COLOURS = {Verdict.OK: "green", Verdict.WARNING: "yellow", Verdict.PROBLEM: "red"}


def doctor(
    context: typer.Context,
    *,
    offline: Annotated[bool, typer.Option("--offline", help="Send no request.")] = False,
    store: Annotated[
        bool, typer.Option("--store", help="Read the whole store, and check that it is sound.")
    ] = False,
) -> None:
    """Check settings, files, space, clock, network, store and versions; change nothing.

    Exits with status 1 if any check fails.
    """
    try:
        settings, folder = settings_of(context)
    except SettingsError as error:
        findings = [wrong_setting(error), *_versions(Settings(), offline=True)]
    else:
        file = settings_file(context)
        findings = list(_findings(settings, folder, file, offline=offline, check=store))
    if not printed_json(context, _report(findings)):
        for one in findings:
            _print(one)
    if any(one.verdict is Verdict.PROBLEM for one in findings):
        raise typer.Exit(1)


def _findings(
    settings: Settings, folder: Path, file: Path | None, *, offline: bool, check: bool
) -> Iterator[Finding]:
    """Make every check, in the order in which they are best mended."""
    home = folder / settings.store.folder
    yield from _settings_findings(settings, folder, file)
    yield from files_findings(home, file)
    used = read_tree(home).size_bytes if home.is_dir() else 0
    growth = 0.0 if settings.store.cache else settings.store.cache_quota_mb * MEGABYTE - used
    yield space_finding(*free_space(home), max(growth, 0))
    latest, answer = None, None
    seeds, owed = [site.url for site in settings.site], dict[str, float]()
    with contextlib.ExitStack() as stack:
        try:
            found = stack.enter_context(inspected(store_address(settings, folder)))
            state = store_findings(found, home, check=check)
            yield from state
            if found is not None and all(one.verdict is Verdict.OK for one in state):
                yield from daemons_findings(found.daemons())
                yield from bugs_findings(found.quarantined())
                yield from _guard_findings(settings, found)
                latest, owed = found.latest(), found.owed()
                seeds = [*found.seeds(), *seeds]
        except (StoreError, SettingsError) as error:
            yield store_problem(error)
    if settings.store.cache and not offline:
        yield _cache_finding(settings)
    if not offline:
        answer = _answer(settings, seeds, owed)
        if answer is not None:
            yield network_finding(answer)
        else:
            says = "every host is paused for politeness" if seeds else named("verdict", "no_site")
            yield ok("network", f"not asked: {says}")
    yield from engine_findings(settings, offline=offline)
    yield from clock_findings(now(), latest, answer)
    yield from _versions(settings, offline=offline)


def _cache_finding(settings: Settings) -> Finding:
    """Ask whether the page cache's place is there, if it is not the store's folder."""
    try:
        reach_cache(settings)
    except (StoreError, SettingsError) as error:
        return problem("page cache", str(error), "the daemon waits until it can be written")
    return ok("page cache", str(without_credentials(settings.store.cache)))


def _settings_findings(settings: Settings, folder: Path, file: Path | None) -> Iterator[Finding]:
    """Check what only shows when the settings are used."""
    wrong: list[Finding] = []
    with settings_checked(wrong):
        level_of(settings)
    with settings_checked(wrong):
        if file is None:
            same_settings(settings, folder, file)
    for found in settings.enabled.asked("checks", settings):
        wrong += found
    yield from wrong
    yield from features_findings(settings.enabled, settings.features.off)
    if not settings.fetch.contact:
        says = "site owners cannot reach you"
        yield warning("settings", says, "set [fetch] contact to a URL or an e-mail address")
    if not wrong:
        yield ok("settings", str(file) if file is not None else "the defaults; there is no file")


def _guard_findings(settings: Settings, store: Inspection) -> Iterator[Finding]:
    """Check that nobody reaches an unguarded web page."""
    if not settings.web.enabled or importlib.util.find_spec("uvicorn") is None:
        return
    from incremental.interfaces.web.server import check_guarded  # noqa: PLC0415 - an extra, and half a second

    wrong: list[Finding] = []
    with settings_checked(wrong):
        check_guarded(settings, has_tokens=store.has_tokens())
    yield from wrong


def _answer(settings: Settings, seeds: list[str], owed: dict[str, float]) -> Response | None:
    seed = seed_to_ask(seeds, owed, now())
    if seed is None:
        return None
    with closing(make_fetcher(settings, SystemClock())) as fetcher:
        return ask(fetcher.fetch, seed)


def _versions(settings: Settings, *, offline: bool) -> Iterator[Finding]:
    """Say what is at work; what the settings use has to be there, and the model has to embed."""
    used = {
        "web": settings.web.enabled,
        "postgres": bool(settings.store.database),
        "dask": settings.engine.kind == "dask",
    }
    extras = [name for name, wanted in used.items() if wanted]
    yield from versions_findings(requirements(), installed_version, extras)
    yield from full_text_findings(known=knows_full_text())
    quietly = offline and needs_net(settings.embeddings)
    yield from embeddings_findings(
        settings.embeddings, None if quietly else partial(_model_trouble, settings)
    )
    yield browser_finding(settings.browser)


def _model_trouble(settings: Settings) -> str:
    """Embed one text; return what goes wrong."""
    from incremental.topics.embedding.trying import trouble_of  # noqa: PLC0415 - numpy

    with closing(make_fetcher(settings, SystemClock())) as fetcher:
        return trouble_of(settings.embeddings, fetcher.fetch)


def _report(findings: list[Finding]) -> dict[str, object]:
    there, _ = libraries(requirements(), installed_version)
    healthy = all(one.verdict is not Verdict.PROBLEM for one in findings)
    return {"healthy": healthy, "checks": findings, "libraries": there}


def _print(finding: Finding) -> None:
    line = Text(f"{finding.verdict.value:<8} ", _COLOURS[finding.verdict])
    line.append(f"{finding.check:<10} {clean(finding.says)}", "default")
    console().print(line, soft_wrap=True)
    if finding.way_out:
        console().print(Text(f"{'':<20}{clean(finding.way_out)}"), soft_wrap=True)

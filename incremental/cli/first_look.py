"""What ``add`` says of a site at once, and what it asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import typer

from incremental.assembly import hub_scorer, make_fetcher, make_reader
from incremental.cli.common import now, print_table, progress_bar, say
from incremental.clock import SystemClock
from incremental.first_look import FirstLook, first_look
from incremental.readable_urls import readable
from incremental.settings import Settings
from incremental.storage import models_folder
from incremental.urls import host_of
from store import Store


def look_at(
    store: Store, settings: Settings, folder: Path, site_ids: Sequence[int], *, quiet: bool
) -> dict[int, FirstLook]:
    """Look at the seeds of sites, with a progress bar unless *quiet*."""
    looks = {}
    fetcher = make_fetcher(settings, SystemClock())
    scorer = hub_scorer(models_folder(settings, folder))
    try:
        with (
            make_reader(settings, workers=1) as read,
            progress_bar(disable=quiet or len(site_ids) == 1) as bar,
        ):
            for site_id in bar.track(site_ids, description="looking"):
                row = store.read.site(site_id)
                if row is not None:
                    looks[site_id] = first_look(
                        store,
                        settings,
                        row,
                        fetch=fetcher.fetch,
                        read=read,
                        scorer=scorer,
                        now=now(),
                    )
    finally:
        fetcher.close()
    return looks


def show(name: str, look: FirstLook) -> None:
    """Print what a seed shows."""
    if look.problem:
        say(
            f"{readable(look.url)} could not be read: {look.problem}. It is watched all the same and "
            f"asked again; to take it back: hubwatch remove '{name}'"
        )
        return
    rate = look.new_pages_per_day
    lists = [readable(url) for url in (*look.feeds, *look.sitemaps, *look.lists)]
    rows: list[tuple[str, str]] = [
        ("title", look.title or "-"),
        ("feeds", _listed(look.feeds)),
        ("sitemaps", _listed(look.sitemaps)),
        ("look like lists", _listed(look.lists)),
        ("pages linked", f"{look.links}"),
        (
            "new pages",
            "not known yet" if rate is None else f"about {rate:.2g} a day, by their dates",
        ),
        ("requests", f"at most {look.requests_per_day:g} a day"),
    ]
    print_table(readable(look.url), ("", ""), rows)
    if not lists and not look.links:
        say("It links to nothing within reach: is it the right page, or is --reach too narrow?")


def _listed(urls: Sequence[str]) -> str:
    return "\n".join(readable(url) for url in urls) or "none found"


def as_json(look: FirstLook) -> dict[str, Any]:
    """Return a look for ``--json``."""
    return asdict(look)


def asked_reach(url: str) -> tuple[str, ...]:
    """Ask whether the whole host is meant, if the seed lies deeper; return patterns to include."""
    path = urlsplit(url).path
    folder = path[: path.rfind("/") + 1]
    if folder in ("", "/"):
        return ()
    below = f"{host_of(url)}{folder}"
    say(f"{readable(url)} is not the home page.")
    if typer.confirm(f"Watch only what is below {below}?", default=False, err=True):
        return (f"*//{below}*",)
    return ()

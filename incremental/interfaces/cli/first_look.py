"""What ``add`` says of a site at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from incremental.base.clock import SystemClock
from incremental.base.readable_urls import readable
from incremental.crawl.first_look import FirstLook
from incremental.daemon.assembly import first_looks
from incremental.interfaces.cli.common import print_table, progress_bar, say
from incremental.settings import Settings
from incremental.settings.storage import models_folder
from store import Store


def look_at(
    store: Store, settings: Settings, folder: Path, site_ids: Sequence[int]
) -> dict[int, FirstLook]:
    """Look at the seeds of sites, with a progress bar if there are several."""
    models = models_folder(settings, folder)
    with progress_bar(disable=len(site_ids) == 1) as bar:
        looks = first_looks(store, settings, models, site_ids, SystemClock())
        return dict(bar.track(looks, total=len(site_ids), description="looking"))


def show(store: Store, site_id: int, look: FirstLook) -> None:
    """Print what a seed shows."""
    row = store.read.site(site_id)
    name = row.name if row is not None else look.url
    if look.problem:
        say(
            f"{readable(look.url)} could not be read: {look.problem}. It is watched all the same and "
            f"asked again; to take it back: hubwatch remove '{name}'"
        )
        return
    rate = look.new_pages_per_day
    rows: list[tuple[str, str]] = [
        ("title", look.title or "-"),
        *_listed("feeds", look.feeds),
        *_listed("sitemaps", look.sitemaps),
        *_listed("look like lists", look.lists),
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
            "Its scripts draw it. Their data is searched for its links; if it holds none, a browser draws "
            f"the page. How it is read: hubwatch check {look.url}"
        )
    elif not (look.links or look.feeds or look.sitemaps):
        say("It links to nothing within reach: is it the right page, or is --reach too narrow?")


def _listed(label: str, urls: Sequence[str]) -> list[tuple[str, str]]:
    shown = [readable(url) for url in urls] or ["none found"]
    return [(label, shown[0]), *(("", one) for one in shown[1:])]

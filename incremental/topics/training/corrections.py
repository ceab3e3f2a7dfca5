"""Users' labels of pages: they apply at once and outrank everything else."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from classifier.hub.labels import ARTICLE, HUB
from incremental.base.errors import InputError
from incremental.base.lookup import web_address
from incremental.base.path_aliases import rules, without_path_alias
from incremental.base.scope import read_scope
from incremental.base.texts import Text, hub_why
from incremental.base.urls import canonical_key
from store import Store
from store.enums import HubKind, HubRole, LabelOrigin, PageLabel
from store.values import LabelEntry, NewHub, SeenLink, SiteRow


@dataclass(frozen=True, slots=True)
class Correction:
    """The effect of a user's label."""

    url: str
    label: str | None = None
    sites: tuple[str, ...] = ()
    """Watched sites it applies to; none = it only trains."""
    error: str | None = None
    """Why it has none."""


def correct_all(store: Store, urls: Sequence[str], label: str, *, now: float) -> list[Correction]:
    """Label pages one by one with :func:`correct`; each has a result of its own."""
    done = []
    for url in urls:
        try:
            done.append(correct(store, url, label, now=now))
        except InputError as error:
            done.append(Correction(url, error=str(error)))
    return done


def correct(store: Store, text: str, label: str, *, now: float) -> Correction:
    """Store a user's label of *text* and apply it to every site whose scope contains the URL.

    ``hub`` makes a hub that is due now and never dropped; ``article`` ends that permanently.

    Raises:
        InputError: not a web address, or ``article`` for a seed. Nothing was stored.
    """
    url = web_address(text)
    where = places(store, url)
    known = [(row, page) for row, address in where for page in pages_at(store, row, address)]
    # Before anything is stored: a seed is where the crawl of its site begins.
    for row, page in known if label == ARTICLE else ():
        hub = store.read.hub(page["id"])
        if hub is not None and hub.role == HubRole.SEED:
            raise InputError("url", url, Text("input.is_seed", site=row.name))
    url = where[0][1] if where else url
    anchor = next((str(page["anchor"]) for _, page in known if page["anchor"]), "")
    entry = LabelEntry(
        url=url,
        canonical_key=canonical_key(url),
        label=PageLabel(label),
        origin=LabelOrigin.USER,
        at=now,
        anchor=anchor,
        site_id=where[0][0].id if where else None,
    )
    new = (
        NewHub(HubKind.HTML, HubRole.USER, 1.0, hub_why("said_hub"), now) if label == HUB else None
    )
    links = [(row.id, SeenLink(canonical_key(at), at, anchor, hub=new)) for row, at in where]
    store.write.correct(entry, links)
    return Correction(url, label, tuple(row.name for row, _ in where))


def places(store: Store, url: str) -> list[tuple[SiteRow, str]]:
    """Return the sites whose scope contains a URL, each with the URL it knows the page by."""
    found = []
    for row in store.read.sites():
        address = without_path_alias(url, rules(json.loads(row.path_aliases)))
        if read_scope(row).holds(address):
            found.append((row, address))
    return found


def pages_at(store: Store, row: SiteRow, url: str) -> list[dict[str, Any]]:
    """Return the columns of a site's page with this URL, if known."""
    return [
        page for page in store.read.find_page(url, canonical_key(url)) if page["site"] == row.id
    ]

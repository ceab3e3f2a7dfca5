"""Learning path aliases from visits, and merging the duplicates.

The rule is in :mod:`incremental.base.path_aliases`. The evidence is two hubs whose URLs differ by a
prefix and whose bodies are equal.
"""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from urllib.parse import urlsplit

from incremental.base.path_aliases import (
    ALIKE_SHARE,
    MIN_BODY_BYTES,
    path_alias_prefix,
    rules,
    stripped,
)
from incremental.base.texts import hub_why
from incremental.base.urls import canonical_key
from incremental.crawl.sites import WatchedSite
from incremental.decide.decision import Decision
from incremental.visit.visit import Outcome
from store import Store
from store.enums import HubKind, HubRole
from store.texts import to_json
from store.values import HubRow, NewHub, SeenLink, VisitRecord

logger = logging.getLogger("hubwatch.path aliases")


class PathAliasWatch:
    """Learns the path aliases of sites from the visits of their hubs."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def learn(self, outcome: Outcome, decision: Decision, site: WatchedSite, now: float) -> None:
        """Count two URLs with one body as evidence for a path alias."""
        hub, visit = decision.hub, decision.visit
        if hub is None or outcome.page is None or outcome.body_md5 is None:
            return
        if len(outcome.response.body) < MIN_BODY_BYTES:
            return
        if visit is not None and visit.baseline:
            self._suspect(hub, decision.record, site)
        evidence: dict[str, list[str]] = json.loads(site.row.path_aliases)
        for other in self._store.read.hubs_with_body(site.row.id, outcome.body_md5):
            prefix = path_alias_prefix(hub.url, other)
            path = urlsplit(min(hub.url, other, key=len)).path
            if prefix is None or prefix in site.path_aliases or path in evidence.get(prefix, ()):
                continue
            evidence.setdefault(prefix, []).append(path)
            site.row = replace(site.row, path_aliases=to_json(evidence))
            site.path_aliases = rules(evidence)
            self._store.write.update_site(site.row.id, path_aliases=site.row.path_aliases)
            below = f"//{urlsplit(hub.url).netloc}{prefix}"
            if prefix in site.path_aliases:
                self._fold(site, prefix, below, now)
            else:
                self._compare_twins(site, prefix, below, now)

    def _suspect(self, hub: HubRow, record: VisitRecord, site: WatchedSite) -> None:
        """Queue two hubs together whose URLs differ by a prefix and whose links are much alike."""
        here = {link.canonical_key for link in record.links or ()}
        for other in self._store.read.hubs(site.row.id):
            if other.kind != hub.kind or path_alias_prefix(hub.url, other.url) is None:
                continue
            there = self._store.read.shown_by(other.page_id)
            if here and len(here & there) >= ALIKE_SHARE * len(here | there):
                # At once, one after the other: sites change between two visits.
                site.urgent.push(other.page_id, hub.page_id)

    def _compare_twins(self, site: WatchedSite, prefix: str, below: str, now: float) -> None:
        """Queue a few hubs below the prefix together with their counterparts."""
        pairs = self._store.read.pages_below(site.row.id, below, hubs_only=True, limit=3)
        for page_id, url, _ in pairs:
            twin = stripped(url, prefix)
            new = NewHub(HubKind.HTML, HubRole.LIST, 0.5, hub_why("may_be_same", page=url), now)
            link = SeenLink(canonical_key=canonical_key(twin), url=twin, hub=new)
            ids = self._store.write.add_pages(site.row.id, [link], now=now)
            site.urgent.push(page_id, *ids.values())

    def _fold(self, site: WatchedSite, prefix: str, below: str, now: float) -> None:
        logger.info("%s: %s shows the same pages as the path without it", site.row.name, prefix)
        moves = []
        for page_id, url, _ in self._store.read.pages_below(site.row.id, below):
            twin = stripped(url, prefix)
            if twin != url:
                moves.append((page_id, SeenLink(canonical_key=canonical_key(twin), url=twin)))
        self._store.write.fold_path_alias(site.row.id, moves, now)

"""Tags: names under which users group sites and topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from peewee import fn

from store.database import writing
from store.database.repository import Repository
from store.database.texts import storable
from store.models import SiteTag, TopicTag


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag and how much has it."""

    name: str
    sites: int
    topics: int


class Tags(Repository):
    """Queries and writes, on one database."""

    def tags(self) -> list[Tag]:
        """Return all tags in alphabetical order."""
        sites = dict(self._rows(_counted(SiteTag)))
        topics = dict(self._rows(_counted(TopicTag)))
        names = sorted({*sites, *topics}, key=str.casefold)
        return [Tag(name, sites.get(name, 0), topics.get(name, 0)) for name in names]

    def of_sites(self) -> dict[int, list[str]]:
        """Return the tags of each site that has any, in alphabetical order."""
        return self._by_owner(SiteTag, SiteTag.site)

    def of_topics(self) -> dict[int, list[str]]:
        """Return the tags of each topic that has any, in alphabetical order."""
        return self._by_owner(TopicTag, TopicTag.topic)

    def sites_tagged(self, tag: str) -> tuple[int, ...]:
        """Return the ids of the sites that have a tag."""
        query = SiteTag.select(SiteTag.site).where(SiteTag.tag == storable(tag))
        return tuple(self._column(query.order_by(SiteTag.site)))

    def set_site_tags(self, site_id: int, tags: Sequence[str]) -> None:
        """Replace the tags of a site."""
        rows = [{"site": site_id, "tag": storable(tag)} for tag in dict.fromkeys(tags)]
        self._replace(SiteTag, SiteTag.site == site_id, rows)

    def set_topic_tags(self, topic_id: int, tags: Sequence[str]) -> None:
        """Replace the tags of a topic."""
        rows = [{"topic": topic_id, "tag": storable(tag)} for tag in dict.fromkeys(tags)]
        self._replace(TopicTag, TopicTag.topic == topic_id, rows)

    def _replace(self, model: Any, mine: Any, rows: list[dict[str, object]]) -> None:  # noqa: ANN401 - peewee's own
        with writing(self._db, self._where):
            model.delete().where(mine).execute(self._db)
            if rows:
                model.insert_many(rows).execute(self._db)

    def _by_owner(self, model: Any, owner: Any) -> dict[int, list[str]]:  # noqa: ANN401 - likewise
        found: dict[int, list[str]] = {}
        for one, tag in self._rows(model.select(owner, model.tag).order_by(owner, model.tag)):
            found.setdefault(one, []).append(tag)
        return found


def _counted(model: Any) -> Any:  # noqa: ANN401 - likewise
    return model.select(model.tag, fn.COUNT(model.tag)).group_by(model.tag)

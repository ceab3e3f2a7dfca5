"""Users' edits: sites, topics, requested visits."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from peewee import JOIN, fn

from store.database import writing
from store.database.repository import Repository, batches
from store.database.texts import columns, storable
from store.models import (
    Hub,
    Page,
    PageTopic,
    Refresh,
    Site,
    SiteTag,
    Topic,
    TopicExample,
    TopicTag,
    VisitRequest,
)


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

    def set_site_tags(self, site_id: int, tags: Sequence[str]) -> None:
        """Replace the tags of a site."""
        self._replace(SiteTag, SiteTag.site, site_id, tags)

    def set_topic_tags(self, topic_id: int, tags: Sequence[str]) -> None:
        """Replace the tags of a topic."""
        self._replace(TopicTag, TopicTag.topic, topic_id, tags)

    def _replace(self, model: Any, owner: Any, owner_id: int, tags: Sequence[str]) -> None:  # noqa: ANN401 - peewee's own
        rows = [{owner.name: owner_id, "tag": storable(tag)} for tag in dict.fromkeys(tags)]
        with writing(self._db, self._where):
            model.delete().where(owner == owner_id).execute(self._db)
            if rows:
                model.insert_many(rows).execute(self._db)

    def _by_owner(self, model: Any, owner: Any) -> dict[int, list[str]]:  # noqa: ANN401 - likewise
        found: dict[int, list[str]] = {}
        for one, tag in self._rows(model.select(owner, model.tag).order_by(owner, model.tag)):
            found.setdefault(one, []).append(tag)
        return found


def _counted(model: Any) -> Any:  # noqa: ANN401 - likewise
    return model.select(model.tag, fn.COUNT(model.tag)).group_by(model.tag)


class Editing(Repository):
    """Queries and writes, on one database."""

    # Sites.

    def edit_site(
        self, site_id: int, *, now: float, name: str | None = None, **fields: object
    ) -> bool:
        """Set a site's name and columns, all or none; False = another site has that name."""
        return self._edit(Site, site_id, name, columns({**fields, "changed_at": now}))

    def _edit(self, model: Any, row_id: int, name: str | None, changed: dict[str, Any]) -> bool:  # noqa: ANN401 - a peewee model
        with writing(self._db, self._where):
            if name is not None:
                changed["name"] = storable(name)
                taken = (model.name == changed["name"]) & (model.id != row_id)
                if model.select(model.id).where(taken).exists(self._db):
                    return False
            model.update(changed).where(model.id == row_id).execute(self._db)
            return True

    # Topics.

    def edit_topic(
        self, topic_id: int, *, now: float, name: str | None = None, **fields: object
    ) -> bool:
        """Set a topic's name and columns; False = another topic has that name.

        The topic is trained again.
        """
        return self._edit(Topic, topic_id, name, columns({**fields, "changed_at": now}, {}))

    def forget_example(self, topic_id: int, example_id: int, *, now: float) -> bool:
        """Delete a training example and schedule training; return whether there was one.

        What a user said of a page is taken back with it: the topic judges the page again.
        """
        with writing(self._db, self._where):
            mine = (TopicExample.id == example_id) & (TopicExample.topic == topic_id)
            key = TopicExample.select(TopicExample.canonical_key).where(mine).scalar(self._db)
            if key is None:
                return False
            sites = Site.select(Site.id)  # the index begins with them
            same = Page.site.in_(sites) & (Page.canonical_key == key)
            said = PageTopic.page.in_(Page.select(Page.id).where(same))
            said &= (PageTopic.topic == topic_id) & (PageTopic.method == "you")
            PageTopic.delete().where(said).execute(self._db)
            TopicExample.delete().where(mine).execute(self._db)
            Topic.update(changed_at=now).where(Topic.id == topic_id).execute(self._db)
            return True

    # Requested visits.

    def request_visits(self, page_ids: Iterable[int], *, now: float) -> int:
        """Request visits of these pages now; return their number.

        A page that is neither a hub nor waits for verification is refreshed, so it gets a refresh.
        """
        count = 0
        with writing(self._db, self._where):
            for batch in batches(page_ids):
                pages = Page.select(Page.id, Page.site, Page.verify_due_at, Hub.page).join(
                    Hub, JOIN.LEFT_OUTER, on=Hub.page == Page.id
                )
                rows = list(pages.where(Page.id.in_(batch)).tuples().execute(self._db))
                asked = [{"page": page, "site_id": site, "at": now} for page, site, _, _ in rows]
                plain = [
                    {"page": page, "site_id": site, "due_at": now}
                    for page, site, verify_at, hub in rows
                    if hub is None and verify_at is None
                ]
                if asked:
                    VisitRequest.insert_many(asked).on_conflict_ignore().execute(self._db)
                if plain:
                    Refresh.insert_many(plain).on_conflict_ignore().execute(self._db)
                count += len(rows)
        return count

    def visit_requests(self) -> dict[int, list[int]]:
        """Return the ids of pages to be visited now by site id, the earliest request first."""
        query = VisitRequest.select(VisitRequest.site_id, VisitRequest.page)
        found: dict[int, list[int]] = {}
        for site_id, page_id in self._rows(query.order_by(VisitRequest.at, VisitRequest.page)):
            found.setdefault(site_id, []).append(page_id)
        return found

    def drop_request(self, page_id: int) -> None:
        """Withdraw the request to visit a page now."""
        self._write(VisitRequest.delete().where(VisitRequest.page == page_id))

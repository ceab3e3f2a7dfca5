"""A program with asyncio beside a running daemon."""

import asyncio
from collections.abc import Iterator

import pytest
from stories import seen, visit_of
from web_served import HOME, Served

from hubwatch import Hubwatch
from hubwatch.asynchronous import AsyncClient
from hubwatch.client import ServerError
from incremental.interfaces.results.schema import page_result
from incremental.interfaces.web import server
from incremental.interfaces.web.access import new_token
from store.answers import NewQuery


@pytest.fixture
def client(served: Served) -> Iterator[AsyncClient]:
    token = new_token(served.store, "program", "write", now=0.0)
    with server.served(served.with_settings(port=0).web) as url:
        yield Hubwatch.connect_async(url, token)


def test_values_are_awaited_and_lists_iterated(client: AsyncClient, served: Served) -> None:
    async def main() -> None:
        async with client:
            sites, topic = await asyncio.gather(
                client.sites(), client.add_topic("bridges", describe="Bridges and tenders")
            )
            assert [one.name for one in sites] == ["news.example", "other.example"]
            assert (await client.topics()) == [topic]
            rows = served.store.answers.new(NewQuery(order="oldest")).rows
            assert [one async for one in client.new_pages()] == list(map(page_result, rows))
            visits = [one async for one in client.visits(site="news.example")]
            assert visits[0].url == HOME
            with pytest.raises(ServerError, match="stays a hub"):
                await client.label(HOME, "article")

    asyncio.run(main())


def test_the_loop_goes_on_while_it_watches(client: AsyncClient, served: Served) -> None:
    hub = served.store.read.hubs()[0]

    def announce(name: str) -> None:
        link = seen(HOME + name, anchor=name, fate="announce")
        now = served.clock.now()
        served.store.write.visit(visit_of(hub.site_id, hub.page_id, now, link, keep_missing=True))

    async def main() -> None:
        found = list[str]()
        async with client:
            after = await client.newest_cursor()
            watching = client.watch(after=after, poll_seconds=0.05)
            waiting = asyncio.ensure_future(anext(watching))
            await client.sites()
            announce("later")
            found.append((await asyncio.wait_for(waiting, 30)).url)
        assert found == [HOME + "later"]

    asyncio.run(main())


def test_a_wrong_name_is_no_method(client: AsyncClient) -> None:
    with pytest.raises(AttributeError):
        client.not_there  # noqa: B018 - that is the point

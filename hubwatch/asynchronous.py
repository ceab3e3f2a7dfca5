"""A client of a running Hubwatch for asyncio programs: :meth:`hubwatch.Hubwatch.connect_async`.

::

    await client.sites()                             what returns a value is awaited
    async for page in client.watch(topic="harbour")  new_pages, visits and watch are iterated
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import Any, Self

from hubwatch.client import Client
from incremental.interfaces.results.schema import Page, SiteVisit

_BATCH = 100


class AsyncClient:
    """The methods of :class:`~hubwatch.client.Client`, awaited; see there for arguments, results, errors.

    Requests are made one after the other, in a thread of its own.
    """

    def __init__(self, url: str, token: str = "") -> None:
        self._client = Client(url, token)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="hubwatch")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections, after the request under way."""
        await self._done(self._client.close)
        self._thread.shutdown()

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        """Return a method of the client that is awaited."""
        if name.startswith("_"):
            raise AttributeError(name)
        return partial(self._done, getattr(self._client, name))

    async def _done(self, work: Callable[..., Any], *given: Any, **named: Any) -> Any:  # noqa: ANN401 - as *work*
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, partial(work, *given, **named))

    async def new_pages(self, **filters: Any) -> AsyncIterator[Page]:  # noqa: ANN401 - of the client
        """Yield announced pages, oldest first."""
        async for page in self._each(self._client.new_pages(**filters)):
            yield page

    async def visits(self, **filters: Any) -> AsyncIterator[SiteVisit]:  # noqa: ANN401 - likewise
        """Yield visits in the order in which they were made."""
        async for visit in self._each(self._client.visits(**filters)):
            yield visit

    async def watch(
        self,
        *,
        after: int | None = None,
        poll_seconds: float = 15.0,
        **filters: Any,  # noqa: ANN401 - likewise
    ) -> AsyncIterator[Page]:
        """Yield each page when it is announced, without end; *after* as for the client."""
        if after is None:
            after = await self._done(self._client.newest_cursor)
        while True:
            async for page in self.new_pages(after=after, **filters):
                after = page.cursor
                yield page
            await asyncio.sleep(poll_seconds)

    async def _each(self, found: Iterator[Any]) -> AsyncIterator[Any]:
        while batch := await self._done(lambda: list(islice(found, _BATCH))):
            for one in batch:
                yield one

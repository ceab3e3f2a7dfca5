"""A few readers for many threads."""

from __future__ import annotations

import logging

from incremental.base.children import ProcessPool, frame
from incremental.fetch.status import FetchStatus
from incremental.sandbox.body import Body, Reading, Unread
from incremental.sandbox.process import PROGRAM, ReaderLimits, ReaderProcess

logger = logging.getLogger("hubwatch.reading")

# Caches of libraries grow with every page.
PAGES_EACH = 2_000


class ReaderBugError(Exception):
    """Reading raised an error, which is a bug of ours; the message is its trace."""


class ReaderPool(ProcessPool[ReaderProcess]):
    """Reads bodies in processes of their own. Thread-safe."""

    def __init__(
        self,
        workers: int,
        limits: ReaderLimits,
        *,
        pages_each: int = PAGES_EACH,
        program: str = PROGRAM,
    ) -> None:
        """Start *workers* processes of the module *program*; they are ready about a second later."""
        self._limits = limits
        grown = limits.megabytes * 1_000_000 // 2
        super().__init__(
            workers,
            lambda: ReaderProcess(limits, program),
            lambda one: one.pages >= pages_each or one.growth > grown,
        )

    def read(self, body: Body) -> Reading | Unread:
        """Read *body*; waits for a free process, and then for at most the deadline.

        Raises:
            ReaderBugError: reading it raised an error.
        """
        request = frame(body)
        try:
            with self.lent() as process:
                answer = None if process is None else process.ask(request)
        except OSError as error:
            answer = Unread(FetchStatus.PARSE_FAILED, f"no reader could start: {error}")
        if answer is None or self.closed:
            return Unread(FetchStatus.PARSE_FAILED, "Hubwatch is stopping")
        if isinstance(answer, Unread):
            logger.warning("%s was not read: %s", body.url, answer.detail)
            return answer
        if answer.bug:
            raise ReaderBugError(f"reading {body.url} failed:\n{answer.bug}")
        if answer.reading is None:
            most = f"{self._limits.megabytes} MB of memory"
            return Unread(FetchStatus.PARSE_FAILED, f"reading it took more than {most}")
        return answer.reading

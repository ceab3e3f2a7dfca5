"""Scripts that are kept between pages: one site's are never another's."""

from typing import cast

from lab.clocks import SimulatedClock

from incremental.fetch.status import FetchStatus, Request, Response
from incremental.visit.rendering.frames import Wanted
from incremental.visit.rendering.pool import ScriptMemory, _Desk
from incremental.visit.ways.parts import Parts

SCRIPT = "http://intranet.example/user.js"


class Served:
    """Answers every request with a script that may be kept, or refuses it."""

    requests = 0
    wait_seconds = 0.0

    def __init__(self, *, refuses: bool = False) -> None:
        self._refuses = refuses

    def fetch(self, request: Request) -> Response:
        self.requests += 1
        if self._refuses:
            return Response(request.url, FetchStatus.FORBIDDEN_ADDRESS)
        headers = {"cache-control": "max-age=600", "content-type": "text/javascript"}
        return Response(
            request.url, FetchStatus.FETCHED, http_code=200, headers=headers, body=b"secret"
        )


def drawn(page: str, memory: ScriptMemory, clock: SimulatedClock, own: Served) -> bytes:
    desk = _Desk(
        page,
        cast("Parts", own),
        cast("Parts", Served(refuses=True)),
        memory,
        seconds=10.0,
        clock=clock,
    )
    return desk.answer(Wanted(1, SCRIPT, "script")).body


def test_a_script_is_kept_for_its_own_site_alone() -> None:
    """It may hold what only that site's cookies show, or lie where other sites' pages may not ask."""
    clock = SimulatedClock(1_760_000_000.0)
    memory, own = ScriptMemory(clock), Served()
    assert drawn("http://intranet.example/", memory, clock, own) == b"secret"
    assert drawn("http://intranet.example/news", memory, clock, own) == b"secret"
    assert own.requests == 1
    assert drawn("https://evil.example/", memory, clock, Served()) == b""

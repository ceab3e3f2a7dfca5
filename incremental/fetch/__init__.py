"""Fetching: the one way out of Hubwatch, and the manners on it.

Every outbound request, of whatever purpose, goes through one :class:`Fetcher`, and every connection
through one address guard::

    visit -- RobotsPolicy.allows? -- Fetcher.fetch(Request) -------------------------> Response
                                     |  target     is it a URL, and whose?                |
                                     |  options    what is this origin shown?             |
                                     |  transport  guard -> checked address -> socket     |
                                     |  failures   error or status code -> FetchStatus    |
                                     |  headers    redirect target, Retry-After           |
                                                                                          |
    politeness.after_visit(HostState, ...) -> when this host may be asked again <---------+
    decoding.decode_body(body, header)     -> text                              <---------+

Only ``transport`` opens sockets. ``robots``, ``politeness`` and ``decoding`` are pure: they are
handed answers and times. A site can make a fetch fail, never raise: whatever happens is a
:class:`Response` with a :class:`FetchStatus`.
"""

from incremental.fetch.decoding import decode_body
from incremental.fetch.options import FetchSettings, SiteAccess, origin
from incremental.fetch.politeness import (
    HostState,
    PolitenessSettings,
    after_visit,
    host_key,
    polite_delay_seconds,
    staggered_start,
)
from incremental.fetch.robots import RobotsCache, RobotsPolicy, fetch_robots, robots_url
from incremental.fetch.session import Fetcher
from incremental.fetch.status import FetchStatus, Request, Response

__all__ = [
    "FetchSettings",
    "FetchStatus",
    "Fetcher",
    "HostState",
    "PolitenessSettings",
    "Request",
    "Response",
    "RobotsCache",
    "RobotsPolicy",
    "SiteAccess",
    "after_visit",
    "decode_body",
    "fetch_robots",
    "host_key",
    "origin",
    "polite_delay_seconds",
    "robots_url",
    "staggered_start",
]

"""The bound of a replay: the delay of a reader who knows where and when each new page is shown first.

Its requests are spread evenly over the day. Each goes to the page that shows most of what waits; a page
to which others linked before it came is asked for itself. What a crawler saves up for later may beat it.
"""

import math
import statistics
from collections import Counter
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from replay_site import ReplaySite

_DAY = 86_400.0


def bound_minutes(
    site: ReplaySite, linked: Mapping[str, float], start: float, per_day: float
) -> float:
    """Return the mean delay in minutes over pages by URL, each linked (unix seconds) after *start*."""
    gap, waiting = _DAY / per_day, dict[str, float]()
    coming = sorted(linked.items(), key=lambda one: -one[1])
    shown = {url: site.changed(at, name_of(url)) or {url} for url, at in coming}
    delays, request = list[float](), 0
    while coming or waiting:
        if not waiting:
            request = max(request, math.ceil((coming[-1][1] - start) / gap))
        now = start + request * gap
        while coming and coming[-1][1] <= now:
            url, at = coming.pop()
            waiting[url] = at
        ((best, _),) = Counter(one for url in waiting for one in shown[url]).most_common(1)
        for url in [url for url in waiting if best in shown[url]]:
            delays.append((now - waiting.pop(url)) / 60)
        request += 1
    return statistics.fmean(delays)


def name_of(url: str) -> str:
    """Return what a link to *url* ends with, however it begins."""
    return unquote(urlsplit(url).path).removesuffix("index.html").rstrip("/").rpartition("/")[2]

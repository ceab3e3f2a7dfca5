"""Status: throughput, budget, errors, host waits."""

from collections import Counter

from fastapi import APIRouter, Request
from fastapi.responses import Response

from incremental.fetch.status import HARMLESS
from incremental.interfaces.results.schema import when
from incremental.interfaces.results.status import DAY
from incremental.interfaces.web.context import StoreRoute, Web
from incremental.interfaces.web.views import page
from store import Store

router = APIRouter(include_in_schema=False, route_class=StoreRoute)
_HOUR = 3_600.0
_DAYS = 7
# Hours per column.
_STEPS = 2
_LEAST_COLUMNS = 12


@router.get("/status")
def status_page(request: Request, web: Web, store: Store) -> Response:
    """Show visits, new pages, errors and host waits."""
    now = web.now()
    step = _STEPS * _HOUR
    since = (now // step + 1) * step - _DAYS * DAY
    status = web.status(store)
    visits = Counter[int]()
    for (number, _), made in store.monitor.visits_by_time(since, step).items():
        visits[number] += made
    news = store.monitor.news_by_time(since, step)
    hosts = store.monitor.host_waits(now, limit=20)
    announced = sum(store.monitor.news_by_time(now - DAY, DAY).values())
    counts = sum((Counter(site.visits_by_status) for site in status.sites), Counter[str]())
    failed = {name: count for name, count in counts.items() if name not in HARMLESS}
    columns = int(_DAYS * DAY / step)
    # A new installation shows its first day, not six empty ones before it.
    first = max(0, min([*visits, *news, columns - _LEAST_COLUMNS]))
    hours = {number: when(since + number * step)[5:] for number in range(first, columns)}
    values = {
        "status": status,
        "visits_day": counts.total(),
        "new_day": announced,
        "failed_share": round(100 * sum(failed.values()) / max(counts.total(), 1)),
        "visits_chart": [(hour, visits.get(number, 0)) for number, hour in hours.items()],
        "new_chart": [(hour, news.get(number, 0)) for number, hour in hours.items()],
        "errors": sorted(failed.items(), key=lambda pair: -pair[1]),
        "hosts": hosts,
    }
    return page(request, "status.html", values)

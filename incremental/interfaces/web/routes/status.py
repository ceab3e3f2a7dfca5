"""Status: throughput, budget, errors, host waits."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from incremental.base.texts import Words
from incremental.fetch.status import HARMLESS
from incremental.interfaces.results.status import DAY
from incremental.interfaces.web.charts import Series, bars, first_column
from incremental.interfaces.web.context import StoreRoute, Web
from incremental.interfaces.web.routes.forms import tone
from incremental.interfaces.web.views import page, words_of
from store import Store

router = APIRouter(include_in_schema=False, route_class=StoreRoute)
_HOUR = 3_600.0
_DAYS = 7
# Hours per column.
_STEPS = 2
# Dates below a chart that stay apart on a desk.
_LABELS = 6
# Statuses with a colour of their own.
_SHOWN = 7


@router.get("/status")
def status_page(request: Request, web: Web, store: Store) -> Response:
    """Show visits, new pages, errors and host waits."""
    words = words_of(request)
    now = web.now()
    step = _STEPS * _HOUR
    since = (now // step + 1) * step - _DAYS * DAY
    status = web.status(store)
    visits = store.monitor.visits_by_time(since, step)
    news = store.monitor.news_by_time(since, step)
    hosts = store.monitor.host_waits(now, limit=20)
    announced = sum(store.monitor.news_by_time(now - DAY, DAY).values())
    counts = Counter[str]()
    for site in status.sites:
        counts.update(site.visits_by_status)
    failed = {name: count for name, count in counts.items() if name not in HARMLESS}
    columns = int(_DAYS * DAY / step)
    shown = range(first_column([*(number for number, _ in visits), *news], columns), columns)
    labels = [_hour(since + number * step) for number in shown]
    every = max(len(shown) // _LABELS, 1)
    values = {
        "status": status,
        "visits_day": counts.total(),
        "new_day": announced,
        "failed_share": round(100 * sum(failed.values()) / max(counts.total(), 1)),
        "visits_chart": bars(
            words("status.chart_visits"),
            labels,
            _by_status(words, visits, shown),
            every=every,
        ),
        "new_chart": bars(
            words("status.chart_new"),
            labels,
            {words("sites.new"): [news.get(number, 0) for number in shown]},
            every=every,
        ),
        "errors": sorted(failed.items(), key=lambda pair: -pair[1]),
        "hosts": hosts,
        "tone": tone,
    }
    return page(request, "status.html", values)


def _by_status(words: Words, visits: dict[tuple[int, str], int], columns: range) -> Series:
    """Return the visits per column by status, most frequent first, the rest as one series."""
    totals: Counter[str] = Counter()
    for (_, status), count in visits.items():
        totals[status] += count
    shown = [status for status, _ in totals.most_common(_SHOWN)]
    series: dict[str, Any] = {}
    for status in shown:
        series[words.maybe("fetch", status)] = [visits.get((n, status), 0) for n in columns]
    rest = [
        sum(count for (n, status), count in visits.items() if n == number and status not in shown)
        for number in columns
    ]
    return series | ({words("status.others"): rest} if any(rest) else {})


def _hour(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).astimezone().strftime("%m-%d %H:%M")

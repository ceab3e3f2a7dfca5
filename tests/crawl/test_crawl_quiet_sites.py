"""A quiet site in many languages: nearly all of its lists are covered, many of its articles are kept up."""

from pathlib import Path
from typing import Any

import msgspec
from fake_web import DAY, HOUR, SPARING, START, Reply, gaps, page, watch
from fake_web import sitemap as sitemap_of

from incremental.settings import RevisitSettings

HOME = "https://news.example/"
LANGUAGES = [f"{first}{second}" for first in "abcd" for second in "efgh"]
MANUALS = [f"/manual-{name}.html" for name in LANGUAGES]
SITEMAPS = [f"{HOME}sitemap-{code}.xml" for code in LANGUAGES]


def _news(at: float) -> list[str]:
    """A piece of news every other day."""
    return [f"/news/{number}.html" for number in range(int((at - START) // (2 * DAY)) + 1)]


def _home(at: float) -> str:
    return page(*_news(at), *(f"/{code}/" for code in LANGUAGES), *MANUALS)


def _section(at: float) -> str:
    return page(*_news(at), *MANUALS)


def _sitemap(at: float) -> Reply:
    return sitemap_of(*(HOME + path[1:] for path in (*_news(at), *MANUALS)))


def test_the_day_of_a_quiet_site_does_not_end_before_the_evening(tmp_path: Path) -> None:
    """Sixteen covered sitemaps and sixteen articles want a visit a day: the lists that suffice come first."""
    pages: dict[str, Any] = {
        HOME: _home,
        **{f"{HOME}{code}/": _section for code in LANGUAGES},
        **{HOME + manual[1:]: page(*MANUALS) for manual in MANUALS},
        **dict.fromkeys(SITEMAPS, _sitemap),
        HOME + "robots.txt": "\n".join(f"Sitemap: {url}" for url in SITEMAPS),
    }
    settings = msgspec.structs.replace(SPARING, revisit=RevisitSettings(requests_per_day=48))
    with watch(tmp_path, pages, settings=settings) as crawl:
        crawl.run(20 * DAY)
        hubs = crawl.store.read.hubs()
        lists = {hub.url for hub in hubs if hub.state == "active" and hub.role != "article"}
        asked = [one for one in crawl.web.asked if one.at >= START + 12 * DAY]
    times = [one.at for one in asked if one.url in lists]
    assert sum(hub.state == "dormant" for hub in hubs) > len(LANGUAGES)
    assert len(times) > 0.5 * len(asked)
    assert max(gaps(times)) < 3 * HOUR

"""A URL migration as the whole crawler lives it: one event, whichever hub is read next."""

from email.utils import formatdate
from pathlib import Path

from fake_web import DAY, HOUR, START, feed, page, watch

HOME = "https://news.example/"
HEAD = f'<link rel="alternate" type="application/rss+xml" href="{HOME}feed.xml">'
TITLES = [f"The long headline of story number {n}" for n in range(12)]


def site(form: str, *fresh: str) -> tuple[str, object]:
    links = [*fresh, *(form.format(n) for n in range(12))]
    names = [*fresh, *TITLES]
    shown = page(*(f"{u}|{t}" for u, t in zip(links, names, strict=True)), head=HEAD)
    dated = [(HOME[:-1] + u, formatdate(START - DAY)) for u in links[-6:]]
    return shown, feed(*dated, *((HOME[:-1] + u, formatdate(START + 4 * DAY)) for u in fresh))


def test_a_feed_that_is_read_after_the_url_migration_of_its_list_announces_nothing(
    tmp_path: Path,
) -> None:
    """The feed has too few entries to be a URL migration by itself, and it follows its list by hours."""
    (old, old_feed), (new, new_feed) = site("/story-{}.html"), site("/stories/2024/{}/read")
    later, later_feed = site("/stories/2024/{}/read", "/stories/2024/99/read")
    pages = {
        HOME + "stories/2024/99/read": page(),
        HOME: [(0, old), (START + DAY, new), (START + 4 * DAY, later)],
        HOME + "feed.xml": [
            (0, old_feed),
            (START + DAY + 6 * HOUR, new_feed),
            (START + 4 * DAY, later_feed),
        ],
    }
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(4 * DAY - HOUR).new() == []
        assert crawl.events() == ["url_migration"]
        assert crawl.run(5 * DAY).new() == ["/stories/2024/99/read"]

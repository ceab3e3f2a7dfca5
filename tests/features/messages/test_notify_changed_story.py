"""A shop changes a price, and one message says so: from the visit to the receiver, whatever restarts."""

from pathlib import Path
from typing import Any

from fake_web import DAY, HOUR, SPARING, START, FakeWeb, Reply, Watch, page
from lab.clocks import SimulatedClock
from receivers import WebHook
from test_notify_stories import notifier

from incremental.features.page_watches.watching import watch_page

HOME = "https://news.example/"
PRICE = HOME + "prices/tea.html"
NOTES = " ".join(f"Note {n}: the tea is grown in the hills and picked by hand." for n in range(6))


def offer(price: str, at: float) -> str:
    minutes = int(at - START) // 60
    return (
        "<html><head><title>Green tea</title></head><body><article><h1>Green tea</h1>"
        f"<p>Updated {minutes} minutes ago</p><p>The price is {price} a box.</p><p>{NOTES}</p>"
        f"<p>{minutes} views</p></article></body></html>"
    )


def shop(at: float) -> str | Reply:
    """Noise at every look; a new price after two days; gone on the fourth day; back as it was."""
    if START + 4 * DAY <= at < START + 5 * DAY:
        return Reply(code=404)
    return offer("12 euros" if at < START + 2 * DAY else "14 euros", at)


def live(folder: Path, web: FakeWeb, url: str, *, days: int, **more: Any) -> None:
    """Let one process crawl and send for so long, a message round after each hour."""
    with Watch(folder, web, **more) as crawl:
        messages = notifier(crawl.store, url)
        for _ in range(days * 24):
            messages.step(crawl.clock.now())
            crawl.run(HOUR)
        messages.settle(crawl.clock.now)


def test_one_message_for_one_change_whatever_restarts(tmp_path: Path) -> None:
    web = FakeWeb(SimulatedClock(START), {HOME: page("/prices/tea.html"), PRICE: shop})
    with WebHook() as hook:
        with Watch(tmp_path, web, HOME) as crawl:
            notifier(crawl.store, hook.url).step(START)
            crawl.run(HOUR)
            watch_page(crawl.store, SPARING, PRICE, now=crawl.clock.now())
        live(tmp_path, web, hook.url, days=1)
        # The price changes while nobody sends: what is recorded waits for the next start.
        with Watch(tmp_path, web) as crawl:
            crawl.run(2 * DAY)
        assert hook.messages == []
        for _ in range(3):
            live(tmp_path, web, hook.url, days=2)
    (message,) = hook.messages
    assert message.title == "Changed: Green tea"
    assert message.body.splitlines() == [
        *(PRICE, "news.example"),
        "- The price is 12 euros a box.",
        "+ The price is 14 euros a box.",
    ]

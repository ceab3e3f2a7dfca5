"""The outbox: what stands against a channel's messages, while they are not taken."""

from stories import HOME, START, news_site, seen, visit_of

from store import Store
from store.outbox import alone


def queued(store: Store, channel: str) -> list[int]:
    """Queue two pages; return their entries."""
    site, home = news_site(store)
    links = [seen(HOME + name, fate="announce") for name in ("a", "b")]
    store.write.visit(visit_of(site, home, START, *links))
    pages = [store.read.find_page(link.url, "")[0]["id"] for link in links]
    store.outbox.queue(channel, alone(pages), now=START)
    return [one.id for one in store.outbox.open(channel)]


def test_the_last_error_of_each_channel_stands_until_the_message_is_taken(store: Store) -> None:
    first, second = queued(store, "mail")
    assert store.outbox.errors() == {}
    for entry, key in ((first, "one"), (second, "two")):
        store.outbox.begin([entry], key)
        store.outbox.failed(key, f"no to {key}", next_at=None)
    assert store.outbox.errors() == {"mail": "no to two"}
    store.outbox.retry("mail")
    store.outbox.begin([second], "two")
    store.outbox.sent("two", now=START + 9)
    assert store.outbox.errors() == {"mail": "no to one"}

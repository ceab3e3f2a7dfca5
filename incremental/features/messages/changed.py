"""Changes of watched pages: which channels want them, queued once for each.

::

    the watch names channels     those, whatever they are narrowed to
    it names none                every channel without a topic and a search whose tag the site has
    words                        of the watch and of the channel: in the title or in a changed line
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from incremental.features.messages.settings import ChannelSettings
from store import Store
from store.page_watches import WatchRow
from store.search.words import folded, occurrences, read_word
from store.watched_changes import ChangeQuery, WatchedChangeRow

_MOST = 200


Senders = Callable[[], Mapping[int, WatchRow]]


def wants(
    channel: ChannelSettings, watch: WatchRow, change: WatchedChangeRow, tags: Collection[str]
) -> bool:
    """Whether a channel wants a change of a watch; *tags* are those of its site."""
    if watch.receivers:
        if channel.name not in watch.receivers:
            return False
    elif channel.topic or channel.search or (channel.tag and channel.tag not in tags):
        return False
    return all(
        (not one.include or any(says(change.text, word) for word in one.include))
        and not any(says(change.text, word) for word in one.exclude)
        for one in (watch, channel)
    )


def says(text: str, wanted: str) -> bool:
    """Whether a text has a word or phrase, as the search for announced pages reads it."""
    phrases, text = read_word(wanted), folded(text)
    return bool(phrases) and all(any(occurrences(text, [phrase])) for phrase in phrases)


class ChangedPages:
    """Queues changes. Used by the store's writer thread only."""

    def __init__(self, store: Store, senders: Senders) -> None:
        self._store = store
        self._senders = senders
        # The last change that was looked at, by channel; after a restart they are looked at again, and
        # the outbox knows which were queued.
        self._seen: dict[str, int] = {}

    def queue(self, channel: ChannelSettings, since: float, now: float) -> None:
        """Queue matching changes since *since* not yet sent."""
        query = ChangeQuery(
            after=self._seen.get(channel.name, 0), since=since, limit=_MOST, oldest_first=True
        )
        while found := self._store.watched_changes.changes(query):
            watches = self._senders()
            tags = self._store.tags.of_sites()
            wanted = [
                (change.page_id, None, change.id)
                for change in found
                if (watch := watches.get(change.watch_id or 0)) is not None
                and wants(channel, watch, change, tags.get(change.site_id, ()))
            ]
            self._store.outbox.queue(channel.name, wanted, now=now)
            self._seen[channel.name] = found[-1].id
            query = replace(query, after=found[-1].id)

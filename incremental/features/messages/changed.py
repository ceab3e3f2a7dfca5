"""Changes of watched pages: which channels want them.

::

    the watch names channels     those, whatever they are narrowed to
    it names none                every channel without a topic and a search whose tag the site has
    words                        of the watch and of the channel: in the title or in a changed line
"""

from collections.abc import Collection

from incremental.features.messages.settings import ChannelSettings
from store.page_watches import WatchRow
from store.search.words import folded, occurrences, read_word
from store.watched_changes import WatchedChangeRow


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

"""What users type: names, tags of sites and topics, words that narrow a list."""

import json
from collections.abc import Iterable, Sequence

from incremental.base.errors import InputError
from incremental.base.plain_text import one_line
from incremental.base.texts import Text
from store import Store
from store.database.texts import to_json
from store.search.words import read_query
from store.values import SiteRow

_LONGEST_NAME = 200
_NAMED = "named"


def is_named(row: SiteRow) -> bool:
    """Return whether its name was given, so that what a feed says of its site does not replace it."""
    return bool(json.loads(row.scope).get(_NAMED))


def give_name(store: Store, row: SiteRow, name: str) -> None:
    """Name a site as a list names it, with part of its address if another site has that name."""
    if name := one_line(name, _LONGEST_NAME):
        store.write.rename_site(row.id, name, row.seed_url)
        rules = {**json.loads(row.scope), _NAMED: True}
        store.write.update_site(row.id, scope=to_json(rules))


MAX_NAME = 80
MAX_TAG = 40
MAX_TAGS = 20
MAX_WORDS = 50
MAX_WORD = 100


def checked_name(field: str, text: str) -> str:
    """Return a name with single spaces, or raise :class:`InputError`: it is empty, or too long."""
    name = " ".join(text.split())
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise InputError(field, name[:MAX_NAME], Text("input.name_length", n=MAX_NAME))
    return name


def checked_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Return tags with single spaces, each once.

    Raises:
        InputError: a tag is empty, too long or has a comma, or there are too many.
    """
    found = tuple(dict.fromkeys(" ".join(tag.split()) for tag in tags))
    for tag in found:
        if not tag or len(tag) > MAX_TAG or not tag.isprintable() or "," in tag or "，" in tag:
            way_out = Text("input.tag_form", n=MAX_TAG)
            raise InputError("tag", tag[:MAX_TAG], way_out)
    if len(found) > MAX_TAGS:
        raise InputError("tags", len(found), Text("input.at_most", n=MAX_TAGS))
    return found


def add_tags(store: Store, site_id: int, names: Iterable[str]) -> tuple[str, ...]:
    """Give a site the folders of a list as tags, :data:`MAX_TAGS` in all; return all that it has now.

    What no tag may have is left out of a name; nested folders are ``A/B``.
    """
    wanted = (one_line(name.replace(",", " ").replace("，", " "), MAX_TAG) for name in names)
    before = store.tags.of_sites().get(site_id, [])
    after = tuple(dict.fromkeys((*before, *filter(None, wanted))))[:MAX_TAGS]
    if len(after) > len(before):
        store.tags.set_site_tags(site_id, after)
    return after


def checked_words(words: Sequence[str], field: str, most: int = MAX_WORDS) -> tuple[str, ...]:
    """Return words or phrases that can be searched for, each once.

    Raises:
        InputError: one holds no letter or digit, or there are too many.
    """
    found = tuple(dict.fromkeys(" ".join(word.split()) for word in words))
    for word in found:
        if len(word) > MAX_WORD or not read_query(f'"{word}"'):
            raise InputError(field, word[:MAX_WORD], Text("input.word_form"))
    if len(found) > most:
        raise InputError(field, len(found), Text("input.at_most", n=most))
    return found


def parted(text: str) -> list[str]:
    """Read a list separated by commas, of either script."""
    return [part.strip() for part in text.replace("，", ",").split(",") if part.strip()]


def joined(parts: Iterable[str]) -> str:
    """Inverse of :func:`parted`."""
    return ", ".join(parts)

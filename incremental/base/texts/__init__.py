"""What people read: one catalogue of texts by key, in English and Chinese.

::

    a rule, a status, a refusal  --> Text("input.at_most", n=5)   English by itself, key and values kept
    command line, API, messages  --> the Text as it is
    web page                     --> words(text)                  in the reader's language
    a column, a report           --> text.stored(), read_text()   key and values
"""

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Self

from incremental.base.features import texts_of

LANGUAGES = {"en": "English", "zh": "中文"}
_CATALOGUE = Path(__file__).with_name("catalogue.toml")

Catalogue = Mapping[str, Mapping[str, str]]
"""Text by key and language; ``KEY_one`` is the singular."""


@cache
def catalogue() -> Catalogue:
    """Return the catalogue: each key, ``section.name``, with a text per language."""
    tree = tomllib.loads(_CATALOGUE.read_text(encoding="utf-8"))
    return {
        f"{section}.{name}": texts for section, keys in tree.items() for name, texts in keys.items()
    }


def _texts(key: str) -> Mapping[str, str]:
    """Return the texts of *key* by language, of the catalogue or of the feature called like its section.

    Raises:
        KeyError: there is none.
    """
    section, _, name = key.partition(".")
    return catalogue()[key] if section in _sections() else texts_of(section)[name]


def _has(key: str) -> bool:
    section, _, name = key.partition(".")
    return key in catalogue() if section in _sections() else name in texts_of(section)


@cache
def _sections() -> frozenset[str]:
    return frozenset(key.partition(".")[0] for key in catalogue())


class Text(str):
    """A text of the catalogue with its values: English as a string, other languages by :class:`Words`."""

    __slots__ = ("key", "values")
    key: str
    values: Mapping[str, object]

    def __new__(cls, key: str, **values: object) -> Self:
        """Return the text of *key*; a value may be a text, or a tuple of texts, which are joined.

        Raises:
            KeyError: the catalogue has no such key, or the text wants another value.
        """
        made = super().__new__(cls, _render(key, values, "en"))
        made.key, made.values = key, values
        return made

    def __reduce__(self) -> tuple[object, tuple[str]]:
        """Pickle key and values."""
        return read_text, (self.stored(),)

    def stored(self) -> str:
        """Return key and values as one line for the store; :func:`read_text` reads it."""
        if not self.values:
            return self.key
        values = {name: _stored(value) for name, value in self.values.items()}
        return f"{self.key} {json.dumps(values, ensure_ascii=False)}"


def _stored(value: object) -> object:
    """Return a value for JSON: texts stand in a list."""
    texts = (value,) if isinstance(value, Text) else value
    if not isinstance(texts, tuple):
        return value
    return [stored(one) for one in texts]


def stored(text: str) -> str:
    """Return what :func:`read_text` turns into *text* again."""
    return text.stored() if isinstance(text, Text) else text


def read_text(stored: str) -> str:
    """Return a stored text; what no :class:`Text` wrote, such as a server's own words, stays as it is."""
    if isinstance(stored, Text):
        return stored
    key, _, values = stored.partition(" ")
    try:
        given = json.loads(values or "{}").items()
        parts = {k: tuple(map(read_text, v)) if isinstance(v, list) else v for k, v in given}
        return Text(key, **parts)
    except (KeyError, ValueError, AttributeError, TypeError, IndexError):
        return stored


def hub_why(kind: str, **values: object) -> str:
    """Return why a page became a hub, for its row."""
    return Text(f"hub_why.{kind}", **values).stored()


def named(section: str, name: str) -> str:
    """Return the text of ``section.name``, or *name* with blanks if the catalogue has none.

    For values that other programs may extend: statuses, states, kinds.
    """
    # A feature says what its job is called, and the like, in its own section.
    keys = (f"{section}.{name}", f"{name}.{section}")
    return next((Text(key) for key in keys if _has(key)), name.replace("_", " "))


class Words:
    """Texts of one language: ``words("new.title")``, ``words("sites.count", n=3)``, ``words(text)``."""

    def __init__(self, language: str) -> None:
        self.language = language

    def __call__(self, text: str, **values: object) -> str:
        """Return a :class:`Text`, or the text of a key with *values*, in this language.

        Raises:
            KeyError: the catalogue has no such key.
        """
        if isinstance(text, Text):
            return _render(text.key, text.values, self.language)
        return _render(text, values, self.language)

    def said(self, text: str) -> str:
        """Return a text, living or stored, in this language; somebody else's words stay as they are."""
        found = read_text(text)
        return self(found) if isinstance(found, Text) else found

    def known(self, text: str) -> str:
        """Return a stored text in this language, and nothing for somebody else's words."""
        found = read_text(text)
        return self(found) if isinstance(found, Text) else ""

    def maybe(self, section: str, name: str) -> str:
        """Return :func:`named` in this language."""
        return self.said(named(section, name))


def _render(key: str, values: Mapping[str, object], language: str) -> str:
    """Fill *values* into the text of *key*; ``n=1`` and ``n=0`` use forms of their own, if any."""
    form = "_one" if values.get("n") == 1 else "_none" if values.get("n") == 0 else ""
    if form and _has(key + form):
        key += form
    text = _texts(key)[language]
    if not values:
        return text
    return text.format_map({name: _part(one, language) for name, one in values.items()})


def _part(value: object, language: str) -> object:
    if isinstance(value, Text):
        return _render(value.key, value.values, language)
    if isinstance(value, tuple):
        return ("；" if language == "zh" else "; ").join(str(_part(one, language)) for one in value)
    return value

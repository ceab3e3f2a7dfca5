"""Translations: one catalogue; the language comes from cookie, setting or browser."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Formatter

LANGUAGES = {"en": "English", "zh": "中文"}
LANGUAGE_COOKIE = "hubwatch_language"
_CATALOGUE = Path(__file__).with_name("catalogue.toml")
_MOST_RANGES = 20

Catalogue = Mapping[str, Mapping[str, str]]
"""Text by key and language; ``KEY_one`` is the singular."""


def read_catalogue(path: Path = _CATALOGUE) -> Catalogue:
    """Read the catalogue: tables of keys, each with a text per language."""
    tree = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        f"{section}.{key}": texts for section, keys in tree.items() for key, texts in keys.items()
    }


class Words:
    """Texts of one language: ``words("new.title")``, ``words("sites.count", n=3)``."""

    def __init__(self, catalogue: Catalogue, language: str) -> None:
        self._catalogue = catalogue
        self.language = language

    def __call__(self, key: str, **values: object) -> str:
        """Return the text of *key* with *values* filled in; ``n=1`` uses the singular, if any.

        Raises:
            KeyError: the catalogue has no such key.
        """
        if values.get("n") == 1 and f"{key}_one" in self._catalogue:
            key = f"{key}_one"
        text = self._catalogue[key][self.language]
        return text.format_map(values) if values else text

    def sentence(self, text: str) -> str:
        """Translate an English sentence of another room; unknown ones stay as they are."""
        if self.language == "en":
            return text
        for key, texts in self._catalogue.items():
            said = key.startswith(("sentence.", "rule.", "fetch."))
            found = _form(texts["en"]).fullmatch(text) if said else None
            if found:
                parts = {
                    name: self.maybe("fetch", part) if name == "status" else self.sentence(part)
                    for name, part in found.groupdict().items()
                }
                return texts[self.language].format_map(parts)
        return text

    def known_sentence(self, text: str) -> str:
        """Return the translation of a sentence that the catalogue has, else an empty string."""
        known = (t["en"] for key, t in self._catalogue.items() if key.startswith("sentence."))
        return self.sentence(text) if any(_form(one).fullmatch(text) for one in known) else ""

    def maybe(self, section: str, name: str) -> str:
        """Return the text of ``section.name``, or *name* if the catalogue has none.

        For values that other rooms may extend: statuses, states, kinds.
        """
        texts = self._catalogue.get(f"{section}.{name}")
        return texts[self.language] if texts else name.replace("_", " ")


@cache
def _form(template: str) -> re.Pattern[str]:
    """Return a pattern that matches the sentences of a template."""
    parts = [
        re.escape(text) + (f"(?P<{name}>.+?)" if name else "")
        for text, name, _, _ in Formatter().parse(template)
    ]
    return re.compile("".join(parts))


def choose(cookie: str, setting: str, accepted: str) -> str:
    """Return the language of the cookie, the setting or the browser, else English."""
    for name in (cookie, setting, *_by_preference(accepted)):
        if name in LANGUAGES:
            return name
    return "en"


def _by_preference(accepted: str) -> list[str]:
    """Return the languages of an Accept-Language header, most preferred first (RFC 9110, 12.5.4)."""
    ranges = []
    for number, part in enumerate(accepted.split(",")[:_MOST_RANGES]):
        tag, _, parameter = part.partition(";")
        weight = _weight(parameter.strip())
        if weight > 0:
            ranges.append((-weight, number, tag.strip().lower().split("-")[0]))
    return [tag for _, _, tag in sorted(ranges)]


def _weight(parameter: str) -> float:
    if not parameter:
        return 1.0
    try:
        return float(parameter.removeprefix("q="))
    except ValueError:
        return 0.0

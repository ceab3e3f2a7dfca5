"""Words that the glossary replaced, and where they still stand in code or in what users read."""

import io
import re
import tokenize
from collections.abc import Iterator, Mapping

RETIRED = {
    "told": "announced",
    "recheck": "refresh",
    "rechecks": "refreshes",
    "relaunch": "URL migration",
    "relaunched": "migrated",
    "mirror": "path alias",
    "mirrors": "path aliases",
    "errand": "urgent fetch",
    "errands": "urgent fetches",
    "voice": "active topic",
    "voices": "active topics",
    "shelf": "model store",
    "lesson": "training example",
    "lessons": "training examples",
    "taught": "trained",
    "barren": "unproductive",
    "patrol": "section monitoring",
    "woken": "reactivated",
    "anew": "again",
    "looked": "verified",
    "leads": "external candidates",
    "identity": "canonical key",
    "identities": "canonical keys",
    "grey": "doubtful",
}
"""Parts of identifiers, with what to write instead."""
PHRASES = {
    r"told (?:page|as new|twice)": "announced",
    r"topic pages?\b": "article",
    r"relaunch": "URL migration",
    r"\banew\b": "again",
    r"\berrands?\b": "urgent fetch",
    r"\bbarren\b": "unproductive",
    r"\bpatrol": "section monitoring",
    r"hub\|topic": "hub|article",
    r"\blook_share\b": "verify_share",
    r"\brechecks?\b": "refresh",
    r"\bflood\b": "burst",
    r"\bgrey\b": "doubtful",
}
"""Patterns over what users read, with what to write instead."""


def in_identifiers(sources: Mapping[str, str]) -> list[str]:
    """Return the identifiers of Python *sources*, by name, that hold a retired word."""
    found = set()
    for where, source in sources.items():
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.NAME:
                for word in _words(token.string):
                    if word in RETIRED:
                        found.add(f"{where}: {token.string}; write {RETIRED[word]}")
    return sorted(found)


def _words(identifier: str) -> Iterator[str]:
    for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", identifier):
        yield part.lower()


def in_texts(texts: Mapping[str, str]) -> list[str]:
    """Return where *texts*, by name, hold a phrase of retired words."""
    return [
        f"{where}:{number}: {line.strip()[:80]}; write {instead}"
        for where, text in texts.items()
        for number, line in enumerate(text.splitlines(), 1)
        for phrase, instead in PHRASES.items()
        if re.search(phrase, line, re.IGNORECASE)
    ]

"""Database addresses and errors about them, with secrets removed."""

import re
from urllib.parse import quote, unquote, unquote_plus

HIDDEN = "..."
# Patterns, not a parser: passwords may hold any character, and people forget to escape them. A driver
# then misreads the address and quotes part of the password as a port or host, so everything that may be
# a secret goes.
_SERVER = re.compile(r"\A(?P<before>postgres\w*://[^:/@]*):(?P<secret>.*)@", re.DOTALL)
_PARAMETER = re.compile(r"(?<=[?&])(?P<name>[^=&?]*)=(?P<secret>[^&]*)")
_SECRET_NAME = re.compile(r"pass|secret|token|key", re.IGNORECASE)
# Where a misreading parser would cut an address.
_CUTS = (re.compile(r"[/?#@:]"), re.compile(r"[/?#@:&=\[\]]"))
# Shorter secrets cannot be distinguished from ordinary words.
_SHORTEST = 4


def without_password(where: str) -> str:
    """Return a database's address without its password."""
    if not where.startswith("postgres"):
        return where
    shown = _SERVER.sub(rf"\g<before>:{HIDDEN}@", where)
    return _PARAMETER.sub(
        lambda one: one[0] if _is_plain(one) else f"{one['name']}={HIDDEN}", shown
    )


def without_secrets(text: str, where: str) -> str:
    """Remove the secrets of *where* from an error, whole or in pieces, escaped or not.

    A secret too short to find reliably replaces the whole text.
    """
    secrets = _secrets(where)
    if any(len(one) < _SHORTEST for one in secrets):
        return "details withheld: they may contain its password"
    forms = {
        form
        for one in secrets
        for form in (one, unquote(one), unquote_plus(one), quote(one, safe=""))
    }
    pieces = {piece for form in forms for cut in _CUTS for piece in cut.split(form)}
    # Longest first: replacing a part would leave the rest of the longer one.
    for secret in sorted(forms | pieces, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, HIDDEN)
    return text


def _secrets(where: str) -> set[str]:
    if not where.startswith("postgres"):
        return set()
    server = _SERVER.match(where)
    found = {server["secret"]} if server else set()
    found |= {one["secret"] for one in _PARAMETER.finditer(where) if not _is_plain(one)}
    return found - {""}


def _is_plain(parameter: re.Match[str]) -> bool:
    return _SECRET_NAME.search(unquote(parameter["name"])) is None

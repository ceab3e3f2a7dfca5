"""What processes that Hubwatch starts may know of it."""

from __future__ import annotations

import os

# They need none of the daemon's secrets (HUBWATCH_WEB_PASSWORD, PGPASSWORD, keys of services).
_KEPT = ("PATH", "HOME", "LANG", "TZ", "TMPDIR", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
_KEPT_PREFIXES = ("LC_", "PYTHON")


def plain_environment(*further: str) -> dict[str, str]:
    """Return this process's environment without secrets; *further* names are kept as well."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _KEPT or name in further or name.startswith(_KEPT_PREFIXES)
    }

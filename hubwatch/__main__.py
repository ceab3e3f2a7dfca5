"""``python -m hubwatch`` and the ``hubwatch`` command.

The top-level package ``incremental`` shares its name with a package that Twisted, and so Scrapy, needs. Only
one of the two can be installed in an environment; whoever has the other one is told so here, in a sentence.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

_NAMESAKE = (
    "hubwatch: another package called incremental (of Twisted and Scrapy) hides Hubwatch's own; "
    "install Hubwatch in its own environment: pipx install hubwatch, or: uv tool install hubwatch"
)


def main() -> None:
    """Run the command line; end where another package stands in its place."""
    if not _is_ours():
        sys.exit(_NAMESAKE)
    from incremental.interfaces.cli import main as run  # noqa: PLC0415 - not before its place is known

    run()


def _is_ours() -> bool:
    found = importlib.util.find_spec("incremental")
    return found is not None and any(
        (Path(place) / "settings").is_dir() for place in found.submodule_search_locations or ()
    )


if __name__ == "__main__":
    main()

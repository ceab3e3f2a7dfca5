"""Calls one plug-in with the JSON object on standard input.

``python -m incremental.interfaces.notify.plugin NAME``

A plug-in is an entry point of the group ``hubwatch.plugins``: a function that takes the object as a
dictionary. It runs in a process of its own, so that it can neither hold up nor end the daemon. An exception
is a failure: the plug-in is called again later.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import entry_points

from incremental.settings.hooks import PLUGINS


def main(name: str) -> int:
    """Call the plug-in; return the exit code."""
    given = json.load(sys.stdin)
    found = [one for one in entry_points(group=PLUGINS) if one.name == name]
    if not found:
        sys.stderr.write(f"no plug-in is called {name!r} any more\n")
        return 1
    found[0].load()(given)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

"""Calls a feature's channel with the JSON object on standard input.

``python -m incremental.features.messages.calling MODULE:FUNCTION``

The function takes the object as a dictionary. It runs in a process of its own, so that it can neither hold up
nor end the daemon. An exception is a failure: the function is called again later.
"""

import json
import sys

from incremental.base.features import target_of


def main(target: str) -> None:
    """Call the function *target*."""
    target_of(target)(json.load(sys.stdin))


if __name__ == "__main__":
    main(sys.argv[1])

"""The channel that logs new pages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def log(given: dict[str, Any]) -> None:
    """Append the URL of a new page to the file that the environment names."""
    if given["kind"] == "page":
        with Path(os.environ["SAMPLE_LOG"]).open("a", encoding="utf-8") as file:
            file.write(given["page"]["url"] + "\n")

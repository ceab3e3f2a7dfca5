"""Scrapy on the lists of a load server, in an environment of its own; see ``scrapy_peer.py``."""

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from lab.peer_environment import peer_python
from lab.speed import WORKERS

_SCRAPY = "scrapy==2.19.*"


@dataclass(frozen=True)
class Round:
    """Lists to read."""

    addresses: Sequence[str]
    changes: str | None = None
    """The address that changes the server before; None = it stays as it is."""
    counted: bool = True


def scrapy_reads(rounds: Sequence[Round], folder: Path) -> dict[str, float]:
    """Let Scrapy read, with the links and ETags that it has in *folder*; return rate and cost of a page."""
    python = peer_python("scrapy", _SCRAPY)
    plan = folder / "rounds.json"
    plan.write_text(json.dumps([asdict(one) for one in rounds]), encoding="utf-8")
    script = Path(__file__).with_name("scrapy_peer.py")
    done = subprocess.run(  # noqa: S603 - our script
        [python, str(script), str(plan), str(WORKERS), f"{folder}/links.sqlite"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        # Ours would stand in for the package of the same name that Scrapy needs.
        env={name: text for name, text in os.environ.items() if name != "PYTHONPATH"},
    )
    answer = json.loads(done.stdout.splitlines()[-1])
    return {
        "pages": answer["pages"],
        "pages_per_second": answer["pages"] / answer["seconds"],
        "cpu_ms": 1000 * answer["cpu_seconds"] / answer["pages"],
    }

"""What once made a parser raise, found by fuzzing, never does so again."""

from pathlib import Path

import pytest
from fuzz_targets import TARGETS

CORPUS = Path(__file__).parents[1] / "corpus"
KEPT = sorted(path for path in CORPUS.rglob("*") if path.is_file())


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_failed_once_is_read(path: Path) -> None:
    TARGETS[path.parent.name](path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_each_target_takes_anything(name: str) -> None:
    for data in (b"", b"\0", b"\xff" * 99, b"<a href=x>", b'{"a": [1, {"b": null}]}'):
        TARGETS[name](data)

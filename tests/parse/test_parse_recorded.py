"""Recorded bodies: a folder each, with the body as served and what must be read from it."""

import dataclasses
import json
from pathlib import Path

import pytest

from incremental.parse.dispatch import parse

RECORDED = sorted(path for path in (Path(__file__).parent / "recorded").iterdir() if path.is_dir())
URL = "https://example.org/news/index.htm"


@pytest.mark.parametrize("folder", RECORDED, ids=lambda folder: folder.name)
def test_a_recorded_body_is_read_as_before(folder: Path) -> None:
    (body,) = folder.glob("body.*")
    page = dataclasses.asdict(parse(body.read_bytes(), URL, want_text=True))
    expected = json.loads((folder / "page.json").read_text(encoding="utf-8"))
    assert json.loads(json.dumps(page)) == expected

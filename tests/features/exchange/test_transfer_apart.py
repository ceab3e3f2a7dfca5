"""A list that a stranger made is read within the time and memory of a page, apart from everything else."""

import dataclasses
from pathlib import Path

import msgspec
import pytest
from cli_runner import Run
from web_served import Served, post

from incremental.base.errors import InputError
from incremental.features.exchange.apart import read_list_apart
from incremental.features.exchange.lists import read_list
from incremental.settings.sections import DaemonSettings

LIST = b"https://a.example/\nhttps://b.example/\nnone\n"
ATTRIBUTES = " ".join(f'a{n}=""' for n in range(100_000))
MANY_ATTRIBUTES = f"<opml><outline {ATTRIBUTES}/></opml>"
EQUAL_OUTLINES = "<opml>" + "<outline xmlUrl='https://a.example/f'/>" * 400_000 + "</opml>"
SMALL = DaemonSettings(parse_seconds=2, parse_memory_mb=64)


def test_the_same_is_read_as_in_this_process() -> None:
    assert read_list_apart(LIST, DaemonSettings()) == read_list(LIST)
    with pytest.raises(InputError) as here:
        read_list(b"\xff")
    with pytest.raises(InputError) as there:
        read_list_apart(b"\xff", DaemonSettings())
    assert str(here.value) == str(there.value)


@pytest.mark.parametrize("text", [MANY_ATTRIBUTES, EQUAL_OUTLINES])
def test_what_takes_too_long_or_too_much_memory_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="reading it took more than"):
        read_list_apart(text.encode(), SMALL)


def test_the_command_and_the_web_page_read_lists_so(
    hubwatch: Run, served: Served, tmp_path: Path
) -> None:
    (tmp_path / "list.opml").write_text(MANY_ATTRIBUTES)
    (tmp_path / "hubwatch.toml").write_text("[daemon]\nparse_seconds = 2\n")
    result = hubwatch("import", "list.opml")
    assert (result.code, "reading it took more than 2 s" in result.err) == (2, True)
    settings = msgspec.structs.replace(served.web.settings, daemon=SMALL)
    client = dataclasses.replace(
        served, web=dataclasses.replace(served.web, settings=settings)
    ).client()
    answer = post(client, "/import", content=MANY_ATTRIBUTES[:600_000], dry_run="1")
    assert (answer.status_code, "reading it took" in answer.text) == (200, True)

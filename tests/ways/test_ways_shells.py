"""Which pages are shells, and which only look like one."""

import tracemalloc

import pytest
import shells
from hypothesis import given
from hypothesis import strategies as st

from incremental.parse.behind import Outline, ShellSign, read_scripts, shell_sign
from incremental.sandbox import Body, read_body


def sign_of(page: str) -> ShellSign | None:
    return shell_sign(read_scripts(page).outline)


@pytest.mark.parametrize("page", shells.SHELLS.values(), ids=shells.SHELLS)
def test_a_page_that_its_scripts_draw_is_a_shell(page: str) -> None:
    assert sign_of(page) is not None


@pytest.mark.parametrize("page", shells.ORDINARY.values(), ids=shells.ORDINARY)
def test_a_page_that_says_something_is_none(page: str) -> None:
    assert sign_of(page) is None


def test_the_sign_says_by_what_it_was_recognised() -> None:
    assert sign_of(shells.REACT) is ShellSign.MOUNT
    assert sign_of(shells.ASKING) is ShellSign.NOSCRIPT
    assert sign_of(shells.BUNDLE) is ShellSign.SCRIPTS


def test_what_follows_the_end_of_the_document_counts() -> None:
    page = "<html><body><div id=root></div></body></html><script src=/main.js></script>"
    assert read_scripts(page).files == ["/main.js"]
    assert sign_of(page) is ShellSign.MOUNT


def test_a_page_without_scripts_is_no_shell_whatever_it_lacks() -> None:
    assert shell_sign(Outline(mount=True, noscript="JavaScript")) is None


def test_an_application_among_links_is_no_shell() -> None:
    assert shell_sign(Outline(links=6, scripts=3, script_files=3, mount=True)) is None


def test_reading_says_what_lies_behind_on_request_alone() -> None:
    content = shells.REACT.encode()
    asked = read_body(Body("https://news.example/", content, "text/html", behind=True))
    assert asked.behind is not None
    assert asked.behind.files == ("https://news.example/static/js/main.8f3c21.js",)
    assert read_body(Body("https://news.example/", content, "text/html")).behind is None


def test_a_page_that_nests_noscript_costs_little_memory() -> None:
    page = "<noscript>" * 2_000 + "Switch scripts on. " * 4_000
    tracemalloc.start()
    try:
        outline = read_scripts(page).outline
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert outline.noscript.startswith("Switch scripts on.")
    assert most < 5_000_000


@given(st.text(alphabet='<>/ad="ivscript noscript{}[];=windowJSON.parse()', max_size=400))
def test_any_text_is_read(text: str) -> None:
    outline = read_scripts(f"<div id=root>{text}").outline
    assert outline.links >= 0
    assert outline.scripts >= outline.script_files

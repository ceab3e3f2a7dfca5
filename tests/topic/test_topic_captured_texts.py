"""Texts of captured pages, which the shipped tables of vectors are made of."""

from __future__ import annotations

import tarfile
from hashlib import md5
from io import BytesIO
from pathlib import Path

import make_everyday_vectors
import make_language_means
import pytest
from lab.captured_texts import drawn, main_text, options_of, titled

from classifier.embedding.packages import BUNDLED

WORDS = "Rain fell on the harbour while the ferries waited, and nobody said when they would leave. "


def page(number: int, text: str) -> bytes:
    title = f"<title>The story of day {number}</title>"
    return f"<html><head>{title}</head><body><p>{text}</p></body></html>".encode()


@pytest.fixture(name="captured")
def _captured(tmp_path: Path) -> tuple[Path, Path]:
    """Forty pages with a text, of twenty sites, and one that says next to nothing."""
    bodies = [page(number, f"{number} {WORDS * 6}") for number in range(40)] + [page(40, "Gone.")]
    table, archive = tmp_path / "pages.tsv", tmp_path / "pages.tar"
    lines = ["label\turl\tdomain\tmd5"]
    with tarfile.open(archive, "w") as tar:
        for number, body in enumerate(bodies):
            digest, domain = md5(body).hexdigest(), f"news{number % 20}.example"
            lines.append(f"article\thttps://{domain}/{number}\t{domain}\t{digest}")
            entry = tarfile.TarInfo(f"pages/{digest}.html")
            entry.size = len(body)
            tar.addfile(entry, BytesIO(body))
    table.write_text("\n".join([*lines, ""]))
    return table, archive


def test_pages_are_drawn_in_the_same_order_each_time(captured: tuple[Path, Path]) -> None:
    first, again = ([one.row.url for one in drawn(*captured)] for _ in range(2))
    assert first == again
    assert first != sorted(first)
    assert len(first) == 41


def test_a_page_gives_its_main_text_or_its_title_alone(captured: tuple[Path, Path]) -> None:
    texts = {one.row.url: (one, main_text(one)) for one in drawn(*captured)}
    one, text = texts["https://news3.example/3"]
    assert text.startswith("3 Rain fell")
    assert titled(one, text, alone=False).body == text
    assert (titled(one, text, alone=True).title, titled(one, text, alone=True).body) == (
        "The story of day 3",
        "",
    )
    assert not texts["https://news0.example/40"][1]


def test_each_table_has_its_own_rule_for_how_many(captured: tuple[Path, Path]) -> None:
    everyday = make_everyday_vectors._pages(*captured)
    assert len(everyday) == 20, "one of each site"
    assert [not one.body for one in everyday] == [False, True] * 10
    (means,) = make_language_means._pages(*captured).values()
    assert len(means) == 40, "up to four of each site"
    assert [not one.body for one in means] == [False, True] * 20


def test_both_scripts_have_the_same_options(tmp_path: Path) -> None:
    given = options_of("", ["--pages", str(tmp_path), "--archive", str(tmp_path)])
    assert (given.pages, given.archive, given.provider) == (tmp_path, tmp_path, BUNDLED[0])

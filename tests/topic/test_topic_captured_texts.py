"""Texts of captured pages, which the shipped tables of vectors are made of."""

import tarfile
from hashlib import md5
from io import BytesIO
from pathlib import Path

import pytest
from make_topic_vectors import drawn, everyday_pages, pages_by_language, titled

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
    first, again = ([one.row.url for one, _ in drawn(*captured)] for _ in range(2))
    assert first == again
    assert first != sorted(first)
    assert len(first) == 40, "one says next to nothing"


def test_a_page_gives_its_main_text_or_its_title_alone(captured: tuple[Path, Path]) -> None:
    texts = {one.row.url: (one, text) for one, text in drawn(*captured)}
    one, text = texts["https://news3.example/3"]
    assert text.startswith("3 Rain fell")
    assert titled(one, text, alone=False).body == text
    assert (titled(one, text, alone=True).title, titled(one, text, alone=True).body) == (
        "The story of day 3",
        "",
    )


def test_each_table_has_its_own_rule_for_how_many(captured: tuple[Path, Path]) -> None:
    texts = list(drawn(*captured))
    everyday = everyday_pages(texts)
    assert len(everyday) == 20, "one of each site"
    assert [not one.body for one in everyday] == [False, True] * 10
    (means,) = pages_by_language(texts).values()
    assert len(means) == 40, "up to four of each site"
    assert [not one.body for one in means] == [False, True] * 20

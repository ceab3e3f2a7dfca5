"""Two texts compared: what changed is shown, noise is named, and nothing is lost."""

from collections.abc import Sequence
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental.parse.history.textdiff import Piece, TextDiff, diff

BEFORE = "Title\nUpdated 3 hours ago\nThe deadline is 8 May. All bids are welcome.\nAn old paragraph.\nShare"
AFTER = (
    "Title\nUpdated 5 hours ago\nThe deadline is 15 May. All bids are welcome.\nSomething else here"
)


def text(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def changed(found: TextDiff) -> list[tuple[str, list[str], list[str]]]:
    """The rows that count, with the pieces that changed in them."""
    return [
        (
            row.kind,
            [p.text for p in row.before if p.changed],
            [p.text for p in row.after if p.changed],
        )
        for row in found.rows
        if row.kind in ("added", "removed", "changed")
    ]


def test_words_that_changed_are_shown_and_noise_is_named() -> None:
    found = diff(BEFORE, AFTER)
    assert changed(found) == [
        ("changed", ["8 "], ["15 "]),
        ("removed", ["An old paragraph."], []),
        ("added", [], ["Something else here"]),
    ]
    assert [(text(row.before), row.reason) for row in found.ignored] == [
        ("Updated 3 hours ago", "relative time"),
        ("Share", "sharing"),
    ]
    assert found.summary == "+4 \u22124 words"


def test_chinese_is_compared_by_characters() -> None:
    found = diff("本办法自2026年5月1日起施行。", "本办法自2026年6月1日起施行。")
    assert changed(found) == [("changed", ["5"], ["6"])]


def test_noise_alone_is_no_change() -> None:
    found = diff("News\n1,204 views\n8 May 2026", "News\n1,377 views\n9 May 2026\nAdvertisement")
    assert not found.is_change
    assert found.summary == "only noise: advertisement, counter, date"


@pytest.mark.parametrize("same", ["", "a\nb", "中国\n人民", "Updated 3 hours ago"])
def test_a_text_does_not_differ_from_itself(same: str) -> None:
    assert not diff(same, same).is_change
    assert diff(same, same).summary == "nothing changed"


def test_a_paragraph_that_moved_to_another_place_is_shown_as_removed_and_added() -> None:
    found = diff("one one\ntwo two\nthree three", "two two\nthree three\none one")
    assert [kind for kind, _, _ in changed(found)] == ["removed", "added"]


LINES = st.lists(st.text(alphabet="ab 1中国.", max_size=12), max_size=12).map("\n".join)


def folded(lines: str) -> list[str]:
    return [" ".join(line.split()) for line in lines.splitlines() if line.split()]


@given(LINES, LINES)
def test_both_texts_can_be_read_from_the_rows(before: str, after: str) -> None:
    """Nothing is left out: each line of either text stands once on its side."""
    rows = diff(before, after).rows
    assert sorted(text(row.before) for row in rows if row.before) == sorted(folded(before))
    assert sorted(text(row.after) for row in rows if row.after) == sorted(folded(after))


@given(LINES, LINES)
def test_pieces_that_did_not_change_are_the_same_on_both_sides(before: str, after: str) -> None:
    for row in diff(before, after).rows:
        if row.kind == "changed":
            old = "".join(p.text for p in row.before if not p.changed)
            new = "".join(p.text for p in row.after if not p.changed)
            assert old.split() == new.split() or "".join(old.split()) == "".join(new.split())


@pytest.mark.parametrize(
    "hostile",
    [
        "a\n" * 100_000,
        "ab\n" * 3_000 + "b\n" * 3_000,
        "x " * 100_000,
        "May 1 " * 25 + "\n",
        ("May " * 38 + "\n") * 2_000,
        "中国" * 50_000,
        "share on " * 30,
        "2024-" * 30,
        "\u202e\0<script>" * 1_000,
    ],
)
def test_hostile_texts_are_compared_within_bounds(hostile: str) -> None:
    found = diff(hostile, hostile[::-1] + "z")
    assert found.is_change
    assert sum(len(piece.text) for row in found.rows for piece in chain(row.before, row.after)) <= (
        2 * len(hostile) + 10
    )

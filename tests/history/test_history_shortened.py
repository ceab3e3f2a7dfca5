"""The changed lines of a difference, cut around what changed."""

from hypothesis import given
from hypothesis import strategies as st

from incremental.parse.history.textdiff import MAX_LINE_CHARS, MAX_LINES, changed_lines, diff

LONG = "The tea is grown in the hills and picked by hand. " * 30


def test_what_came_and_went_is_listed_with_its_sign() -> None:
    found = diff("One\nTwo\nThree", "One\n2\nThree\nFour")
    assert changed_lines(found) == (("-", "Two"), ("+", "2"), ("+", "Four"))


def test_a_long_line_is_cut_around_its_change() -> None:
    (went, came) = changed_lines(diff(f"{LONG}12 euros. {LONG}", f"{LONG}14 euros. {LONG}"))
    assert "12 euros." in went[1]
    assert "14 euros." in came[1]
    assert max(len(line) for _, line in (went, came)) < 200


def test_two_changes_far_apart_are_both_shown() -> None:
    before = f"12 euros. {LONG} Until May."
    after = f"14 euros. {LONG} Until June."
    (_, came) = changed_lines(diff(before, after))
    assert ("14 euros" in came[1], "June" in came[1]) == (True, True)


def test_noise_and_what_stayed_are_left_out() -> None:
    assert changed_lines(diff("A\nUpdated 3 minutes ago", "A\nUpdated 9 minutes ago")) == ()


def test_lines_are_bounded() -> None:
    found = diff("", "\n".join(f"Line number {n}" for n in range(500)))
    assert len(changed_lines(found)) == MAX_LINES


@given(st.text(max_size=2_000), st.text(max_size=2_000))
def test_any_difference_is_short_lines_without_control_characters(before: str, after: str) -> None:
    lines = changed_lines(diff(before, after))
    assert len(lines) <= MAX_LINES
    assert all(sign in "+-" and len(line) <= MAX_LINE_CHARS for sign, line in lines)
    assert not any(ord(character) < 32 for _, line in lines for character in line)

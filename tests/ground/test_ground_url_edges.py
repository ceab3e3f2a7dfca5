"""Where two addresses just are, or just are not, one page."""

import pytest

from incremental.base.urls import canonical_key, normalize


@pytest.mark.parametrize("name", ["jsessionid", "PHPSESSID", "cfid", "osCsid"])
@pytest.mark.parametrize(("length", "counts"), [(6, True), (11, True), (12, False)])
def test_the_id_of_a_session_has_twelve_characters_or_more(
    name: str, length: int, *, counts: bool
) -> None:
    """A shorter value under such a name may be the number of a page."""
    one, other = (f"https://a.org/x?{name}={digit * length}" for digit in "34")
    assert (canonical_key(one) != canonical_key(other)) is counts


@pytest.mark.parametrize(
    ("path", "shortest"),
    [
        ("/a/b/..", "/a/"),
        ("/a/b/.", "/a/b/"),
        ("/a/b/../..", "/"),
        ("/..", "/"),
        ("/a/..b", "/a/..b"),
        ("/a/b..", "/a/b.."),
    ],
)
def test_an_address_that_ends_in_dots_names_a_folder(path: str, shortest: str) -> None:
    """RFC 3986, section 5.2.4: with the slash at its end, on which relative links depend."""
    assert normalize("https://a.org" + path) == "https://a.org" + shortest


def test_two_thousand_characters_are_the_longest_address() -> None:
    """As written and as fetched: an escape makes three characters of one."""
    longest = "https://a.org/" + "x" * 1_986
    assert normalize(longest) == longest
    assert normalize(longest + "x") is None
    assert normalize(longest[:-3] + " x") is None

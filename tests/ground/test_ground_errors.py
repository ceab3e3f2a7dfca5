"""What a user reads of an error: what is wrong, its value where there is one, and the way out."""

from incremental.base.errors import InputError


def test_a_value_is_shown_where_there_is_one() -> None:
    assert str(InputError("site", "x", "name one")) == "site 'x': name one"
    assert str(InputError("site", "", "name one")) == "site: name one"

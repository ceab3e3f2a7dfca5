"""Hours and shared budgets in the settings: what is wrong is named with the way out."""

import pytest

from incremental.base.errors import SettingsError
from incremental.settings import build_settings, windows


def test_spans_are_hours_of_the_day_and_may_pass_midnight() -> None:
    assert windows(("22:00-06:30", "9-12")) == ((22.0, 6.5), (9.0, 12.0))
    assert windows(()) == ()
    assert windows(("0-24",)) == ((0.0, 24),)


@pytest.mark.parametrize("span", ["", "9", "25-26", "9:75-10", "9-9", "nine-ten", "9-10; drop"])
@pytest.mark.parametrize("where", ["revisit.hours", "site[0].hours"])
def test_a_span_that_is_none_is_named_with_field_and_way_out(span: str, where: str) -> None:
    tree: dict[str, object] = {"revisit": {"hours": [span]}}
    if where.startswith("site"):
        tree = {"site": [{"url": "https://example.org/", "hours": [span]}]}
    with pytest.raises(SettingsError, match="22:00-06:30") as caught:
        build_settings(tree)
    assert (caught.value.field, caught.value.value) == (where, span)

"""The lists of statuses: which ones count against whom."""

import pytest

from incremental.fetch.politeness import HostState, PolitenessSettings, after_visit
from incremental.fetch.status import (
    HARMLESS,
    HAS_PAGE,
    HOPELESS,
    HOST_TROUBLE,
    NOT_SENT,
    UNREADABLE,
    FetchStatus,
)


def test_what_holds_a_page_is_harmless_and_what_troubles_a_host_is_not() -> None:
    assert HAS_PAGE < HARMLESS
    assert not HARMLESS & HOST_TROUBLE
    assert not HOPELESS & HOST_TROUBLE
    assert not HOPELESS & HAS_PAGE
    assert UNREADABLE < HOPELESS


@pytest.mark.parametrize("status", FetchStatus)
def test_a_host_is_backed_off_from_by_the_list_alone(status: FetchStatus) -> None:
    after = after_visit(HostState("news.example"), status, None, 1_000.0, PolitenessSettings())
    assert after.failures == (status in HOST_TROUBLE)
    assert (after.next_allowed_at > 0) == (status not in NOT_SENT)

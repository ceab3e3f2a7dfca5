"""How fetch statuses are coloured: as they are counted."""

import pytest

from incremental.base.texts import Text, named
from incremental.fetch.status import HARMLESS, HOST_TROUBLE, FetchStatus
from incremental.interfaces.web.views import tone


@pytest.mark.parametrize("status", ["gone", "no_list", "robots_denied"])
def test_a_page_that_ended_and_a_rule_that_was_kept_are_no_failures(status: str) -> None:
    """The status page counted both as failed visits, while the command line and a site's page did not."""
    assert status in HARMLESS
    assert tone(status) == "warn"


def test_a_server_that_asks_for_a_pause_has_failed_us() -> None:
    """It was coloured as a warning, and counted as a failure beside it."""
    assert tone("rate_limited") == "bad"
    assert FetchStatus.RATE_LIMITED in HOST_TROUBLE


@pytest.mark.parametrize("status", list(FetchStatus))
def test_every_status_is_put_into_words(status: FetchStatus) -> None:
    assert isinstance(named("fetch", status), Text)

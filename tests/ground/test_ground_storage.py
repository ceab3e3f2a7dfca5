"""One crawler holds an embedded store, and folders are told apart by their first name."""

from pathlib import Path

import pytest

from incremental.decide.links import top_folder
from incremental.settings import Settings
from incremental.settings.storage import only_one, only_writer
from store.errors import StoreLockedError


def test_a_second_crawler_on_one_store_is_refused(tmp_path: Path) -> None:
    with (
        only_writer(Settings(), tmp_path),
        pytest.raises(StoreLockedError, match="another crawler"),
        only_writer(Settings(), tmp_path),
    ):
        pass


def test_a_store_is_free_when_its_crawler_has_ended(tmp_path: Path) -> None:
    for _ in range(2):
        with only_writer(Settings(), tmp_path):
            assert list(tmp_path.rglob("crawler.lock"))


def test_one_search_for_sites_of_a_topic_at_a_time(tmp_path: Path) -> None:
    with (
        only_one(Settings(), tmp_path, "discovery-1.lock", "another search"),
        only_one(Settings(), tmp_path, "discovery-2.lock", "another search"),
    ):
        with (
            pytest.raises(StoreLockedError, match="another search"),
            only_one(Settings(), tmp_path, "discovery-1.lock", "another search"),
        ):
            pass
        with only_writer(Settings(), tmp_path):
            assert list(tmp_path.rglob("crawler.lock"))


@pytest.mark.parametrize(
    ("canonical_key", "folder"),
    [
        ("//a.org/news/2024/x", "//a.org/news/"),
        ("//a.org/news/x", "//a.org/news/"),
        ("//a.org/x", ""),
        ("//a.org/", ""),
    ],
)
def test_the_top_folder_of_a_page(canonical_key: str, folder: str) -> None:
    assert top_folder(canonical_key) == folder

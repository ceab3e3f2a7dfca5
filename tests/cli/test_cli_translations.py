"""The command line names what says the same in another language."""

from __future__ import annotations

from pathlib import Path

from cli_runner import Run

from incremental.settings import Settings
from incremental.settings.storage import open_configured_store
from store.translations import Compared, Found


def test_show_and_new_name_the_page_in_the_other_language(
    hubwatch: Run, found: list[str], tmp_path: Path
) -> None:
    with open_configured_store(Settings(), tmp_path) as store:
        one, other = (int(store.read.find_page(url, "")[0]["id"]) for url in found[:2])
        space = store.vectors.begin("model 1")
        pair = Found(one, other, "en", "zh", 0.8)
        store.vectors.put(space, [], Compared((one, other), (pair,)))
    (shown,) = hubwatch("show", found[0], "--json").json["translations"]
    assert (shown["url"], shown["language"], shown["likeness"]) == (found[1], "zh", 0.8)
    assert "in Chinese: Title of" in hubwatch("show", found[0]).out
    assert hubwatch("show", found[2], "--json").json["translations"] == []
    assert "translations" not in hubwatch("show", found[2]).out
    listed = {row["url"]: row["translations"] for row in hubwatch("new", "--json").json}
    assert [one["url"] for one in listed[found[1]]] == [found[0]]
    assert listed[found[2]] == []

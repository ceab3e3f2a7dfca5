"""The discovery benchmark, on two small graphs made here and laid side by side."""

import json
import random
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import bench_discovery
import pytest
from lab import discovery_world

BRIDGE = "bridge cable deck tower span arch girder pier suspension viaduct"
SOUP = "soup onion butter recipe oven flour sauce pepper kitchen bread"
OPTIONS = ("--topics", "Bridges", "--seeds", "3", "--draws", "2", "--pages", "15")


def _page(host: str, kind: str, number: int) -> tuple[str, str, list[str]]:
    """Return the address, the HTML and the links of a page that shows ten random words."""
    url = f"https://{host}/{kind}-{number}"
    links = [f"https://{host}/{kind}-{(number + step) % 12}" for step in (1, 2, 5)]
    links.append(f"https://{host}/soup-{number}")
    text = random.Random(url).choices((BRIDGE if kind == "bridge" else SOUP).split(), k=60)
    shown = "".join(f'<li><a href="{link}">{link[-8:]}</a></li>' for link in links)
    head = f"<html lang='en'><head><title>{kind} {number}</title></head>"
    return url, f"{head}<body><p>{' '.join(text)}</p><ul>{shown}</ul></body></html>", links


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> str:
    paths = []
    for host in ("one.example", "two.example"):
        paths.append(tmp_path_factory.mktemp("graphs") / f"{host}.sqlite")
        with sqlite3.connect(paths[-1]) as base:
            base.execute("CREATE TABLE page(url TEXT, title TEXT, topic TEXT, html TEXT)")
            base.execute("CREATE TABLE link(src TEXT, dst TEXT, anchor TEXT)")
            for kind, topic in (("bridge", "Bridges"), ("soup", "Soups")):
                for number in range(12):
                    url, html, links = _page(host, kind, number)
                    base.execute("INSERT INTO page VALUES (?, '', ?, ?)", (url, topic, html))
                    edges = [(url, link, "") for link in links if link != url]
                    base.executemany("INSERT INTO link VALUES (?, ?, ?)", edges)
        base.close()
    return ",".join(map(str, paths))


def _report(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, dict[str, Any]]:
    assert bench_discovery.main([*arguments, "--json"]) == 0
    *announced, last = capsys.readouterr().out.splitlines()
    report: dict[str, Any] = json.loads(last)
    return "\n".join(announced), report


def test_every_strategy_runs_and_logs_each_page_once(
    graphs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.tsv"
    announced, report = _report(capsys, graphs, *OPTIONS, "--log", str(log))
    found = report["Bridges"]
    assert set(found) == {"operators", "hosts"}
    assert tuple(found["operators"]) == bench_discovery.STRATEGIES
    assert found["operators"]["bandit"]["sites"] == 2.0
    assert "means over topics" in announced
    lines = [line.split("\t") for line in log.read_text().splitlines()]
    read = Counter((strategy, draw, url) for _, strategy, draw, _, url in lines)
    assert set(read.values()) == {1}


def test_no_page_of_results_is_asked_for_twice(
    graphs: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int]] = []
    search = discovery_world.SearchIndex.search

    def noted(index: discovery_world.SearchIndex, query: str, page: int) -> list[dict[str, str]]:
        asked.append((query, page))
        return search(index, query, page)

    monkeypatch.setattr(discovery_world.SearchIndex, "search", noted)
    options = ("--topics", "Bridges", "--seeds", "3", "--draws", "1", "--pages", "40")
    for strategy in ("keyword", "bandit"):
        asked.clear()
        _report(capsys, graphs, *options, "--strategies", strategy)
        own = Counter(one for one in asked if not one[0].startswith("link:"))
        assert set(own.values()) == {1}


def test_a_topic_without_pages_is_bad_input(
    graphs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench_discovery.main([graphs, "--topics", "Boats"]) == 2
    assert "there are: Bridges, Soups" in capsys.readouterr().err

"""The harvest benchmark, on a graph of two dozen pages made here."""

import json
import lzma
import random
import sqlite3
from pathlib import Path
from typing import Any

import bench_harvest
import pytest
from lab.harvest_graph import Graph, GraphError, draw
from lab.harvest_methods import METHODS

BRIDGE = "bridge cable deck tower span arch girder pier suspension viaduct"
SOUP = "soup onion butter recipe oven flour sauce pepper kitchen bread"
SITE = "https://graph.example/"


def _html(name: str, words: str, links: list[str]) -> str:
    body = " ".join(random.Random(name).choices(words.split(), k=60))
    shown = "".join(f'<li><a href="/{link}">About {link}</a></li>' for link in links)
    return (
        f"<html lang='en'><head><title>{name}</title></head><body><h1>{name}</h1>"
        f"<p>{body}</p><ul>{shown}</ul></body></html>"
    )


def _write(path: Path, topics: dict[str, str]) -> None:
    """Bridges link to bridges and some soups, soups to soups; one page has no label."""
    names = [f"bridge-{n}" for n in range(12)] + [f"soup-{n}" for n in range(12)] + ["unlabelled"]
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE page(url TEXT PRIMARY KEY, title TEXT, topic TEXT, html TEXT)")
        base.execute("CREATE TABLE link(src TEXT, dst TEXT, anchor TEXT)")
        for name in names:
            kind, _, number = name.partition("-")
            links = [f"{kind}-{(int(number or 0) + step) % 12}" for step in (1, 2, 5)]
            links = ["soup-0", "bridge-0"] if kind == "unlabelled" else [*links, f"soup-{number}"]
            html = _html(name, BRIDGE if kind == "bridge" else SOUP, [*links, "unlabelled"])
            row = (SITE + name, name, topics.get(kind, ""), html)
            base.execute("INSERT INTO page VALUES (?, ?, ?, ?)", row)
            edges = [(SITE + name, SITE + link, f"About {link}") for link in [*links, "unlabelled"]]
            base.executemany("INSERT INTO link VALUES (?, ?, ?)", edges)
    base.close()


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graph") / "graph.sqlite"
    _write(path, {"bridge": '["Bridges", "Building"]', "soup": "Soups"})
    return path


def _report(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert bench_harvest.main([*arguments, "--embeddings", "none", "--json"]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return report


def test_every_method_runs_and_logs_what_it_fetched(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.tsv"
    options = ["--topics", "Bridges", "--seeds", "3", "--draws", "2", "--budgets", "8,12"]
    report = _report(capsys, str(graph), *options, "--log", str(log))
    assert set(METHODS) <= set(report["Bridges"])
    assert set(report["Bridges"]["bfs"]) == {"8", "12", "pages_per_second"}
    rows = [line.split("\t") for line in log.read_text().splitlines()]
    assert {row[1] for row in rows} == set(METHODS)
    assert [row[3] for row in rows[:12]] == [str(n) for n in range(1, 13)]


def test_the_harvest_is_what_the_log_says(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Seeds count, and pages without a label are left out of the denominator."""
    log = tmp_path / "log.tsv"
    options = ["--topics", "Bridges", "--seeds", "3", "--draws", "1", "--budgets", "10"]
    report = _report(capsys, str(graph), *options, "--methods", "bfs", "--log", str(log))
    names = [line.split("\t")[4].removeprefix(SITE) for line in log.read_text().splitlines()]
    good = sum(name.startswith("bridge") for name in names)
    labelled = sum(name != "unlabelled" for name in names)
    assert len(names) == 10
    assert "unlabelled" in names
    assert report["Bridges"]["bfs"]["10"] == round(good / labelled, 4)
    assert report["Bridges"]["bfs+unlabelled"]["10"] == round(good / 10, 4)


def test_seeds_are_drawn_from_the_topics_pages_with_links(graph: Path) -> None:
    with Graph(graph) as opened:
        pool = opened.pool("Soups")
    assert pool == sorted(f"{SITE}soup-{n}" for n in range(12))
    assert draw(pool, 3, 4) == random.Random(4).sample(pool, 3)


def test_an_ordering_that_reads_the_pages_beats_breadth_first(
    graph: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--topics", "Building", "--seeds", "2", "--draws", "3", "--budgets", "12"]
    methods = ["--methods", "bfs,best_first_anchor,fused,oracle"]
    cells = _report(capsys, str(graph), *options, *methods)["Building"]
    assert cells["fused"]["12"] > cells["bfs"]["12"]
    assert cells["oracle"]["12"] >= max(cells["fused"]["12"], cells["best_first_anchor"]["12"])


def test_a_packed_graph_is_the_same_graph(graph: Path, tmp_path: Path) -> None:
    packed = tmp_path / "graph.sqlite.xz"
    packed.write_bytes(lzma.compress(graph.read_bytes()))
    with Graph(packed) as unpacked, Graph(graph) as plain:
        url = f"{SITE}bridge-1"
        assert unpacked.topics == plain.topics
        assert unpacked.fetch(url) == plain.fetch(url)


def test_links_come_with_the_context_that_the_html_shows(graph: Path) -> None:
    with Graph(graph) as opened:
        first, *_ = opened.fetch(f"{SITE}bridge-1").links
    assert first.url == f"{SITE}bridge-2"
    assert first.anchor == "About bridge-2"
    assert first.tag_path == "html/body/ul/li/a"
    assert first.heading == "bridge-1"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--topics", "Nowhere"], "Nowhere"),
        (["--topics", "Bridges", "--methods", "magic"], "magic"),
        (["--topics", "Bridges", "--draws", "0"], "at least 1"),
    ],
)
def test_what_cannot_be_run_is_said(
    graph: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    assert bench_harvest.main([str(graph), *arguments]) == 2
    assert complaint in capsys.readouterr().err


def test_budgets_that_are_no_numbers_are_named(
    graph: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        bench_harvest.main([str(graph), "--topics", "Bridges", "--budgets", "many"])
    assert ended.value.code == 2
    assert "--budgets: 'many' is not a number" in capsys.readouterr().err


def test_a_file_that_is_no_graph_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.sqlite"
    path.write_bytes(b"")
    with pytest.raises(GraphError, match="no graph"):
        Graph(path)
    with pytest.raises(GraphError, match="no such file"):
        Graph(tmp_path / "absent.sqlite")

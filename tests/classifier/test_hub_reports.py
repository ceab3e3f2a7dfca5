"""The reports behind the figures of the docs: heat maps of the search, and what size and depth add."""

from __future__ import annotations

import lzma
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hub_report_features import Labelled, depths_at, pages_table, recorded_site, sites_table
from hub_report_grid import draw_grids
from hub_samples import train_small_model
from lab.hub.grid import GridPoint, GridResult, GridStage
from lab.hub.training import PAPER_BEST
from replay_site import ReplaySite

from classifier.hub.classifier import HubClassifier
from classifier.hub.evidence import LinkEvidence

HOME = "https://small.example/"
PAGES = {
    "": '<meta http-equiv="refresh" content="0; URL=news/"><a href="http://[bad">bad</a>',
    "news/": '<a href="one.html">One</a><a href="/">Home</a><a href="https://else.example/">x</a>',
    "news/one.html": "<p>" + "text " * 400,
    "lost.html": "nobody links here",
}


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A recorded site of four pages that are there all the time, and its truth."""
    file = tmp_path / "small.sqlite"
    with sqlite3.connect(file) as database:
        database.executescript(
            "CREATE TABLE site(base_url TEXT, first_ts INTEGER, last_ts INTEGER);"
            "CREATE TABLE page(id INTEGER PRIMARY KEY, url TEXT UNIQUE, path TEXT, bodies BLOB);"
            "CREATE TABLE version(page_id, valid_from, valid_to, start, length)"
        )
        database.execute("INSERT INTO site VALUES (?, 1000, 2000)", (HOME,))
        for number, (path, body) in enumerate(PAGES.items()):
            row = number, HOME + path, "/" + path, lzma.compress(body.encode())
            database.execute("INSERT INTO page VALUES (?, ?, ?, ?)", row)
            version = number, 1000, None, 0, len(body.encode())
            database.execute("INSERT INTO version VALUES (?, ?, ?, ?, ?)", version)
    (tmp_path / "truth.tsv").write_text(
        "url\tkind\tpublished\tlinked\tgone\tscored\n"
        f"{HOME}news/\tlist\t1500\t1500\t\t0\n"
        f"{HOME}news/one.html\tarticle\t1500\t1500\t\t1\n"
        f"{HOME}lost.html\tarticle\t1500\t1500\t\t1\n"
        f"{HOME}never.html\tarticle\t1500\t\t\t0\n"
        f"{HOME}moved.html\trelaunch\t1500\t1500\t\t0\n"
    )
    return file


def test_depth_is_the_number_of_clicks_from_the_home_page(recording: Path) -> None:
    depths = depths_at(ReplaySite(recording), 1500.0)
    assert depths == {HOME: 0, HOME + "news/": 1, HOME + "news/one.html": 2}


def test_a_recorded_page_has_its_size_and_depth_where_they_are_known(recording: Path) -> None:
    classifier = HubClassifier(train_small_model())
    site = recorded_site(recording, recording.parent / "truth.tsv", classifier)
    assert [link.crawl_depth for link in site.links] == [1, 2, None]
    assert [link.page_bytes for link in site.links] == [len(PAGES[p]) for p in list(PAGES)[1:]]
    assert site.hubs.tolist() == [True, False, False]


def _site(number: int) -> Labelled:
    """A site where only the depth tells lists from articles."""
    links = [
        LinkEvidence(f"https://s{number}.example/p{n}/", page_bytes=5000, crawl_depth=1 + n % 2)
        for n in range(40)
    ]
    hubs = np.array([link.crawl_depth == 1 for link in links])
    return Labelled(links, hubs, np.zeros(40))


def test_the_table_shows_what_depth_adds_on_sites_that_were_not_learned() -> None:
    head, _, *rows = sites_table({f"s{n}": _site(n) for n in range(3)}, PAPER_BEST)
    names = [name.strip() for name in head.strip("|").split("|")]
    mean = dict(zip(names, (v.strip() for v in rows[-1].strip("|").split("|")), strict=True))
    for who in ("paper", "ours"):
        assert (mean[f"{who}, neither"], mean[f"{who}, depth"]) == ("0.500", "1.000")
        assert (mean[f"{who}, size"], mean[f"{who}, both"]) == ("0.500", "1.000")


def test_the_table_of_captured_pages_shows_what_size_adds() -> None:
    sizes = [1_000 if n % 2 else 90_000 for n in range(80)]
    links = [LinkEvidence(f"https://s{n}.example/p/", page_bytes=b) for n, b in enumerate(sizes)]
    pages = Labelled(links, np.array(sizes) > 50_000, np.zeros(80))
    lines = list(pages_table(pages, [f"s{n}.example" for n in range(80)], PAPER_BEST))
    f1 = {line.split("|")[1].strip(): line.split("|")[4].strip() for line in lines[2:]}
    assert f1["paper, size"] == f1["ours, size"] == "1.000"
    assert float(f1["ours, neither"]) < 0.8


def test_the_grids_of_a_model_become_a_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is in the extra bench")
    points = tuple(GridPoint(c, g, 0.9, 0.01) for c in (1.0, 2.0) for g in (0.25, 0.5))
    stage = GridStage(points, 5, 100)
    note = GridResult(stage, stage, "F1 of hubs").to_json()
    search = dict.fromkeys(("url", "content", "joint"), note)
    draw_grids(replace(train_small_model(), search=search), tmp_path / "grids.png")
    assert (tmp_path / "grids.png").read_bytes().startswith(b"\x89PNG")

"""``hubwatch import``, ``export``, ``backup`` and ``restore``."""

import json
from pathlib import Path

import pytest
from cli_runner import Run


def test_a_list_is_imported_and_what_is_odd_is_said(hubwatch: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("https://a.example/\nnonsense here\n")
    result = hubwatch("import", "mine.txt")
    assert result.code == 1
    assert "1 new site," in result.out
    assert "line 2" in result.err
    assert [row["seed"] for row in hubwatch("list", "--json").json] == ["https://a.example/"]


def test_an_import_says_of_each_line_what_it_became(hubwatch: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.opml").write_text(
        """<opml version="2.0"><body>
        <outline xmlUrl="https://feeds.test/a" htmlUrl="https://a.example/"/>
        <outline xmlUrl="https://feeds.test/b"/>
        <outline text="inside" htmlUrl="http://10.0.0.5/"/></body></opml>"""
    )
    result = hubwatch("import", "mine.opml")
    assert result.code == 1
    lines = [" ".join(line.split()) for line in result.out.splitlines()]
    assert "feed a.example https://feeds.test/a" in lines
    assert "feed feeds.test https://feeds.test/b" in lines
    assert result.err.count("http://10.0.0.5/") == 1
    again = hubwatch("import", "mine.opml", "--json").json["entries"]
    assert [(one["result"], one["site"]) for one in again] == [
        ("known", "a.example"),
        ("known", "feeds.test"),
        ("refused", ""),
    ]


def test_a_dry_run_names_everything_and_watches_nothing(hubwatch: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.opml").write_text(
        """<opml><body><outline text="Work"><outline text="A \x1b[31m site" htmlUrl="https://a.example/"/>
        <outline text="empty"/></outline></body></opml>""".replace("\x1b", "\u202e")
    )
    result = hubwatch("import", "--dry-run", "mine.opml")
    assert result.code == 0
    lines = [" ".join(line.split()) for line in result.out.splitlines()]
    assert "watched A [31m site Work https://a.example/" in lines
    assert "1 skipped" in result.out
    assert "skipped: outline 3: has no address (empty)" in result.err
    assert result.out.endswith("dry run: nothing was written\n")
    assert hubwatch("list", "--json").json == []


def test_a_file_full_of_mistakes_shows_some_of_them(hubwatch: Run, tmp_path: Path) -> None:
    wrong = "\n".join(f"nonsense {n}" for n in range(30))
    (tmp_path / "mine.txt").write_text(f"https://a.example/\n{wrong}\n")
    lines = hubwatch("import", "mine.txt").err.splitlines()
    assert lines[-2:] == [
        "hubwatch: line 21: not a web address: 'nonsense'",
        "hubwatch: and 10 more; --json has all",
    ]
    assert len(hubwatch("import", "mine.txt", "--json").json["problems"]) == 30


def test_a_file_that_is_not_there(hubwatch: Run) -> None:
    result = hubwatch("import", "nowhere.opml")
    assert result.code == 2
    assert "nowhere.opml" in result.err


def test_new_pages_are_exported(hubwatch: Run, found: list[str], tmp_path: Path) -> None:
    result = hubwatch("export", "--format", "jsonl", "-o", "new.jsonl")
    assert result.code == 0
    rows = [json.loads(line) for line in (tmp_path / "new.jsonl").read_text().splitlines()]
    assert set(found) <= {row["url"] for row in rows}
    assert not list(tmp_path.glob("~*"))
    assert result.out == ""


@pytest.mark.usefixtures("found")
def test_sites_are_exported_to_stdout_too(hubwatch: Run, tmp_path: Path) -> None:
    assert hubwatch("export", "--format", "opml", "-o", "sites.opml").code == 0
    assert "https://news.example/" in (tmp_path / "sites.opml").read_text()
    assert hubwatch("export", "--format", "pdf").code == 2
    assert hubwatch("export", "--topic", "nobody").code == 4


def test_a_store_goes_to_another_folder(hubwatch: Run, found: list[str], tmp_path: Path) -> None:
    assert hubwatch("backup", "all.tar.gz").code == 0
    assert hubwatch("restore", "all.tar.gz").code == 3
    (tmp_path / "other.toml").write_text('[store]\nfolder = "elsewhere"\n')
    assert hubwatch("-c", "other.toml", "restore", "all.tar.gz").code == 0
    rows = hubwatch("-c", "other.toml", "new", "--json").json
    assert set(found) <= {row["url"] for row in (rows["pages"] if isinstance(rows, dict) else rows)}

"""Recordings that anyone can build, the one that is part of the repository, and ``scripts/benchmark``."""

import csv
import json
import os
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import benchmark
import make_example_recording
import msgspec
import pytest
import record_site
from fake_web import DAY, HOUR, START, page
from replay import truth_beside
from replay_file import END, HOST
from replay_site import ReplaySite, write_replay

ATOM = '<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="{url}"/></entry></feed>'
LONG = "x" * 800_001
SITES = """
[small]
repository = "{folder}"
branch = "main"
commit = "{commit}"
folder = "public"
base_url = "{host}/"
since = {since}
lists = '^page/'
backfills = [{{ at = {imported}, pages = '^2001/' }}]
bulk_deployments = [{{ at = {relaunched} }}]
"""


class Repository:
    """A git repository of a built site whose commits have the time that they are given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, at: float = START) -> str:
        who = {
            f"GIT_{who}_{what}": "a@b"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        environment = {**os.environ, **who, "GIT_COMMITTER_DATE": f"{int(at)} +0000"}
        command = ["git", "-C", str(self.folder), *arguments]
        return subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True
        ).stdout.strip()

    def deploy(self, at: float, files: Mapping[str, str | None]) -> str:
        """Commit texts by path, None = removed; return the commit."""
        for place, text in files.items():
            path = self.folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink() if text is None else path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "deployed", at=at)
        return self.git("rev-parse", "HEAD")


def moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record ten days of a site that publishes, imports, removes and relaunches."""
    folder = tmp_path_factory.mktemp("site")
    site = Repository(folder)
    home = "public/index.html"
    site.deploy(
        START - DAY,
        {home: page("/old.html"), "public/old.html": page(title="Old"), "README.html": "no"},
    )
    site.deploy(START + 3 * DAY, {"public/one.html": page(title="One")})
    site.deploy(
        START + 3 * DAY + 60,
        {
            home: page("/one.html", "/page/2/"),
            "public/page/2/index.html": page("/old.html", "/two.html"),
        },
    )
    site.deploy(
        START + 4 * DAY,
        {
            "public/two.html": page(title="Two"),
            "public/unlinked.html": page(),
            "public/logo.svg": "<svg/>",
        },
    )
    site.deploy(
        START + 5 * DAY,
        {"public/sitemap.xml": f"<urlset><url><loc>{HOST}/three%20more.html</loc></url></urlset>"},
    )
    site.deploy(
        START + 5 * DAY + HOUR,
        {"public/three more.html": page(title="Three"), "public/big.html": LONG},
    )
    site.deploy(
        START + 6 * DAY,
        {
            "public/2001/a.html": page(title="Imported"),
            home: page("/one.html", "/page/2/", "/2001/a.html", "/short.html"),
            "public/short.html": page(),
        },
    )
    site.deploy(START + 6 * DAY + HOUR, {"public/short.html": None})
    site.deploy(
        START + 8 * DAY,
        {
            "public/new.html": page(),
            "public/feed.xml": ATOM.format(url=HOST + "/new.html"),
        },
    )
    commit = site.deploy(
        END, {home: page("/one.html", "/late.html", "/unlinked.html"), "public/late.html": page()}
    )
    site.deploy(END + DAY, {"public/afterwards.html": page()})
    sites = SITES.format(
        folder=folder,
        commit=commit,
        host=HOST,
        since=moment(START),
        imported=moment(START + 6 * DAY),
        relaunched=moment(START + 8 * DAY),
    )
    (folder / "sites.toml").write_text(sites)
    out = folder / "out" / "small.sqlite"
    arguments = ["small", "--sites", str(folder / "sites.toml"), "--out", str(out)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["record_site.py", *arguments])
        assert record_site.main() == 0
    return out


def test_a_deployment_is_served_from_its_commit_to_the_next(recorded: Path) -> None:
    site = ReplaySite(recorded)
    assert (site.base_url, site.first_ts, site.last_ts) == (HOST + "/", START, END)

    def code(place: str, at: float) -> int:
        return site.answer(HOST + place, at).code

    assert [code("/old.html", START), code("/one.html", START)] == [200, 404]
    assert [code("/short.html", START + 6 * DAY), code("/short.html", END)] == [200, 404]
    assert code("/three%20more.html", END) == 200
    absent = ("/README.html", "/logo.svg", "/big.html", "/afterwards.html")
    assert {code(place, END) for place in absent} == {404}


def test_commits_within_two_minutes_are_one_deployment(recorded: Path) -> None:
    home = ReplaySite(recorded).answer(HOST + "/", START + 3 * DAY + 1)
    assert b"/one.html" in home.body


def test_the_truth_says_what_there_was_to_find_and_since_when(recorded: Path) -> None:
    rows = list(csv.reader(truth_beside(recorded).read_text().splitlines(), delimiter="\t"))
    assert rows[0] == ["url", "kind", "published", "linked", "gone", "scored"]
    expected = [
        ("/one.html", "article", 3 * DAY, "", "1"),
        ("/page/2/", "list", 3 * DAY, "", "0"),
        ("/two.html", "article", 4 * DAY, "", "1"),
        ("/three%20more.html", "article", 5 * DAY + HOUR, "", "1"),
        ("/2001/a.html", "backfill", 6 * DAY, "", "0"),
        ("/short.html", "article", 6 * DAY, str(int(START + 6 * DAY + HOUR)), "0"),
        ("/new.html", "relaunch", 8 * DAY, "", "0"),
        ("/late.html", "article", 10 * DAY, "", "0"),
        ("/unlinked.html", "article", 10 * DAY, "", "0"),
    ]
    assert [(row[0].removeprefix(HOST), row[1], *row[3:]) for row in rows[1:]] == [
        (url, kind, str(int(START + linked)), *rest) for url, kind, linked, *rest in expected
    ]
    published = {row[0]: int(row[2]) for row in rows[1:]}
    assert published[HOST + "/unlinked.html"] == START + 4 * DAY


@pytest.mark.parametrize(
    ("body", "url", "leads_to"),
    [
        ('<meta http-equiv="Refresh" content="0; url=/home">', "/", {"/home"}),
        ('<base href="/a/"><a href="b.html#c">', "/x.html", {"/a/b.html"}),
        ("<a href='http://[broken'><a href=' c/index.html '>", "/d/", {"/d/c"}),
        (
            "<rss><channel><link>/</link><item><link>/e</link></item></channel></rss>",
            "/f.xml",
            {"", "/e"},
        ),
        ("", "/empty.xml", set()),
        ("no markup", "/broken.xml", set()),
        ("<!-- moved -->", "/comment.html", set()),
    ],
)
def test_pages_feeds_and_sitemaps_lead_on(body: str, url: str, leads_to: set[str]) -> None:
    host = HOST.removeprefix("https://")
    assert record_site.links_of(body.encode(), HOST + url) == {host + path for path in leads_to}


def test_a_server_may_add_the_ending_of_an_address() -> None:
    recipe = record_site.Recipe("", "", "", HOST + "/", bare=True)
    paths = ("news.html", "news/index.html", "feed.xml", "index.html")
    urls = [record_site.url_of(path, recipe).removeprefix(HOST) for path in paths]
    assert urls == ["/news", "/news/", "/feed.xml", "/"]


def test_the_sites_that_can_be_recorded_are_described_in_full() -> None:
    sites = msgspec.toml.decode(record_site.SITES.read_bytes(), type=dict[str, record_site.Recipe])
    assert all(len(one.commit) == 40 and one.base_url.endswith("/") for one in sites.values())


def test_the_recording_of_the_repository_is_what_its_script_makes(tmp_path: Path) -> None:
    kept = benchmark.ROOT / "benchmarks" / "harbour-times.sqlite"
    made = tmp_path / "made.sqlite"
    make_example_recording.make(made)
    assert benchmark.fingerprint(made) == benchmark.fingerprint(kept)
    one, other = ReplaySite(made), ReplaySite(kept)
    for place in ("", "feed.xml", "city/", "sport/page/2/"):
        url, at = one.base_url + place, one.last_ts - DAY
        assert one.answer(url, at) == other.answer(url, at)


def test_the_benchmark_shows_what_was_found_where_and_with_what(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = [(START, None, page("/a.html").encode())]
    later = [(START + 12 * HOUR, None, page(title="A").encode())]
    pages = [(HOST + "/", "index.html", home), (HOST + "/a.html", "a.html", later)]
    write_replay(tmp_path / "small.sqlite", (HOST + "/", START, START + DAY), pages)
    truth = truth_beside(tmp_path / "small.sqlite")
    truth.parent.mkdir()
    truth.write_text("url\tkind\tpublished\tlinked\tgone\tscored\n")
    chart = tmp_path / "chart.png"
    monkeypatch.setattr("sys.argv", ["benchmark", str(tmp_path), "--json", "--chart", str(chart)])
    assert benchmark.main() == 0
    assert chart.read_bytes().startswith(b"\x89PNG")
    lines = capsys.readouterr().out.splitlines()
    result = json.loads(lines[-1])
    assert result.keys() == {"version", "machine", "python", "recordings"}
    (small,) = result["recordings"]
    assert (small["site"], small["scored"], small["false_new"]) == ("small", 0, 0)
    assert any(line.split()[1:3] == ["small", small["data"]] for line in lines[:-1])

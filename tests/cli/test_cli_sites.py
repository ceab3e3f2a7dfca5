"""What is watched: ``init add remove pause resume list check``."""

import tomllib
from pathlib import Path

import pytest
from cli_runner import Run

from incremental.settings import Settings
from incremental.settings.storage import only_writer, open_configured_store

SITE = "https://news.example/"


def test_init_writes_settings_that_say_what_stands_already(hubwatch: Run, tmp_path: Path) -> None:
    assert hubwatch("init").code == 0
    text = (tmp_path / "hubwatch.toml").read_text()
    assert set(tomllib.loads(text)["fetch"]) == set()
    uncommented = "\n".join(line[2:] if " = " in line else "" for line in text.splitlines())
    assert "requests_per_day = 48" in uncommented
    assert hubwatch("list").code == 0


def test_every_setting_of_the_template_can_be_uncommented(hubwatch: Run, tmp_path: Path) -> None:
    hubwatch("init")
    path = tmp_path / "hubwatch.toml"
    lines = path.read_text().split("\n# [[site]]")[0].splitlines()
    is_setting = [x.startswith("# ") and (" = " in x or x.startswith("# [[")) for x in lines]
    path.write_text("\n".join(x[2:] if y else x for x, y in zip(lines, is_setting, strict=True)))
    done = hubwatch("list", "--json")
    assert (done.code, done.json) == (0, [])


def test_the_site_of_the_template_can_be_uncommented(hubwatch: Run, tmp_path: Path) -> None:
    hubwatch("init")
    path = tmp_path / "hubwatch.toml"
    site = path.read_text().split("defaults. Secrets")[1].split("\n\n")[0].splitlines()[1:]
    path.write_text("\n".join(line.removeprefix("# ") for line in site))
    assert hubwatch("list", "--json").code == 0


def test_init_replaces_nothing_unasked(hubwatch: Run) -> None:
    hubwatch("init", "my.toml")
    again = hubwatch("init", "my.toml")
    assert (again.code, "--force" in again.err) == (2, True)
    assert hubwatch("init", "my.toml", "--force", "--json").json == {"written": "my.toml"}


@pytest.mark.parametrize("arguments", [("none/x.toml",), ("a.toml/x.toml",), ("folder", "--force")])
def test_init_says_that_a_file_cannot_be_written(
    hubwatch: Run, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "a.toml").touch()
    (tmp_path / "folder").mkdir()
    result = hubwatch("init", *arguments)
    assert (result.code, "cannot be written" in result.err) == (2, True)


def test_add_and_list(hubwatch: Run) -> None:
    added = hubwatch("add", SITE, "other.example", "--json")
    assert [row["site_id"] for row in added.json] == [1, 2]
    rows = hubwatch("list", "--json").json
    assert [row["seed"] for row in rows] == [SITE, "https://other.example/"]
    assert {"id", "name", "state", "reach", "added_at", "pages", "new_pages", "hubs"} <= set(
        rows[0]
    )
    assert "other.example" in hubwatch("list").out
    assert "watching 1 site; start" in hubwatch("add", "fourth.example").err
    assert "watching 1 site; start" in hubwatch("add", "third.example").err


def test_a_page_of_a_watched_site_becomes_its_hub(hubwatch: Run) -> None:
    """A second site of the host would announce everything twice."""
    hubwatch("add", SITE)
    joined = hubwatch("add", SITE + "notices/", "--json").json
    assert [(row["site_id"], row["hub_of"]) for row in joined] == [(1, "news.example")]
    said = hubwatch("add", "http://www.news.example/press/")
    assert (said.code, "is a hub of news.example from now on" in said.err) == (0, True)
    assert [row["seed"] for row in hubwatch("list", "--json").json] == [SITE]
    hubs = {row["url"]: row["role"] for row in hubwatch("hubs", "--json").json}
    assert hubs[SITE + "notices/"] == "user"


def test_a_page_with_terms_of_its_own_is_a_site_of_its_own(hubwatch: Run) -> None:
    hubwatch("add", SITE)
    hubwatch("add", SITE + "notices/", "--reach", "prefix")
    hubwatch("pause", "1")
    hubwatch("add", SITE + "press/")  # nothing would visit it as a hub of the paused site
    seeds = [row["seed"] for row in hubwatch("list", "--json").json]
    assert seeds == [SITE, SITE + "notices/", SITE + "press/"]


def test_the_other_scheme_replaces_an_address_that_was_never_read(hubwatch: Run) -> None:
    """Its terms and tags stay."""
    hubwatch("add", "news.example", "--tag", "work")
    hubwatch("edit", "news.example", "--requests-per-day", "7")
    added = hubwatch("add", "http://news.example", "--json").json
    assert [(row["site_id"], row["hub_of"]) for row in added] == [(1, None)]
    (row,) = hubwatch("list", "--json").json
    assert (row["seed"], row["tags"]) == ("http://news.example/", ["work"])
    assert row["requests_per_day"] == 7
    hubs = hubwatch("hubs", "--json").json
    assert [hub["url"] for hub in hubs] == ["http://news.example/"]


def test_another_form_of_an_address_takes_nothing_away(hubwatch: Run) -> None:
    hubwatch("add", SITE + "press", "--tag", "work", "--exclude", "*/ads/*")
    hubwatch("watch-page", "add", "https://pages.example/terms")
    hubwatch("add", SITE + "press/", "https://pages.example/terms/")
    rows = hubwatch("list", "--json").json
    assert (rows[0]["tags"], rows[0]["exclude"]) == (["work"], ["*/ads/*"])
    assert len(hubwatch("watch-page", "list", "--json").json) == 1


def test_add_that_fails_in_part_is_no_success(hubwatch: Run) -> None:
    done = hubwatch("add", SITE, "file:///etc/passwd", "--json")
    assert done.code == 1
    assert [(row["site_id"], bool(row["error"])) for row in done.json] == [(1, False), (None, True)]
    assert "file:///etc/passwd" in done.err


@pytest.mark.parametrize(
    "wrong",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "no host",
        "",
        "http://",
        "ftp://a.example/",
        "localnamewithoutdot",
    ],
)
def test_add_of_what_is_no_web_address_does_nothing(hubwatch: Run, wrong: str) -> None:
    done = hubwatch("add", wrong)
    assert done.code == 2
    assert "not a web address" in done.err
    assert hubwatch("list", "--json").json == []


def test_add_with_a_broken_pattern_names_it(hubwatch: Run) -> None:
    done = hubwatch("add", SITE, "--exclude", "re:(")
    assert (done.code, "re:(" in done.err) == (2, True)


def test_adding_again_changes_the_options(hubwatch: Run) -> None:
    hubwatch("add", SITE, "--exclude", "*/ads/*")
    hubwatch("add", SITE, "--reach", "domain", "--include", "*/news/*")
    (row,) = hubwatch("list", "--json").json
    assert (row["reach"], row["include"], row["exclude"]) == ("domain", ["*/news/*"], [])


def test_pause_and_resume(hubwatch: Run) -> None:
    hubwatch("add", SITE)
    assert hubwatch("pause", "news.example", "--json").json == {"paused": [SITE]}
    assert hubwatch("list", "--json").json[0]["state"] == "paused"
    assert hubwatch("resume", "1").code == 0
    assert hubwatch("list", "--json").json[0]["state"] == "active"


def test_sites_of_one_host_have_names_of_their_own(hubwatch: Run) -> None:
    hubwatch("add", "d.example", "https://d.example:8443/")
    hubwatch("add", "https://d.example/zh/", "--reach", "prefix")
    names = [row["name"] for row in hubwatch("list", "--json").json]
    assert names == ["d.example", "d.example:8443", "d.example/zh"]
    assert hubwatch("pause", "d.example/zh", "--json").json == {"paused": ["https://d.example/zh/"]}
    assert hubwatch("pause", "d.example", "--json").json == {"paused": ["https://d.example/"]}


def test_a_host_of_several_sites_is_refused_with_the_choices(hubwatch: Run) -> None:
    own = ("--reach", "prefix")
    hubwatch("add", "https://d.example/en/", "https://d.example/zh/", *own)
    hubwatch("remove", "1", "--yes")
    hubwatch("add", "https://d.example/fr/", *own)
    done = hubwatch("pause", "www.d.example")
    assert done.code == 2
    assert "d.example/zh (id 2)" in done.err
    assert "(id 3)" in done.err
    assert {row["state"] for row in hubwatch("list", "--json").json} == {"active"}


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:8100/", "http://10.0.0.5/", "http://localhost:8100/", "http://127.1/"],
)
def test_an_address_that_the_settings_refuse_is_refused_at_once(
    hubwatch: Run, tmp_path: Path, url: str
) -> None:
    done = hubwatch("add", url)
    assert (done.code, hubwatch("list", "--json").json) == (2, [])
    assert "allowed_hosts" in done.err
    assert "allowed_networks" in done.err
    allowed = (
        '[fetch]\nallowed_networks = ["127.0.0.0/8", "10.0.0.0/8"]\nallowed_hosts = ["localhost"]\n'
    )
    (tmp_path / "hubwatch.toml").write_text(allowed)
    assert hubwatch("add", url).code == 0


def test_add_says_what_comes_next(hubwatch: Run, tmp_path: Path) -> None:
    assert "start the daemon" in hubwatch("add", SITE).err
    with only_writer(Settings(), tmp_path):
        said = hubwatch("add", "other.example").err
    assert "start the daemon" not in said
    assert "the daemon visits it within seconds" in said
    assert "start the daemon" in hubwatch("add", "third.example").err


def test_a_seed_that_cannot_be_read_is_trouble_in_the_status(hubwatch: Run, tmp_path: Path) -> None:
    """Its name leads to an address that is not public, which only the first visit can tell."""
    hubwatch("add", "https://intern.example/", SITE)
    with open_configured_store(Settings(), tmp_path) as store:
        (hub, _) = store.read.hubs()
        store.write.postpone(hub.page_id, 1e9, 2e9, "forbidden_address")
    rows = hubwatch("status", "--json").json["sites"]
    assert [row["trouble"] for row in rows] == ["forbidden_address", None]
    assert "allowed_networks" in hubwatch("status").err


def test_remove_asks_first(hubwatch: Run) -> None:
    hubwatch("add", SITE)
    assert hubwatch("remove", SITE).code == 1
    assert len(hubwatch("list", "--json").json) == 1
    assert hubwatch("remove", SITE, "--yes", "--json").json == {"removed": [SITE]}
    assert hubwatch("list", "--json").json == []


@pytest.mark.parametrize(
    "command",
    [
        ("remove", "-y"),
        ("pause",),
        ("resume",),
        ("hubs",),
        ("new", "--site"),
        ("show",),
        ("history",),
    ],
)
def test_what_is_not_known_by_that_name(hubwatch: Run, command: tuple[str, ...]) -> None:
    hubwatch("add", SITE)
    done = hubwatch(*command, "https://unknown.example/")
    assert done.code == 4
    assert "unknown.example" in done.err
    assert "Traceback" not in done.err


def test_check_says_what_becomes_of_a_url(hubwatch: Run, found: list[str]) -> None:
    answer = hubwatch("check", found[0], "--json").json
    assert answer["verdict"] == "announced as new: new link on a hub"
    assert answer["sites"][0]["announced_at"].startswith("20")
    hub = hubwatch("check", SITE, "--json").json
    assert hub["verdict"].startswith("hub page")
    assert hub["sites"][0]["next_visit_at"]
    outside = hubwatch("check", "https://elsewhere.example/", "--json").json
    assert outside["verdict"] == "outside the scope of every watched site"
    assert "announced as new" in hubwatch("check", found[0]).out


def test_check_names_the_rule_that_leaves_a_url_out(hubwatch: Run) -> None:
    hubwatch("add", SITE, "--exclude", "*/tag/*")
    rule = hubwatch("check", SITE + "tag/x.html", "--json").json["sites"][0]["rule"]
    assert rule == "exclude */tag/*"
    assert "asset" in hubwatch("check", SITE + "logo.png", "--json").json["verdict"]


def test_check_of_what_is_no_url(hubwatch: Run) -> None:
    assert hubwatch("check", "ftp://x.example/").code == 2

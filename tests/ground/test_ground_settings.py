"""Settings: every default is written down, and every mistake is named with its way out."""

import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from incremental.base.errors import SettingsError
from incremental.base.scope import Reach
from incremental.fetch.options import FetchSettings
from incremental.settings import Settings, build_settings, load_settings
from incremental.settings.loading import load_with_sources
from incremental.settings.reference import reference, setting_at
from incremental.settings.sections import core_sections
from incremental.settings.template import settings_document, settings_template

URL = "https://a.org/"


def site(**fields: Any) -> dict[str, Any]:
    return {"site": [{"url": URL, **fields}]}


@pytest.mark.parametrize(
    ("tree", "field", "value", "way_out"),
    [
        ({"fetchh": {}}, "fetchh", "...", "known: fetch, politeness, store"),
        ({"fetch": {"contatc": 1}}, "fetch.contatc", "...", "known: user_agent, contact"),
        ({"hubs": {"treshold": 1}}, "hubs.treshold", "...", "threshold"),
        ({"web": {"language": "fr"}}, "web.language", "fr", "one of"),
        ({"fetch": 5}, "fetch", 5, "Expected `object`"),
        ({"site": 5}, "site", 5, "Expected `array`"),
        ({"hubs": {"threshold": 2}}, "hubs.threshold", 2, "must be a number from 0 to 1"),
        ({"hubs": {"max_per_site": 0}}, "hubs.max_per_site", 0, "a whole number, 1 or more"),
        ({"hubs": {"max_per_site": "many"}}, "hubs.max_per_site", "many", "must be a whole number"),
        (
            {"revisit": {"requests_per_day": -1}},
            "revisit.requests_per_day",
            -1,
            "0 or more",
        ),
        (
            {"revisit": {"requests_per_day": float("inf")}},
            "revisit.requests_per_day",
            None,
            "0 or more",
        ),
        (
            {"revisit": {"requests_per_day": float("nan")}},
            "revisit.requests_per_day",
            None,
            "0 or more",
        ),
        ({"daemon": {"workers": 1_000}}, "daemon.workers", 1_000, "from 1 to 256"),
        ({"fetch": {"max_body_bytes": 0}}, "fetch.max_body_bytes", 0, "1 or more"),
        ({"fetch": {"contact": "a\nb"}}, "fetch.contact", "a\nb", "one line"),
        (
            {"politeness": {"min_delay_seconds": 0}},
            "politeness.min_delay_seconds",
            0,
            "0.5 or more",
        ),
        (
            {"revisit": {"min_interval_minutes": 99, "max_interval_hours": 1}},
            "revisit.min_interval_minutes",
            99,
            "must not exceed max_interval_hours",
        ),
        (
            {"engine": {"kind": "best"}},
            "engine.kind",
            "best",
            'must be one of: "dask", "processes", "threads"',
        ),
        ({"site": [{}]}, "site[0].url", None, "is missing"),
        (site(nonsense=1), "site[0].nonsense", "...", "known: url, reach"),
        (site(url="news"), "site[0].url", "news", "like https://example.org/news/"),
        (site(reach="planet"), "site[0].reach", "planet", 'must be one of: "host", '),
        (site(include=["re:("]), "site[0] pattern", "re:(", "not a regular expression"),
        (site(min_interval_minutes=1_500), "site[0].min_interval_minutes", 1_500, "exceed"),
        (site(proxy="socks5://p:1"), "site[0].proxy", "...", "must look like http://host:port"),
        (site(headers={"Host": "x"}), "site[0].headers", "Host", "not a header that can be set"),
    ],
)
def test_a_mistake_is_named_with_its_value_and_the_way_out(
    tree: dict[str, Any], field: str, value: object, way_out: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        build_settings(tree)
    assert caught.value.field == field
    assert value is None or caught.value.value == value
    assert way_out in caught.value.way_out
    assert field in str(caught.value)


SECRETS: list[dict[str, Any]] = [
    site(password="hush", nonsense=1),
    {"site": [{"password": "hush"}]},
    {"sites": [{"password": "hush"}]},
    {"fetch": {"pasword": "hush"}},
    site(password=["hush"]),
    site(username=["hush"]),
    site(headers={"Authorization": ["hush"]}),
    site(headers={"Authorization": "hush\n"}),
    site(headers=["hush"]),
    site(cookies={"session": ["hush"]}),
    site(cookies={"session": "hush\n"}),
    site(proxy="socks5://user:hush@host:1"),
    site(proxy=["http://user:hush@host:1"]),
    site(password="hush", reach="planet"),
    {"store": {"database": ["postgresql://user:hush@host/db"]}},
]


@pytest.mark.parametrize("tree", SECRETS)
def test_no_secret_is_in_an_error(tree: dict[str, Any]) -> None:
    with pytest.raises(SettingsError) as caught:
        build_settings(tree)
    assert "hush" not in f"{caught.value} {caught.value.value} {caught.value.__dict__}"
    assert caught.value.__cause__ is None


def test_without_a_file_everything_has_its_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_settings(environment={}) == (Settings(), tmp_path)


def test_the_file_is_read_and_its_folder_is_returned(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text("[revisit]\nrequests_per_day = 12\n[[site]]\nurl = 'https://a.org/'\n")
    settings, folder = load_settings(path, {})
    assert (settings.revisit.requests_per_day, folder) == (12, tmp_path)
    assert settings.site[0].reach is Reach.HOST


def test_the_environment_overrides_the_file(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text("[hubs]\nthreshold = 0.1\nmax_per_site = 7\n")
    environment = {
        "HUBWATCH_CONFIG": str(path),
        "HUBWATCH_HUBS_THRESHOLD": "0.75",
        "HUBWATCH_FETCH_CONTACT": "me@a.org",
        "HUBWATCH_FETCH_ALLOWED_NETWORKS": "10.0.0.0/8, 127.0.0.0/8",
        "HUBWATCH_FETCH_ALLOWED_HOSTS": "intranet",
        "HUBWATCH_STORE_DATABASE": "",
        "UNRELATED": "1",
    }
    settings, _ = load_settings(environment=environment)
    assert (settings.hubs.threshold, settings.hubs.max_per_site) == (0.75, 7)
    assert settings.fetch.contact == "me@a.org"
    assert settings.fetch.allowed_networks == ("10.0.0.0/8", "127.0.0.0/8")
    assert settings.fetch.allowed_hosts == {"intranet"}


def test_a_mistake_in_the_environment_is_named_like_one_in_the_file() -> None:
    with pytest.raises(SettingsError, match=r"daemon\.workers = 'lots'"):
        load_settings(environment={"HUBWATCH_DAEMON_WORKERS": "lots"})


@pytest.mark.parametrize(
    "text",
    ["[fetch", "a = 1\na = 2", "\xff\xfe", "a = " + "[" * 9_000, "fetch = 5", "[fetch]\nx = 1"],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "my.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(SettingsError, match=r"my\.toml|fetch"):
        load_settings(path, {"HUBWATCH_FETCH_CONTACT": "x"})


def test_a_file_that_is_asked_for_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="hubwatch init"):
        load_settings(tmp_path / "my.toml", {})
    with pytest.raises(SettingsError, match="hubwatch init"):
        load_settings(environment={"HUBWATCH_CONFIG": str(tmp_path / "my.toml")})
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(tmp_path, {})


def uncommented() -> str:
    """The template with every setting live, comments for people left alone."""
    lines = settings_template().splitlines()
    setting = re.compile(r"^# (\w+ = .*|\[\[(?:site|(?:messages|web)\.\w+)\]\])$")
    return "\n".join(setting.sub(r"\1", line) for line in lines)


def test_the_written_file_loads_as_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "hubwatch.toml"
    path.write_text(settings_template())
    assert load_settings(path, {})[0] == Settings()


def test_the_written_file_with_every_line_live_loads_as_the_defaults_and_its_examples() -> None:
    settings = build_settings(tomllib.loads(uncommented()))
    web = msgspec.structs.replace(settings.web, send_to=())
    assert msgspec.structs.replace(settings, site=(), further=(), web=web) == Settings()
    assert [one.name for one in settings.web.send_to] == ["Wallabag"]
    assert settings.site[0].url == "https://example.org/"
    assert settings.site[0].access().proxy == "http://proxy.example:8080"


def test_the_written_file_names_every_setting() -> None:
    live = tomllib.loads(uncommented())
    for section, kind in core_sections().items():
        if section != "site":
            names = set(msgspec.to_builtins(Settings())[section])
            optional = {"ca_file"} if kind is FetchSettings else set()
            assert names - optional == set(live[section]), section


# --- the reference ----------------------------------------------------------------------------

DOCUMENT = Path(__file__).parents[2] / "docs" / "settings.md"


def test_the_document_is_the_one_that_the_types_give() -> None:
    """Write it again: ``python -m incremental.settings.template > docs/settings.md``."""
    assert DOCUMENT.read_text(encoding="utf-8") == settings_document()


def test_every_setting_says_what_it_means() -> None:
    nameless = [
        f"{one.section}.{one.name}" for s in reference() for one in s.settings if not one.says
    ]
    assert nameless == []
    assert all(section.says for section in reference())


def test_the_reference_knows_range_and_default() -> None:
    budget = setting_at("revisit.requests_per_day")
    assert budget is not None
    assert (budget.default, budget.kind) == (48, "a number, 0 or more")
    workers = setting_at("daemon.parse_workers")
    assert workers is not None
    assert workers.kind == 'a whole number from 0 to 64 or "auto"'
    url = setting_at("site[3].url")
    assert url is not None
    assert url.required
    assert setting_at("nothing.at_all") is None


def test_every_line_of_the_written_file_is_short_enough_to_read() -> None:
    assert max(map(len, settings_template().splitlines())) <= 120


def test_each_value_has_its_source(tmp_path: Path) -> None:
    path = tmp_path / "hubwatch.toml"
    path.write_text("[revisit]\nrequests_per_day = 7\nmin_interval_minutes = 20\n")
    variables = {"HUBWATCH_REVISIT_REQUESTS_PER_DAY": "9", "HUBWATCH_FETCH_CONTACT": "me@a.org"}
    settings, _, sources = load_with_sources(path, variables)
    assert settings.revisit.requests_per_day == 9
    assert sources == {
        "revisit.requests_per_day": "HUBWATCH_REVISIT_REQUESTS_PER_DAY",
        "revisit.min_interval_minutes": "file",
        "fetch.contact": "HUBWATCH_FETCH_CONTACT",
    }


def test_a_section_that_is_there_twice_names_the_way_out(tmp_path: Path) -> None:
    file = tmp_path / "hubwatch.toml"
    file.write_text("[fetch]\n[web]\n[fetch]\n", encoding="utf-8")
    with pytest.raises(
        SettingsError, match=r"the section \[fetch\] is there already: set it there"
    ):
        load_settings(file, {})

"""What is in deploy/ fits the program: commands, settings, ports, limits and files are there."""

import configparser
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from incremental.daemon.health import STALLED_SECONDS
from incremental.daemon.pulse import PULSE_SECONDS
from incremental.interfaces.cli import commands, loaded
from incremental.settings import Settings, load_settings
from incremental.settings.sections import DaemonSettings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNIT = (DEPLOY / "hubwatch.service").read_text(encoding="utf-8")
# systemd 254 has them; earlier ones warn and go on.
SINCE_254 = ("RestartSteps", "RestartMaxDelaySec")
KNOWN = {
    "Unit": {
        *("Description", "Documentation", "Wants", "After", "Before", "Requires", "BindsTo"),
        *("StartLimitIntervalSec", "StartLimitBurst", "ConditionPathExists", "OnFailure"),
    },
    "Service": {
        *("Type", "User", "Group", "DynamicUser", "WorkingDirectory", "ExecStart", "ExecStartPre"),
        *("StateDirectory", "StateDirectoryMode", "ConfigurationDirectory", "CacheDirectory"),
        *("Environment", "EnvironmentFile", "Restart", "RestartSec", *SINCE_254, "WatchdogSec"),
        *(
            "RestartPreventExitStatus",
            "SuccessExitStatus",
            "KillSignal",
            "KillMode",
            "NotifyAccess",
        ),
        *(
            "TimeoutStartSec",
            "TimeoutStopSec",
            "MemoryHigh",
            "MemoryMax",
            "OOMPolicy",
            "TasksMax",
            "LimitNOFILE",
        ),
        *("Nice", "IOSchedulingClass", "IOSchedulingPriority", "NoNewPrivileges", "UMask"),
        *("CapabilityBoundingSet", "AmbientCapabilities", "ProtectSystem", "ProtectHome"),
        *("PrivateTmp", "PrivateDevices", "PrivateUsers", "ProtectProc", "ProtectHostname"),
        *("ProtectClock", "ProtectKernelTunables", "ProtectKernelModules", "ProtectKernelLogs"),
        *(
            "ProtectControlGroups",
            "RestrictAddressFamilies",
            "RestrictNamespaces",
            "LockPersonality",
        ),
        *("RestrictRealtime", "RestrictSUIDSGID", "SystemCallArchitectures", "SystemCallFilter"),
        *("SystemCallErrorNumber", "RemoveIPC"),
    },
    "Install": {"WantedBy"},
}
# Tenths of what `systemd-analyze security` counts; 0 is closed, 100 is a service without a line of it.
MOST_EXPOSED = 20


def seconds(span: str) -> float:
    """Return the seconds of a time span of systemd or compose with one unit."""
    number, unit = re.fullmatch(r"(\d+)(s|min|h)", span).groups()  # type: ignore[union-attr]
    return int(number) * {"s": 1, "min": 60, "h": 3_600}[unit]


# --- the unit of systemd ----------------------------------------------------------------------


def directives() -> list[tuple[str, str, str]]:
    """Return (section, name, value) of each line."""
    found, section = [], ""
    for line in UNIT.splitlines():
        if match := re.fullmatch(r"\[(\w+)\]", line):
            section = match[1]
        elif line and not line.startswith("#"):
            name, separator, value = line.partition("=")
            assert separator, line
            found.append((section, name, value))
    return found


def value(name: str) -> str:
    (only,) = [value for _, one, value in directives() if one == name]
    return only


def environment_of_unit() -> dict[str, str]:
    pairs = [value.partition("=") for _, name, value in directives() if name == "Environment"]
    return {name: value for name, _, value in pairs}


def test_every_directive_is_known_and_has_its_reason_above_it() -> None:
    assert [name for section, name, _ in directives() if name not in KNOWN[section]] == []
    # What names the unit, and where it is wanted, explains itself.
    bare = re.findall(r"^(?:|\[Service\])\n([A-Z]\w+)=", UNIT, re.MULTILINE)
    assert bare == []


def test_the_unit_runs_a_command_that_there_is() -> None:
    program, command = value("ExecStart").split()
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    scripts = setup["options.entry_points"]["console_scripts"].split()
    assert Path(program).name in scripts
    assert Path(sys.executable).with_name(Path(program).name).is_file()
    assert command in commands()


def test_the_watchdog_is_slower_than_what_notices_a_standstill() -> None:
    """The pulse beats three times in its time, and stops when rounds stand still."""
    assert value("Type") == "notify"
    assert seconds(value("WatchdogSec")) >= 3 * PULSE_SECONDS
    assert seconds(value("WatchdogSec")) >= STALLED_SECONDS


def test_the_unit_waits_for_visits_under_way() -> None:
    assert seconds(value("TimeoutStopSec")) > DaemonSettings().stop_seconds


def test_growing_pauses_never_meet_the_limit_of_starts() -> None:
    """As the comment beside the limit says: the sum of the pauses of as many starts is an hour and more."""
    first, longest = seconds(value("RestartSec")), seconds(value("RestartMaxDelaySec"))
    steps, burst = int(value("RestartSteps")), int(value("StartLimitBurst"))
    factor = (longest / first) ** (1 / steps)
    pauses = [min(first * factor**start, longest) for start in range(burst)]
    assert sum(pauses) > seconds(value("StartLimitIntervalSec"))
    assert first * burst < seconds(value("StartLimitIntervalSec"))


def test_a_wrong_setting_is_not_tried_again() -> None:
    from incremental.interfaces.cli import EXIT_USAGE

    assert value("RestartPreventExitStatus") == str(EXIT_USAGE)


def test_what_the_unit_sets_are_settings(tmp_path: Path) -> None:
    given = {n: v for n, v in environment_of_unit().items() if n.startswith("HUBWATCH_")}
    path = tmp_path / "hubwatch.toml"
    path.write_text("")
    settings, folder = load_settings(environment=given | {"HUBWATCH_CONFIG": str(path)})
    state = Path("/var/lib", value("StateDirectory"))
    assert (folder / settings.store.folder).parent == state == Path(value("WorkingDirectory"))
    assert given["HUBWATCH_CONFIG"].startswith(f"/etc/{value('ConfigurationDirectory')}/")


@pytest.fixture
def installed_unit(tmp_path: Path) -> Path:
    """The unit as systemd here can check it: the command is ours, and is there."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    version = subprocess.run(
        ["systemd-analyze", "--version"], capture_output=True, text=True, check=False
    )
    text = UNIT.replace(value("ExecStart").split()[0], sys.executable)
    if int(version.stdout.split()[1]) < 254:
        text = re.sub(rf"^(?:{'|'.join(SINCE_254)})=.*\n", "", text, flags=re.MULTILINE)
    path = tmp_path / "hubwatch.service"
    path.write_text(text)
    return path


def analyzed(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", *arguments], capture_output=True, text=True, check=False
    )


def test_systemd_has_nothing_to_say_against_the_unit(installed_unit: Path) -> None:
    check = ["verify", "--man=no", "--recursive-errors=no", str(installed_unit)]
    done = analyzed(*check)
    assert (done.returncode, done.stderr) == (0, "")
    installed_unit.write_text(installed_unit.read_text() + "NoNewPrivilege=yes\n")
    assert analyzed(*check).returncode != 0


def test_the_unit_leaves_the_daemon_little(installed_unit: Path) -> None:
    check = ["security", "--offline=yes", f"--threshold={MOST_EXPOSED}", "--no-pager"]
    done = analyzed(*check, str(installed_unit))
    assert done.returncode == 0, done.stdout
    text = installed_unit.read_text()
    installed_unit.write_text(text.replace("CapabilityBoundingSet=\n", ""))
    assert analyzed(*check, str(installed_unit)).returncode != 0


# --- the image --------------------------------------------------------------------------------


def instructions() -> list[tuple[str, str]]:
    """Return (name, rest) of each instruction of the Containerfile, lines that go on joined."""
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    return [(line.split()[0], line.split(None, 1)[1]) for line in text.splitlines() if line.strip()]


def stages() -> list[list[tuple[str, str]]]:
    found: list[list[tuple[str, str]]] = []
    for name, rest in instructions():
        if name == "FROM":
            found.append([])
        found[-1].append((name, rest))
    return found


def of(stage: list[tuple[str, str]], wanted: str) -> list[str]:
    return [rest for name, rest in stage if name == wanted]


def copied() -> list[str]:
    """Return the files and folders of the sources that go into the image."""
    copies = [rest.split() for name, rest in instructions() if name == "COPY"]
    return [one for words in copies if "--from" not in words[0] for one in words[:-1]]


def environment_of_image() -> dict[str, str]:
    (assigned,) = of(stages()[1], "ENV")
    return dict(re.findall(r"(\w+)=(\S+)", assigned))


def test_two_stages_on_a_slim_base_of_a_pinned_version() -> None:
    bases = [of(stage, "FROM")[0].split()[0] for stage in stages()]
    assert len(bases) == 2
    assert bases[0] == bases[1]
    python = re.fullmatch(r"python:(3\.\d+)-slim", bases[0])
    assert python
    assert f"Python :: {python[1]}" in (ROOT / "setup.cfg").read_text()


def test_dependencies_are_the_locked_ones_with_their_hashes() -> None:
    installs = [rest for rest in of(stages()[0], "RUN") if "pip install" in rest]
    assert ["--require-hashes -r requirements/run.lock" in one for one in installs] == [True, False]
    assert "--no-deps" in installs[1]


def test_what_is_copied_is_there_and_is_all_that_is_needed() -> None:
    assert [one for one in copied() if not (ROOT / one).exists()] == []
    needed = {"incremental", "classifier", "store", "hubwatch", "README.md", "LICENSE"}
    assert needed | {"setup.cfg", "pyproject.toml"} <= set(copied())


def test_the_build_is_shown_what_it_copies_and_no_secret() -> None:
    lines = (DEPLOY / "Containerfile.dockerignore").read_text().splitlines()
    shown = {line[1:] for line in lines if line.startswith("!")}
    assert shown == set(copied())
    hidden = ("hubwatch.toml", "hubwatch-data", ".venv", ".git", "deploy/.env")
    assert not any(fnmatch(one, pattern) for one in hidden for pattern in shown)


def test_the_image_runs_a_command_as_somebody_who_is_not_root() -> None:
    final = stages()[1]
    assert of(final, "USER") == ["hubwatch"]
    assert json.loads(of(final, "ENTRYPOINT")[0]) == ["hubwatch"]
    assert json.loads(of(final, "CMD")[-1])[0] in commands()
    assert [name for name, _ in final].index("USER") > [name for name, _ in final].index("RUN")


def test_what_the_image_says_is_what_the_settings_say() -> None:
    final, given = stages()[1], environment_of_image()
    settings, _ = load_settings(
        environment={n: v for n, v in given.items() if n.startswith("HUBWATCH_")}
    )
    assert of(final, "EXPOSE") == [str(Settings().web.port)]
    assert settings.store.folder.startswith(of(final, "VOLUME")[0] + "/")
    assert settings.daemon.log_format == "json"
    (check,) = of(final, "HEALTHCHECK")
    place = json.loads(check.partition("CMD")[2])[1]
    assert f"deploy/healthcheck.py {place}" in of(final, "COPY")


# --- its health check -------------------------------------------------------------------------


@contextmanager
def daemon(folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """A running daemon, from when its web page is there."""
    command = [sys.executable, "-c", "from incremental.interfaces.cli import main; main()", "run"]
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        assert any("add sites at" in line for line in process.stderr)
        yield
    finally:
        process.terminate()
        process.communicate()


def health(folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    command = [sys.executable, str(DEPLOY / "healthcheck.py")]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


def test_the_container_is_healthy_while_its_daemon_answers(tmp_path: Path) -> None:
    """As compose runs it: listening everywhere, behind a password, a proxy in the environment."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "HUBWATCH_WEB_HOST": "0.0.0.0",
        "HUBWATCH_WEB_PORT": str(port),
        "HUBWATCH_WEB_PASSWORD": "sesame",
        "http_proxy": "http://127.0.0.1:1",
    }
    with daemon(tmp_path, environment):
        assert health(tmp_path, environment) == (0, "")
    code, says = health(tmp_path, environment)
    assert (code, "does not answer" in says) == (1, True)
    assert health(tmp_path, environment | {"HUBWATCH_WEB_ENABLED": "false"}) == (0, "")
    assert health(tmp_path, environment | {"HUBWATCH_WEB_PORT": "many"})[0] == 1


# --- compose ----------------------------------------------------------------------------------

SECRETS = {
    "HUBWATCH_WEB_PASSWORD": "sesame",
    "POSTGRES_PASSWORD": "tulip",
}


def services(secrets: dict[str, str], file: str = "compose.yaml") -> dict[str, dict[str, Any]]:
    """Return the services as compose reads them: variables of the environment put in."""
    text = (DEPLOY / file).read_text(encoding="utf-8")
    filled = re.sub(r"\$\{(\w+)[^}]*\}", lambda found: secrets[found[1]], text)
    found: dict[str, dict[str, Any]] = yaml.safe_load(filled)["services"]
    return found


OURS = ["hubwatch", "hubwatch-postgres"]


def test_each_profile_starts_one_hubwatch() -> None:
    profiles: dict[str, list[str]] = {}
    for name, service in services(SECRETS).items():
        for profile in service["profiles"]:
            profiles.setdefault(profile, []).append(name)
    assert profiles == {"sqlite": ["hubwatch"], "postgres": ["hubwatch-postgres", "postgres"]}


@pytest.mark.parametrize("name", OURS)
def test_a_service_is_built_from_files_that_are_there(name: str) -> None:
    build = services(SECRETS)[name]["build"]
    assert (DEPLOY / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).is_file()


@pytest.mark.parametrize("name", OURS)
def test_a_service_has_settings_that_are_taken_and_ports_that_they_name(name: str) -> None:
    service = services(SECRETS)[name]
    settings, _ = load_settings(environment=service["environment"])
    (published,) = service["ports"]
    address, _, inside = published.rsplit(":", 2)
    assert (address, int(inside)) == ("127.0.0.1", settings.web.port)
    assert (settings.web.host, settings.web.password) == ("0.0.0.0", "sesame")
    (volume,) = service["volumes"]
    assert volume.endswith(":" + of(stages()[1], "VOLUME")[0])
    assert seconds(service["stop_grace_period"]) > settings.daemon.stop_seconds
    assert (service["cap_drop"], service["read_only"], service["init"]) == (["ALL"], True, True)


def test_the_database_of_the_settings_is_the_one_that_is_started() -> None:
    found = services(SECRETS)
    server = found["postgres"]["environment"]
    settings, _ = load_settings(environment=found["hubwatch-postgres"]["environment"])
    user, password = server["POSTGRES_USER"], server["POSTGRES_PASSWORD"]
    address = f"postgresql://{user}:{password}@postgres/{server['POSTGRES_DB']}"
    assert settings.store.database == address
    assert re.fullmatch(r"postgres:\d+", found["postgres"]["image"])
    assert not load_settings(environment=found["hubwatch"]["environment"])[0].store.database


def test_no_secret_stands_in_what_is_shipped() -> None:
    """Every password is taken from the environment; the one of the web page has to be there."""
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    assert "${HUBWATCH_WEB_PASSWORD:?" in text
    given = re.findall(r"^\s+\w*PASSWORD: (.*)$", text, re.MULTILINE)
    assert len(given) == 2
    assert all(one.startswith("${") for one in given)
    assert "PASSWORD" not in (DEPLOY / "Containerfile").read_text().replace("and a password", "")


def test_every_volume_is_declared() -> None:
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    used = {one["volumes"][0].split(":")[0] for one in services(SECRETS).values()}
    assert used == set(yaml.safe_load(text)["volumes"])


# --- compose, several machines' worth ---------------------------------------------------------

SCALE = "compose.scale.yaml"
NAMES = ["daemon", "web", "scheduler", "worker"]


@pytest.mark.parametrize("name", NAMES)
def test_every_part_at_scale_runs_the_one_image_confined(name: str) -> None:
    service = services(SECRETS, SCALE)[name]
    assert service["image"] == services(SECRETS)["hubwatch"]["image"]
    assert (ROOT / service["build"]["dockerfile"]).is_file()
    assert (service["cap_drop"], service["read_only"], service["init"]) == (["ALL"], True, True)
    assert seconds(service["stop_grace_period"]) > Settings().daemon.stop_seconds
    assert service["networks"]


def test_daemons_at_scale_have_the_database_and_the_scheduler_that_are_started() -> None:
    found = services(SECRETS, SCALE)
    settings, _ = load_settings(environment=found["daemon"]["environment"])
    server = found["postgres"]["environment"]
    user, password = server["POSTGRES_USER"], server["POSTGRES_PASSWORD"]
    address = f"postgresql://{user}:{password}@postgres/{server['POSTGRES_DB']}"
    assert settings.store.database == address
    assert settings.engine.kind == "dask"
    host, port = settings.engine.address.removeprefix("tcp://").split(":")
    assert host in found
    assert found["scheduler"]["command"][found["scheduler"]["command"].index("--port") + 1] == port
    assert found["worker"]["command"][0] == settings.engine.address
    assert not settings.web.enabled
    web, _ = load_settings(environment=found["web"]["environment"])
    assert (web.web.enabled, web.web.host, web.web.password) == (True, "0.0.0.0", "sesame")
    assert web.store == settings.store
    assert found["web"]["command"][0] in commands()


def test_only_the_web_page_has_a_port_and_workers_have_no_secret() -> None:
    found = services(SECRETS, SCALE)
    published = {name: one["ports"] for name, one in found.items() if "ports" in one}
    assert published == {"web": [f"127.0.0.1:{Settings().web.port}:{Settings().web.port}"]}
    for name in ("worker", "scheduler"):
        assert not [one for one in found[name]["environment"] if not one.startswith("DASK_")]
    networks = yaml.safe_load((DEPLOY / SCALE).read_text(encoding="utf-8"))["networks"]
    assert {name for name, one in networks.items() if one and one.get("internal")} == {
        "storage",
        "engine",
    }
    assert found["scheduler"]["networks"] == ["engine"]
    assert "storage" not in found["worker"]["networks"]


@pytest.mark.parametrize("name", ["scheduler", "worker"])
def test_dask_knows_the_options_that_it_is_given(name: str) -> None:
    service = services(SECRETS, SCALE)[name]
    program, command = service["entrypoint"]
    done = subprocess.run(
        [sys.executable, "-m", program, command, "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    options = [one for one in service["command"] if one.startswith("--")]
    assert [one for one in options if one.removeprefix("--no-") not in done.stdout] == []


def test_no_secret_and_no_undeclared_volume_or_network_at_scale() -> None:
    text = (DEPLOY / SCALE).read_text(encoding="utf-8")
    given = re.findall(r"^\s+\w*(?:PASSWORD|SECRET_ACCESS_KEY): (.*)$", text, re.MULTILINE)
    assert len(given) == 2
    assert all(re.fullmatch(r"\$\{\w+:\?set it in deploy/\.env\}", one) for one in given)
    whole = yaml.safe_load(text)
    used = {
        volume.split(":")[0]
        for one in whole["services"].values()
        for volume in one.get("volumes", ())
    }
    assert used == set(whole["volumes"])
    networks = {name for one in whole["services"].values() for name in one["networks"]}
    assert networks == set(whole["networks"])
    for one in whole["services"].values():
        assert set(one.get("depends_on", {})) <= set(whole["services"])


@pytest.mark.parametrize("file", ["compose.yaml", SCALE])
def test_every_command_of_ours_is_one_that_the_command_line_takes(file: str) -> None:
    (usual,) = of(stages()[-1], "CMD")
    for name, service in services(SECRETS, file).items():
        if "build" in service and "entrypoint" not in service:
            command, *arguments = service.get("command") or json.loads(usual)
            target = commands()[command]
            assert isinstance(target, str), name
            context = loaded(command, target).make_context(command, list(arguments))
            assert context.info_name == command, name


def test_workers_at_scale_do_not_look_at_their_own_stacks() -> None:
    """The variable is one that Dask reads, and what it turns off is on otherwise."""
    given = services(SECRETS, SCALE)["worker"]["environment"]
    script = (
        "import dask, distributed; print(dask.config.get('distributed.worker.profile.enabled'))"
    )
    without: dict[str, str] = {}
    shown = [
        subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for environment in (without, given)
    ]
    assert shown == ["True", "False"]


@pytest.mark.parametrize("file", ["compose.yaml", SCALE])
def test_images_of_others_are_pinned_and_everything_is_restarted(file: str) -> None:
    for name, service in services(SECRETS, file).items():
        if "build" not in service:
            _, _, tag = service["image"].partition(":")
            assert re.fullmatch(r"\d+(\.\d+)*", tag), name
        assert service["restart"] == "unless-stopped", name


def test_what_others_at_scale_wait_for_says_when_it_is_ready() -> None:
    found = services(SECRETS, SCALE)
    for service in found.values():
        for other, how in service.get("depends_on", {}).items():
            if how["condition"] == "service_healthy":
                assert found[other]["healthcheck"]["test"][0] == "CMD"
    assert found["worker"]["depends_on"]["scheduler"]["condition"] == "service_healthy"


def test_the_scheduler_at_scale_is_found_to_be_ready(tmp_path: Path) -> None:
    """Its health check passes while something listens at its port, and fails when nothing does."""
    check = services(SECRETS, SCALE)["scheduler"]["healthcheck"]["test"][1:]
    with socket.create_server(("127.0.0.1", 0)) as server:
        here = [part.replace("8786", str(server.getsockname()[1])) for part in check]
        here[0] = sys.executable
        assert subprocess.run(here, check=False, cwd=tmp_path).returncode == 0
    refused = subprocess.run(here, check=False, cwd=tmp_path, stderr=subprocess.DEVNULL)
    assert refused.returncode != 0

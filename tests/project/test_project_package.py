"""What is built and shipped, what a start costs, and the scripts."""

import ast
import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from incremental.interfaces.cli import HELP, commands, loaded

ROOT = Path(__file__).parents[2]
HEAVY = {
    *("sklearn", "jieba", "libsvm", "requests", "numpy", "scipy", "feedparser", "lxml", "bs4"),
    *("htmldate", "dateparser", "opencc"),
    *("apscheduler", "matplotlib", "fastapi", "uvicorn", "jinja2", "prometheus_client"),
    *("dask", "distributed"),
}
SCRIPTS = sorted(path for path in (ROOT / "scripts").iterdir() if path.is_file())
RUNNABLE = [path for path in SCRIPTS if os.access(path, os.X_OK)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy of what is in the repository, so that nothing is left beside it."""
    folder = tmp_path_factory.mktemp("build")
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        (folder / name).write_bytes((ROOT / name).read_bytes())
    for package in ("hubwatch", "incremental", "classifier", "store"):
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                copy = folder / path.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(path.read_bytes())
    # The installed setuptools builds it: an isolated build would fetch another one for every test run.
    command = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--skip-dependency-check",
        str(folder),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = (folder / "dist").glob("*.whl")
    return built


def test_the_wheel_holds_what_the_packages_need_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        f"{package}/py.typed" for package in ("hubwatch", "incremental", "classifier", "store")
    } <= names
    assert any(name.startswith("store/migrations/0001") for name in names)
    models = {
        path.relative_to(ROOT).as_posix() for path in (ROOT / "classifier/hub/models").glob("*/*")
    }
    assert models <= names
    pages = {
        path.relative_to(ROOT).as_posix()
        for folder in ("incremental/interfaces/web", "incremental/features")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert pages <= names
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "incremental",
        "classifier",
        "store",
        "hubwatch",
    }


def test_the_wheel_works_where_nothing_else_of_the_project_is(wheel: Path, tmp_path: Path) -> None:
    """In an environment of its own; its libraries are lent by a path file, which spares a download."""
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    there = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(there)
    # Only the libraries: the path file of an editable install would lend this folder, too.
    Path(there, "lent.pth").write_text(
        f"import sys; sys.path.append({sysconfig.get_path('purelib')!r})\n"
    )

    def hubwatch(*arguments: str) -> str:
        code = "from incremental.interfaces.cli import main; main()"
        command = [str(python), "-c", code, *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout

    where = subprocess.run(
        [python, "-c", "import store; print(store.__file__)"], cwd=tmp_path,
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert where.startswith(str(tmp_path))
    assert "hub pages" in hubwatch("--help")
    hubwatch("init")
    hubwatch("add", "https://example.org/")
    assert json.loads(hubwatch("list", "--json"))[0]["seed"] == "https://example.org/"
    assert (
        0 <= json.loads(hubwatch("check", "https://example.org/news/", "--json"))["hub_score"] <= 1
    )


def test_the_command_is_declared(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (entry,) = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
    assert "hubwatch = hubwatch.__main__:main" in archive.read(entry).decode()


# --- what a start costs -----------------------------------------------------------------------


def loaded_by(folder: Path, *arguments: str) -> set[str]:
    """Return the top-level modules that a command loads."""
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(*{m.split('.')[0] for m in sys.modules}, file=sys.stderr))\n"
        f"sys.argv = ['hubwatch', *{list(arguments)!r}]\n"
        "from incremental.interfaces.cli import main\nmain()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


def test_help_loads_no_heavy_library(tmp_path: Path) -> None:
    assert loaded_by(tmp_path, "--help") & HEAVY == set()


@pytest.mark.parametrize("command", [["new"], ["list"], ["new", "--json"]])
def test_reading_loads_the_store_and_no_heavy_library(tmp_path: Path, command: list[str]) -> None:
    loaded = loaded_by(tmp_path, *command)
    assert "peewee" in loaded
    assert loaded & HEAVY == set()


# --- scripts ----------------------------------------------------------------------------------


# One interpreter asks them all: each would load the same libraries again, most of a second.
HELP_OF_ALL = """
import contextlib, io, json, runpy, sys
answers = {}
for path in sys.argv[1:]:
    sys.argv, said, code = [path, "--help"], io.StringIO(), None
    with contextlib.redirect_stdout(said):
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit as ending:
            code = ending.code
    answers[path] = [code, said.getvalue()]
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def helps() -> dict[str, list[Any]]:
    """The exit code and the help of every script in Python."""
    paths = [str(path) for path in RUNNABLE if path.suffix == ".py"]
    paths += [str(path) for path in RUNNABLE if path.suffix != ".py" and "python" in head(path)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'scripts'}"}
    command = [sys.executable, "-c", HELP_OF_ALL, *paths]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    answers: dict[str, list[Any]] = json.loads(done.stdout.splitlines()[-1])
    return answers


def head(script: Path) -> str:
    return script.read_text().splitlines()[0]


@pytest.mark.parametrize("script", RUNNABLE, ids=lambda path: path.name)
def test_a_script_says_what_it_is_for(script: Path, helps: dict[str, list[Any]]) -> None:
    assert head(script) in ("#!/usr/bin/env python3", "#!/usr/bin/env bash")
    if head(script).endswith("bash"):
        command = ["bash", str(script), "--help"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        code, said = done.returncode, done.stdout
    else:
        code, said = helps[str(script)]
    assert (code, "usage" in said.lower()) == (0, True), said


def test_every_script_with_a_main_can_be_run() -> None:
    with_main = {
        path for path in SCRIPTS if path.suffix == ".py" and '"__main__"' in path.read_text()
    }
    assert with_main <= set(RUNNABLE)
    assert {"run", "test"} <= {path.name for path in RUNNABLE}


@pytest.mark.parametrize(
    "name",
    [
        "run",
        "test",
        "benchmark",
        "lock",
        "release",
        "docs",
        "audit_dependencies",
        "environment.sh",
        "../.ci/run",
    ],
)
def test_shell_scripts_are_sound(name: str) -> None:
    done = subprocess.run(
        ["bash", "-n", str(ROOT / "scripts" / name)], capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


# --- documents --------------------------------------------------------------------------------


def _every_command() -> dict[str, Any]:
    """Return every command by its name, those of groups as ``group command``."""
    return dict(_flat(commands()))


def _flat(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, target in table.items():
        if isinstance(target, dict):
            yield from _flat(target, f"{prefix}{name} ")
        elif name != HELP:
            yield prefix + name, loaded(name, target)


def test_every_command_has_a_line_on_the_help_page() -> None:
    for name in _every_command():
        target = commands()
        for part in name.split():
            target = target[part]
        assert re.fullmatch(r"[\w.]+:\w+ [A-Z].{5,80}\.", str(target)), name


@pytest.mark.parametrize("name", sorted(_every_command()))
def test_a_command_has_help_json_and_its_place_in_the_documents(name: str) -> None:
    command = _every_command()[name]
    text = (ROOT / "docs" / "cli.md").read_text()
    assert command.help
    section = re.search(rf"^### `hubwatch {name}\b.*?(?=^##|\Z)", text, re.DOTALL | re.MULTILINE)
    assert section, f"docs/cli.md has no section on {name}"
    options = {opt for param in command.params for opt in param.opts if opt.startswith("--")}
    assert "--json" in options
    missing = {opt for opt in options - {"--help", "--json"} if f"`{opt}" not in section[0]}
    assert not missing


def test_the_documents_name_no_command_or_option_that_is_not_there() -> None:
    text = (ROOT / "docs" / "cli.md").read_text()
    assert set(re.findall(r"^### `hubwatch ([a-z -]*[a-z])", text, re.MULTILINE)) == set(
        _every_command()
    )
    known = {
        opt
        for c in _every_command().values()
        for param in c.params
        for opt in (*param.opts, *param.secondary_opts)
    }
    assert set(re.findall(r"`(--[a-z-]+)", text)) - known <= {"--config", "--help"}


def test_the_documents_have_every_exit_code() -> None:
    source = ast.parse((ROOT / "incremental/interfaces/cli/__init__.py").read_text())
    stated = set(re.findall(r"^ +(\d+) {2,}", ast.get_docstring(source) or "", re.MULTILINE))
    text = (ROOT / "docs" / "cli.md").read_text()
    assert (
        stated
        == set(re.findall(r"^\| (\d+) \|", text, re.MULTILINE))
        == {"0", "1", "2", "3", "4", "130"}
    )


def test_a_namesake_that_hides_our_package_is_told_in_a_sentence(tmp_path: Path) -> None:
    """A checkout that is installed for editing can be hidden by the package that Twisted needs."""
    namesake = tmp_path / "incremental"
    namesake.mkdir()
    (namesake / "__init__.py").write_text("class Version: ...\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", "from hubwatch.__main__ import main; main()"],
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("hubwatch: another package called incremental")
    assert done.stderr.count("\n") == 1


def test_the_wheel_leaves_the_namesake_its_file(wheel: Path) -> None:
    """Both packages are one folder where both are installed; ``__init__.py`` belongs to the other one."""
    assert "incremental/__init__.py" not in zipfile.ZipFile(wheel).namelist()


def test_the_module_is_the_command() -> None:
    command = [sys.executable, "-m", "hubwatch", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Usage: python -m hubwatch" in done.stdout

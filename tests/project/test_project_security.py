"""SECURITY.md says what the code does, and the locks hold what the package asks for."""

import configparser
import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from incremental.base import children
from incremental.features.exchange import lists
from incremental.fetch import options
from incremental.interfaces.web import access, guard, server
from incremental.parse import ParseLimits
from incremental.settings.sections import BrowserSettings, DaemonSettings
from store.maintenance import backup

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| [^|]+ \| ([\d,]+)[^|]* \| `(?:fetch\.)?(\w+)` \|$", re.MULTILINE)
LOCKED = re.compile(r"^([A-Za-z0-9._-]+(?:\[[^]]*\])?)==([^\s;\\]+)", re.MULTILINE)
HOLDERS = (
    *(options.FetchSettings(), ParseLimits(), DaemonSettings(), BrowserSettings()),
    *(
        children,
        options,
        lists,
        backup,
        server,
        guard,
        access,
    ),
)


def stated() -> list[tuple[str, int]]:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    return [(name, int(figure.replace(",", ""))) for figure, name in ROW.findall(text)]


def test_every_limit_of_the_table_was_read() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    table = text.partition("| limit |")[2].partition("\n\n")[0]
    assert len(stated()) == table.count("\n|") - 1 > 20


@pytest.mark.parametrize(("name", "figure"), stated())
def test_a_limit_is_that_of_the_code(name: str, figure: int) -> None:
    values = [getattr(holder, name) for holder in HOLDERS if hasattr(holder, name)]
    assert values == [figure]


@pytest.mark.parametrize(
    ("lock", "extras"),
    [
        (
            "run",
            ["web", "notify", "postgres", "semantic", "embeddings", "mcp", "browser", "dask"],
        ),
        (
            "test",
            [
                "web",
                "notify",
                "postgres",
                "semantic",
                "embeddings",
                "mcp",
                "browser",
                "dask",
                "test",
                "bench",
            ],
        ),
    ],
)
def test_a_lock_holds_every_dependency_in_its_range_with_hashes(
    lock: str, extras: list[str]
) -> None:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    lines = [setup["options"]["install_requires"]]
    lines += [setup["options.extras_require"][extra] for extra in extras]
    wanted = [
        Requirement(line)
        for line in "\n".join(lines).splitlines()
        if line.strip() and not line.lstrip().startswith("#")
    ]
    text = (ROOT / "requirements" / f"{lock}.lock").read_text(encoding="utf-8")
    locked = {canonicalize_name(name.partition("[")[0]): v for name, v in LOCKED.findall(text)}
    for requirement in wanted:
        version = locked[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), requirement
    entries = re.split(r"\n(?=[A-Za-z0-9])", text)
    assert all("--hash=sha256:" in entry for entry in entries if "==" in entry.partition("\n")[0])
    assert "://" not in text

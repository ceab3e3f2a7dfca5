"""An environment for a program that we are compared with, apart from ours, and kept for the next time."""

import subprocess
import sys
import venv
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


def peer_python(name: str, requirement: str) -> Path:
    """Return the interpreter of ``.venv-<name>`` in the project; create the environment if needed.

    *requirement*: packages, separated by spaces.
    """
    folder = _ROOT / f".venv-{name}"
    python = folder / "bin" / "python"
    stamp = folder / "requirement"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != requirement:
        print(f"installing {requirement} into {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "--quiet", *requirement.split()]
        subprocess.run(install, check=True)  # noqa: S603 - pip, and a requirement of ours
        stamp.write_text(requirement, encoding="utf-8")
    return python

"""What the hub classifier raises; each message names the file, the place and the way out."""

from __future__ import annotations

from pathlib import Path

from hubwatch_errors import HubwatchError


class HubClassifierError(HubwatchError):
    """The root of what this package raises on purpose."""


class ModelError(HubClassifierError):
    """A model folder is damaged, foreign, too new, or not there."""

    def __init__(self, folder: Path, problem: str) -> None:
        self.folder = folder
        self.problem = problem
        super().__init__(f"model {folder}: {problem}")


class LabelFileError(HubClassifierError):
    """A file of labels cannot be read; ``line`` counts from 1, 0 = the file as a whole."""

    def __init__(self, path: Path | str, line: int, problem: str) -> None:
        self.path = path
        self.line = line
        self.problem = problem
        where = f"{path}, line {line}" if line else str(path)
        super().__init__(f"{where}: {problem}")


class TrainingError(HubClassifierError):
    """The data cannot train a classifier (one class only, too few domains), or libsvm refused."""

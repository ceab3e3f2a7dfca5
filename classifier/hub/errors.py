"""Errors of the hub classifier; each message names the file, the place and the remedy."""

from __future__ import annotations

from pathlib import Path

from hubwatch.errors import HubwatchError


class HubClassifierError(HubwatchError):
    """The root of this package's errors."""


class ModelError(HubClassifierError):
    """A model folder is missing, damaged, foreign or too new."""

    def __init__(self, folder: Path, problem: str) -> None:
        self.folder = folder
        self.problem = problem
        super().__init__(f"model {folder}: {problem}")


class LabelFileError(HubClassifierError):
    """A label file cannot be read; ``line`` counts from 1, 0 = the whole file."""

    def __init__(self, path: Path | str, line: int, problem: str) -> None:
        self.path = path
        self.line = line
        self.problem = problem
        where = f"{path}, line {line}" if line else str(path)
        super().__init__(f"{where}: {problem}")


class TrainingError(HubClassifierError):
    """The data cannot train a classifier (one class only, too few domains), or libsvm refused."""

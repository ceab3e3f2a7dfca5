"""Errors of the hub classifier; each message names the file, the place and the remedy."""

from pathlib import Path

from hubwatch.errors import HubwatchError


class HubClassifierError(HubwatchError):
    """The root of this package's errors."""


class ModelError(HubClassifierError):
    """A model folder is missing, damaged, foreign or too new."""

    def __init__(self, folder: Path, problem: str) -> None:
        self.problem = problem
        super().__init__(f"model {folder}: {problem}")


class TrainingError(HubClassifierError):
    """The data cannot train a classifier (one class only, too few domains), or libsvm refused."""

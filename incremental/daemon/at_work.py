"""What the job of a feature works with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, runtime_checkable

from incremental.base.attempts import Bug, attempt
from incremental.base.errors import FeatureError, SettingsError
from incremental.base.features import Feature, Features, target_of
from incremental.sandbox import Read
from incremental.settings import Settings
from incremental.visit.host_gate import HostGate
from incremental.visit.visit import Fetch
from store import Store

Trouble = Callable[[str, Mapping[str, str]], object]
"""Takes what keeps a feature, which is named, from its work, by what that concerns."""


class Job(Protocol):
    """A job of the daemon, and what the routes of its feature see of it."""

    def step(self, now: float) -> float:
        """Do one round at *now* (unix seconds, UTC); return when to call it next."""


@runtime_checkable
class LastingJob(Job, Protocol):
    """A job that begins before the first round, and has something under way when the daemon ends."""

    def begin(self, now: float) -> None:
        """Note in the store that the daemon begins; called once."""

    def end(self, clock: Callable[[], float], seconds: float | None) -> bool:
        """Wait *seconds* for what is under way, None = for all that is due; return whether it has ended."""


@dataclass(frozen=True, slots=True)
class AtWork:
    """The daemon at work."""

    store: Store
    """For the daemon's thread, in which jobs run."""
    settings: Settings
    folder: Path
    """Base of relative paths in the settings."""
    fetch: Fetch
    """The one egress."""
    read: Read
    """Reads bodies in processes of their own."""
    trouble: Trouble
    gate: HostGate
    """That of the crawler."""


def jobs_of(features: Features, work: AtWork) -> tuple[dict[str, Job], list[FeatureError]]:
    """Return the jobs of features by name, and what is wrong with features that cannot be used.

    Raises:
        SettingsError: what the settings say to one of them cannot be used.
    """
    jobs = dict[str, Job]()
    problems = [FeatureError(name, why) for name, why in features.broken.items()]
    for feature in features.on:
        made = attempt(partial(_job, feature, work)) if feature.job else None
        if isinstance(made, SettingsError):
            raise made
        if isinstance(made, Bug):
            problems.append(FeatureError(feature.name, made.error))
        elif made is not None:
            jobs[feature.name] = made
    return jobs, problems


def _job(feature: Feature, work: AtWork) -> Job | SettingsError | None:
    try:
        job: Job | None = target_of(feature.job)(work)
    except SettingsError as error:
        return error
    return job

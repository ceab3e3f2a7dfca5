"""The job that writes the tally to a file."""

from __future__ import annotations

import json

from hubwatch_sample.settings import SampleSettings
from hubwatch_sample.tallying import tallies
from incremental.daemon.at_work import AtWork


class TallyJob:
    """Writes the tally now and then."""

    def __init__(self, work: AtWork, settings: SampleSettings) -> None:
        self._store = work.store
        self._path = work.folder / settings.file
        self._pause = settings.minutes * 60

    def step(self, now: float) -> float:
        """Write the tally; return when to do so next."""
        self._path.write_text(json.dumps(tallies(self._store)), encoding="utf-8")
        return now + self._pause


def tally_job(work: AtWork) -> TallyJob | None:
    """Return the job; None while no file is named."""
    settings = work.settings.of(SampleSettings)
    return TallyJob(work, settings) if settings.file else None

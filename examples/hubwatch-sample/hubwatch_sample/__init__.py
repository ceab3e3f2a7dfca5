"""A feature of another package: a tally of new pages, a log of them, and hubs that are tables."""

from __future__ import annotations

from pathlib import Path

from incremental.base.features import Feature

FEATURE = Feature(
    name="sample",
    summary="Tallies new pages by site, logs them, and reads lists in CSV.",
    settings="hubwatch_sample.settings:SampleSettings",
    commands={"Read": {"tally": "hubwatch_sample.command:tally Count new pages by site."}},
    routers=("hubwatch_sample.routes:router",),
    pages={"/tally": "tally"},
    templates=Path(__file__).with_name("templates"),
    job="hubwatch_sample.job:tally_job",
    channels={"log": "hubwatch_sample.channel:log"},
    readers={"text/csv": "hubwatch_sample.reader:read_table"},
)

"""``[engine]`` in the settings: where visits run."""

from __future__ import annotations

import re
from typing import Annotated, Literal

import msgspec

from incremental.base.errors import SettingsError

_ADDRESS = re.compile(r"(?:tcp|tls)://(?:\[[0-9a-fA-F:.]+\]|[^\s:/@\[\]]+):\d{1,5}")


EngineKind = Literal["threads", "processes", "dask"]


class EngineSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where pages are fetched and read. The daemon decides what and when, and records what came of it."""

    kind: EngineKind = "threads"
    """``threads`` of the daemon; ``processes``, for more processors; ``dask`` = the workers of a Dask cluster
    (extra ``dask``), for more machines."""
    address: str = ""
    """For ``dask``: its scheduler, like ``tcp://127.0.0.1:8786``, or ``tls://`` with Dask's own settings."""
    processes: Annotated[int, msgspec.Meta(ge=0, le=256)] = 0
    """For ``processes``: how many; each makes one visit at a time; 0 = one per processor."""


def check_engine(settings: EngineSettings) -> None:
    """Raise SettingsError for a Dask cluster without a usable address."""
    if settings.kind == "dask" and not _ADDRESS.fullmatch(settings.address):
        way_out = "give the address of Dask's scheduler, like tcp://127.0.0.1:8786"
        raise SettingsError("engine.address", settings.address, way_out)

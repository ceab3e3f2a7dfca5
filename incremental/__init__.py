"""Hubwatch's crawler: fetch, parse, decide, revisit, and the daemon that repeats it.

``from incremental import Hubwatch`` is the interface for Python programs. It is imported on first use,
because what is behind it takes longer to load than most commands take to answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incremental.api import AnnouncedPage, Hubwatch

__all__ = ["AnnouncedPage", "Hubwatch"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the protocol of modules
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from incremental import api  # noqa: PLC0415 - that is the point

    return getattr(api, name)

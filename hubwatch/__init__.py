"""Hubwatch for Python programs: ``from hubwatch import Hubwatch``.

What is behind the names is loaded on first use, because it takes longer than most commands take to answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hubwatch.api import (
        Hubwatch,
        Page,
        PageChange,
        Site,
        SiteVisit,
        TextChange,
        Topic,
        to_pandas,
    )

__all__ = [
    "Hubwatch",
    "Page",
    "PageChange",
    "Site",
    "SiteVisit",
    "TextChange",
    "Topic",
    "to_pandas",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the protocol of modules
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from hubwatch import api  # noqa: PLC0415 - that is the point

    return getattr(api, name)

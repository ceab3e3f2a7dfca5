"""What became of a page that was reported as missed and that a site has shown: nothing is fetched."""

from dataclasses import dataclass
from typing import Any

from incremental.base.texts import Text
from incremental.interfaces.results.schema import when


@dataclass(frozen=True, slots=True)
class Missed:
    """What became of a report of a missed page."""

    url: str
    cause: str
    """A key of the texts: ``announced``, ``decided``, ``outside``, ``too_late``, ``unread``, ``unwatched``,
    ``nowhere``."""
    hub_url: str
    """The hub that shows it; empty = none was found."""
    says: tuple[str, ...]
    """The whole answer in sentences."""


def known_page(answer: dict[str, Any]) -> Missed | None:
    """Return what became of a page that a site has shown, by the explanation of its URL; None = none has."""
    seen = [site for site in answer["sites"] if site["seen"]]
    return _of_known(answer, seen) if seen else None


def _of_known(answer: dict[str, Any], seen: list[dict[str, Any]]) -> Missed:
    """Answer for a page that the store knows: what was decided, and what topics said."""
    shown = next((one for one in seen if one["announced_at"]), None)
    url = answer["url"]
    first = (
        said("announced", at=when(shown["announced_at"]))
        if shown
        else said("decided", verdict=answer["verdict"])
    )
    refused = [
        said("off_topic", topic=one["topic"], score=f"{one['score']:.2f}")
        for one in answer["topics"]
        if one["verdict"] == "irrelevant"
    ]
    return Missed(url, "announced" if shown else "decided", "", (first, *refused))


def said(name: str, **values: object) -> Text:
    """Return a text of this feature."""
    return Text(f"corrections.{name}", **values)

"""What a site's known URLs and the verdicts on its pages say about a new URL.

A site of unusual style (articles at ``/some-name/``) would fool the classifier again and again. Once
pages of one form turned out to be articles, the next page of that form probably is one, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from classifier.hub import LinkEvidence
from classifier.hub.context import SiteIndex
from incremental.scope import template

# Verdicts move a score by at most these log-odds.
MAX_SHIFT = 5.0
_EDGE = 1e-6


def form_of(url: str) -> str:
    """Return the form that verdicts on one URL say something about.

    As :func:`incremental.scope.template`, but the name before a last slash is blanked like that of a file: an
    article at ``/some-name/`` is of the same form as one at ``/other-name/``, and of another than ``/news/``.
    """
    form = template(url)
    path, mark, query = form.partition("?")
    if not path.endswith("/"):
        return form
    above, _, name = path[:-1].rpartition("/")
    if not above:  # the home page
        return form
    kind = "0" if name == "0" else "*-*" if "-" in name or "_" in name or name == "*" else "*"
    return f"{above}/{kind}/{mark}{query}"


@dataclass(slots=True)
class SiteContext:
    """Built from the store every few hours; :meth:`add` keeps it up to date in between."""

    index: SiteIndex
    verdicts: dict[str, list[int]]
    """Articles and hubs read so far, by form of address."""
    made_at: float

    @classmethod
    def build(
        cls,
        known: Iterable[tuple[str, str]],
        judged: Iterable[tuple[str, bool]],
        now: float,
        sizes: Iterable[tuple[str, int]] = (),
    ) -> Self:
        """Build from (URL, anchor) of known pages; (URL, is a hub) and (URL, bytes) of pages read."""
        context = cls(SiteIndex.build(known, sizes), {}, now)
        for url, is_hub in judged:
            context.add(url, hub=is_hub)
        return context

    def add(self, url: str, *, hub: bool) -> None:
        """Count a verdict."""
        self.verdicts.setdefault(form_of(url), [0, 0])[hub] += 1

    def add_to(self, link: LinkEvidence) -> LinkEvidence:
        """Return the link with its site context, for the classifier."""
        return self.index.add_context(link)

    def corrected(self, url: str, probability: float) -> float:
        """Return the hub probability, corrected by the verdicts on pages of this form."""
        topics, hubs = self.verdicts.get(form_of(url), (0, 0))
        # A Bayes factor by template, with add-one smoothing.
        shift = math.log((hubs + 1) / (topics + 1))
        shift = max(min(shift, MAX_SHIFT), -MAX_SHIFT)
        p = min(max(probability, _EDGE), 1 - _EDGE)
        return 1 / (1 + math.exp(-(math.log(p / (1 - p)) + shift)))

"""The classifier that the crawler asks: links in, calibrated probabilities of a hub out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from classifier.hub.content_features import describe_page
from classifier.hub.context import adjust_for_context
from classifier.hub.errors import ModelError
from classifier.hub.evidence import LinkEvidence
from classifier.hub.explanation import LinkExplanation, explain_link
from classifier.hub.model import HubModel, load_model, newest_version
from classifier.hub.scaling import to_log_odds, to_probability

SHIPPED_MODELS = Path(__file__).parent / "models"
"""The models that come with the package; the newest is the default."""


@dataclass(frozen=True, slots=True)
class PageScore:
    """What the cascade says of a fetched page."""

    probability: float
    """Calibrated probability that the page is a hub."""
    decided_by: str
    """``url`` when it was sure alone, else ``content`` (which weighs the URL as well)."""
    url_probability: float
    content_probability: float | None
    """By content alone; None when it was not looked at."""


class HubClassifier:
    """One model, ready to score. Threads may share it: it holds no state but the model."""

    def __init__(self, model: HubModel) -> None:
        self.model = model

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Load a model folder; raises ModelError that says what is wrong with it."""
        return cls(load_model(folder))

    @property
    def version(self) -> str:
        """The model's version, as in its folder."""
        return self.model.version

    def score(self, links: Sequence[LinkEvidence]) -> NDArray[np.float64]:
        """Return the calibrated probability that each link is a hub, in order.

        From URL and anchor, and from the site context where it is known. Any text is accepted as a
        URL. Vectorised: hand over as many links as there are.
        """
        return to_probability(self.log_odds(links))

    def log_odds(self, links: Sequence[LinkEvidence]) -> NDArray[np.float64]:
        """Return the calibrated log-odds behind :meth:`score`."""
        return adjust_for_context(self.model.url.log_odds(links), links)

    def score_page(
        self,
        link: LinkEvidence,
        page: str | bytes | Any,  # noqa: ANN401 - an lxml tree has no useful type
        *,
        encoding: str | None = None,
        url_probability: float | None = None,
    ) -> PageScore:
        """Score a fetched page by the cascade: URL first, content (text, bytes or tree) if in doubt.

        ``url_probability`` spares scoring the URL again; ``encoding`` is for bytes. The link's size is that
        of the page as it came; without it text and bytes are counted.
        """
        if url_probability is None:
            url_probability = float(self.score([link])[0])
        url = to_log_odds(url_probability)
        cascade = self.model.cascade
        if not cascade.needs_content(url):
            return PageScore(url_probability, "url", url_probability, None)
        row = describe_page(page, encoding)[None, :]
        size = _size_of(page) if link.page_bytes is None else float(link.page_bytes)
        joined = cascade.join(np.array([url]), row, np.array([size]))
        content = self.model.content.log_odds(row)
        return PageScore(
            float(to_probability(joined)[0]),
            "content",
            url_probability,
            float(to_probability(content)[0]),
        )

    def explain(self, link: LinkEvidence) -> LinkExplanation:
        """Tell what spoke for and against the link; some milliseconds."""
        return explain_link(self.model, link)


def _size_of(page: object) -> float:
    """Return the bytes of a page; NaN for a tree, which does not tell."""
    if isinstance(page, str):
        page = page.encode("utf-8", "surrogatepass")
    return float(len(page)) if isinstance(page, bytes) else float("nan")


def load_default() -> HubClassifier:
    """Load the newest model that came with the package; raises ModelError when it is damaged."""
    version = newest_version(SHIPPED_MODELS)
    if version is None:
        raise ModelError(SHIPPED_MODELS, "no model was shipped; reinstall hubwatch")
    return HubClassifier.load(SHIPPED_MODELS / version)

"""Every method of the evaluation contract on labelled URLs and captured pages.

``url`` and the content methods give calibrated probabilities; the rules that they are compared with, 0 and 1.

F1 has an interval over domains.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from classifier.hub.classifier import HubClassifier
from classifier.hub.content_features import describe_page
from classifier.hub.evidence import LinkEvidence, split_url
from classifier.hub.labels import LabelRow
from classifier.hub.scaling import to_probability
from lab.hub.files import Capture
from lab.hub.folded import ROWS_PER_DOMAIN, compared, first_rows, sections_of


def f1_interval(
    predicted: NDArray[np.bool_],
    hubs: NDArray[np.bool_],
    domains: Sequence[str],
    *,
    draws: int = 1000,
    seed: int = 3,
) -> tuple[float, float]:
    """Return the 95 % interval of F1 by bootstrap over domains, not rows.

    Rows of one site are alike: drawing rows would make the interval far too narrow.
    """
    _, numbers = np.unique(np.array(domains, dtype=object).astype(str), return_inverse=True)
    count = int(numbers.max()) + 1 if len(numbers) else 0
    if not count:
        return 0.0, 0.0
    kinds = (predicted & hubs, predicted & ~hubs, ~predicted & hubs)
    by_domain = np.stack([np.bincount(numbers[kind], minlength=count) for kind in kinds])
    rng = np.random.default_rng(seed)
    # Counting how often each domain is drawn is one multinomial draw.
    weights = rng.multinomial(count, np.full(count, 1 / count), size=draws)
    true, false, missed = (by_domain @ weights.T).astype(np.float64)
    f1 = 2 * true / np.maximum(2 * true + false + missed, 1)
    low, high = np.quantile(f1, [0.025, 0.975])
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class Judged:
    """One method's scores of rows, in their order."""

    hubs: NDArray[np.bool_]
    """Predicted labels."""
    scores: NDArray[np.float64]
    """Probability of a hub, or 0 and 1 (rules)."""


def scored_rows(rows: Sequence[LabelRow], cap: int = ROWS_PER_DOMAIN) -> list[int]:
    """Return the places of the rows that count: the first ``cap`` of a domain and label; 0 = all."""
    return first_rows([(row.domain, row.label) for row in rows], cap)


def judge_urls(classifier: HubClassifier, rows: Sequence[LabelRow]) -> dict[str, Judged]:
    """Judge each row by URL and anchor alone, by every method that is installed."""
    links = [row.evidence for row in rows]
    judged = {
        "url": _by_probability(classifier.score(links)),
        "rule": _by_rule(rule_says_hub, rows),
    }
    courlan = courlan_test()
    if courlan:
        judged["courlan"] = _by_rule(courlan, rows)
    return judged


def judge_pages(
    classifier: HubClassifier, captures: Sequence[Capture], features: NDArray[np.float64]
) -> dict[str, Judged]:
    """Judge captured pages; ``url`` and the first stage of ``cascade`` see no anchor."""
    model = classifier.model
    url = classifier.log_odds([LinkEvidence(capture.row.url) for capture in captures])
    content = model.content.log_odds(features)
    sizes = np.array([len(capture.body) for capture in captures], dtype=np.float64)
    joined = model.cascade.join(url, features, sizes)
    return {
        "content": _by_probability(to_probability(content)),
        "cascade": _by_probability(to_probability(joined)),
        "url": _by_probability(to_probability(url)),
    }


_RULE_NAMES = ("index", "class", "default")


def rule_says_hub(url: str) -> bool:
    """Apply the oldest rule (Meng et al., paper 003 section 1): home page, index, class, default."""
    parts = split_url(url)
    return parts.is_root or any(name in parts.stem.lower() for name in _RULE_NAMES)


def courlan_test() -> Callable[[str], bool] | None:
    """Return courlan's navigation test, or None when courlan is not installed (extra ``bench``)."""
    try:
        from courlan import is_navigation_page  # noqa: PLC0415 - optional
    except ImportError:
        return None
    return lambda url: bool(is_navigation_page(url))


def page_features(captures: Sequence[Capture]) -> NDArray[np.float64]:
    """Return the content features of captured pages, one row each."""
    return np.array([describe_page(c.body, c.row.encoding or None) for c in captures])


def _by_probability(probabilities: NDArray[np.float64]) -> Judged:
    return Judged(probabilities >= 0.5, probabilities)  # noqa: PLR2004 - one half


def _by_rule(rule: Callable[[str], bool], rows: Sequence[LabelRow]) -> Judged:
    hubs = np.array([rule(row.url) for row in rows], dtype=bool)
    return Judged(hubs, hubs.astype(np.float64))


def score_sections(rows: Sequence[LabelRow], judged: Judged) -> dict[str, dict[str, float]]:
    """Score the sections of label rows."""
    return {name: score(rows, judged, chosen) for name, chosen in sections_of(rows).items()}


def score(
    rows: Sequence[LabelRow], judged: Judged, inside: NDArray[np.bool_] | None = None
) -> dict[str, float]:
    """Return precision, recall, F1 with its interval over domains, and the counts."""
    whole = np.ones(len(rows), dtype=np.bool_)
    places = np.flatnonzero(whole if inside is None else inside).tolist()
    hubs: NDArray[np.bool_] = np.array([rows[place].is_hub for place in places], dtype=np.bool_)
    predicted = judged.hubs[places]
    low, high = f1_interval(predicted, hubs, [rows[place].domain for place in places])
    figures = compared(predicted, hubs)
    return figures | {"hubs": int(hubs.sum()), "f1_low": low, "f1_high": high}

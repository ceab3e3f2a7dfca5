"""Why a URL is (not) classified as a hub. Nothing is fetched."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from classifier.hub import LinkEvidence
from classifier.hub.classifier import HubClassifier, load_default
from classifier.hub.content_features import describe_page
from classifier.hub.labels import HUB
from classifier.hub.registry import ActiveClassifier
from incremental.base.lookup import cached_body
from incremental.base.urls import canonical_key
from incremental.crawl.site_evidence import read_context
from incremental.parse.decoding import decode_body
from incremental.topics.training.corrections import pages_at, places
from store import Store


def explain_hub(store: Store, models: Path | None, url: str) -> dict[str, Any]:
    """Return the active version's classification of *url*, feature by feature, for JSON.

    ``probability`` is for the URL in the context of its site; ``site_probability`` also counts the
    verdicts on URLs of the same form, and is what the crawler decides by. ``cascade`` is the effect of
    the page's content. A user's label overrides all of them.
    """
    active = ActiveClassifier(models) if models is not None else None
    classifier = active.current() if active is not None else load_default()
    row, address = next(iter(places(store, url)), (None, url))
    page = next(iter(pages_at(store, row, address)), {}) if row is not None else {}
    link = LinkEvidence(address, page.get("anchor") or None)
    # The context is used once, so its time does not matter.
    context = read_context(store, row.id, 0.0) if row is not None else None
    evidence = context.index.add_context(link) if context is not None else link
    explained = classifier.explain(evidence)
    probability = explained.probability
    if context is not None:
        probability = context.corrected(address, probability)
    cascade = _cascade(store, classifier, address, page)
    said = store.read.corrections([canonical_key(address)]).get(canonical_key(address))
    if said is not None:
        probability, cascade["decided_by"] = float(said == HUB), "you"
    return {
        "version": classifier.version,
        "problem": active.problem if active is not None else "",
        "probability": round(explained.probability, 4),
        "site_probability": round(probability, 4),
        "contributions": [_rounded(asdict(one)) for one in explained.contributions],
        "context": [
            _rounded({"field": f, "value": v, "log_odds": x}) for f, v, x in explained.context
        ],
        "cascade": cascade,
    }


def _cascade(
    store: Store, classifier: HubClassifier, url: str, page: dict[str, Any]
) -> dict[str, Any]:
    """Return how the decision goes once the page is fetched, as at a hub's first visit."""
    body = cached_body(store, page) if page else None
    link = LinkEvidence(url)
    needed = classifier.model.cascade.needs_content(float(classifier.log_odds([link])[0]))
    if body is None or not needed:
        by = "content" if needed else "url"
        return {"needs_content": needed, "decided_by": by, "content": None, "probability": None}
    features = describe_page(decode_body(body, "")[0])
    scored = classifier.score_page(link, features.tolist(), len(body))
    content = scored.content_probability
    return {
        "needs_content": needed,
        "decided_by": scored.decided_by,
        "content": None if content is None else round(content, 4),
        "probability": round(scored.probability, 4),
    }


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {key: round(v, 4) if isinstance(v, float) else v for key, v in row.items()}

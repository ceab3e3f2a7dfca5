"""The link order and the adapting centre in the running product."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fake_web import HOUR, SPARING, FakeWeb, Watch
from topic_web import EXAMPLES, NEW, address, correct, judged, topic_of, two_subjects, watch_topic

from classifier.links.learned_order import LearnedOrder
from incremental.settings import Settings

BRIDGES = {address(*one) for one in NEW if one[0] == "bridge"}
ALL_NEW = {address(*one) for one in NEW}


def settings(verify_share: float) -> Settings:
    return msgspec.structs.replace(
        SPARING,
        news=msgspec.structs.replace(SPARING.news, verify_share=verify_share),
    )


def kept_links(crawl: Watch) -> dict[str, Any]:
    crawl.crawler.drain(crawl.clock.now())
    found: dict[str, Any] = json.loads(crawl.store.topics.links(topic_of(crawl).id))
    return found


def sizes(data: Any) -> Any:
    """How much there is of everything that was remembered."""
    if isinstance(data, dict):
        return {key: sizes(one) for key, one in data.items() if isinstance(one, dict | list)}
    return len(data)


def test_the_order_guesses_of_links_and_outlives_the_process(tmp_path: Path) -> None:
    """Few looks are granted; the first one goes where the order expects most."""
    chosen = settings(0.03)
    with watch_topic(tmp_path, two_subjects(), settings=chosen) as crawl:
        crawl.run(8 * HOUR)
        guesses = {url: judged(crawl, url) for url in ALL_NEW}
        assert all(guess is not None and 0 <= guess.score <= 1 for guess in guesses.values())
        verified = [url for url in crawl.web.urls() if url in ALL_NEW]
        assert 0 < len(verified) < len(ALL_NEW)
        assert verified[0] in BRIDGES
        kept, web = kept_links(crawl), crawl.web
    with Watch(tmp_path, FakeWeb(web.clock, two_subjects()), settings=chosen) as crawl:
        (active_topic,) = crawl.crawler.topics._active_topics.values()
        # Not the very same: terms may be numbered again.
        assert sizes(active_topic.links.to_json()) == sizes(kept)
        assert sizes(active_topic.links.to_json()) != sizes(LearnedOrder().to_json())


@pytest.mark.parametrize("method", ["adaptive", "adaptive_guarded"])
def test_the_centre_adapts_as_pages_come_and_a_rejected_page_moves_it_no_more(
    tmp_path: Path, method: str
) -> None:
    chosen = settings(0.9)
    with watch_topic(tmp_path, two_subjects(), settings=chosen, method=method) as crawl:
        crawl.run(12 * HOUR)
        crawl.crawler.drain(crawl.clock.now())
        moved = centre(crawl)
        relevant = [url for url in BRIDGES if (score := judged(crawl, url)) and score.fetched]
        assert moved["updates"] > 0
        assert len(moved["seeds"]) == len(EXAMPLES)
        rejected = max(relevant, key=lambda url: getattr(judged(crawl, url), "score", 0.0))
        before = crawl.crawler.topics._active_topics[topic_of(crawl).id].model.version
        assert before == topic_of(crawl).version
        correct(crawl, rejected, relevant=False)
        assert centre(crawl)["updates"] < moved["updates"]
        assert topic_of(crawl).version != before


def centre(crawl: Watch) -> dict[str, Any]:
    """Paper 000's centre as it is kept."""
    model = json.loads(crawl.store.topics.model(topic_of(crawl).id))
    found: dict[str, Any] = model["fit"]["adaptive"]
    return found

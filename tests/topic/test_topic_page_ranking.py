"""Pages like the seeds come first, by every ranker that can tell; nothing odd breaks them."""

import numpy as np
import pytest

from classifier.papers.page_ranking import PAPER, PageRanking
from classifier.words.background import Background

SEEDS = {
    "http://a.org/1": {"bridge": 3.0, "steel": 2.0, "river": 1.0},
    "http://b.org/1": {"bridge": 2.0, "span": 2.0, "cable": 1.0},
}
LIKE = {"bridge": 2.0, "cable": 1.0, "opening": 1.0}
UNLIKE = {"goal": 3.0, "match": 2.0, "team": 1.0}


def ranking(pages: int = 20) -> PageRanking:
    """Seeds, and as many pages like them as unlike them, linked in a ring."""
    made = PageRanking(Background(), SEEDS)
    for number in range(pages):
        url = f"http://{'like' if number % 2 else 'other'}.org/{number}"
        terms = dict(LIKE if number % 2 else UNLIKE) | {f"own{number}": 1.0}
        made.add(url, terms, [f"http://like.org/{number + 1 - number % 2}"])
    return made


def ranked_by(made: PageRanking, name: str) -> list[str]:
    """The pages by one ranker alone, best first."""
    urls = made.urls
    return [urls[place] for place in np.argsort(-made.scores()[name], kind="stable")]


@pytest.mark.parametrize("name", PAPER)
def test_pages_like_the_seeds_come_first(name: str) -> None:
    made = ranking()
    first = [url for url in ranked_by(made, name) if url not in SEEDS][:10]
    assert all("like.org" in url for url in first)


def test_the_combination_puts_pages_like_the_seeds_first() -> None:
    first = [url for url in ranking().ranked() if url not in SEEDS][:10]
    assert all("like.org" in url for url in first)


def test_pagerank_prefers_what_is_linked_to() -> None:
    assert "like.org" in ranked_by(ranking(), "pagerank")[0]


@pytest.mark.parametrize("pages", [0, 1, 3])
def test_a_young_crawl_is_ranked_by_what_needs_no_negatives(pages: int) -> None:
    made = ranking(pages)
    scores = made.scores()
    assert set(scores) >= {*PAPER, "pagerank"}
    assert all(len(one) == len(SEEDS) + pages for one in scores.values())
    assert all(np.isfinite(one).all() for one in scores.values())


def test_empty_pages_and_seeds_without_words() -> None:
    made = PageRanking(Background(), {"http://a.org/": {}})
    for number in range(12):
        made.add(f"http://b.org/{number}", {})
    assert all(np.isfinite(one).all() for one in made.scores().values())
    assert len(made.ranked()) == 13


def test_what_the_user_turned_down_counts_as_a_negative() -> None:
    turned_down = {"bridge": 2.0, "card": 2.0, "game": 2.0}
    plain = ranking()
    trained = PageRanking(Background(), SEEDS, rejected=[turned_down] * 5)
    for made in (plain, trained):
        for number in range(20):
            made.add(f"http://like.org/{number}", LIKE | {f"own{number}": 1.0})
        made.add("http://cards.org/", {"bridge": 2.0, "card": 1.0})
    place = [
        ranked_by(made, "lr").index("http://cards.org/") / len(made) for made in (plain, trained)
    ]
    assert place[1] > place[0]


def test_a_page_is_counted_once() -> None:
    made = ranking(2)
    made.add("http://like.org/1", UNLIKE, ["http://x.org/"])
    assert len(made) == 4

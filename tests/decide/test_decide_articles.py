"""Which articles are monitored, and which pages are no news."""

from dataclasses import replace

import pytest
from stories import hub

from incremental.decide.articles import MAX_MONITORED, chosen_articles, next_to_read, reading_weight
from incremental.decide.furniture import furniture, is_list_address, may_be_furniture
from incremental.decide.sections import is_edition_front
from incremental.schedule.state import HubState
from store.rules import Rule
from store.values import ArticleCandidate, HubRow, MonitoredArticle

SITE = "https://docs.example"
DAY = 86_400.0


def candidate(  # noqa: PLR0913 - each bears on the choice
    page: int,
    path: str = "",
    *,
    hubs: int = 5,
    on_seed: bool = False,
    in_feed: bool = False,
    on_article: bool = False,
) -> ArticleCandidate:
    url = SITE + (path or f"/guide-{page}.html")
    return ArticleCandidate(page, url, hubs, on_seed, in_feed, on_article)


def monitored(page: int, *, productive: int = 0, gone: bool = False) -> MonitoredArticle:
    return MonitoredArticle(page, 0.0, productive, chosen=False, gone=gone)


def test_articles_in_the_menu_come_first_and_posts_never() -> None:
    candidates = [
        candidate(1, hubs=9),
        candidate(2, on_seed=True),
        candidate(3, "/2024/05/a-post.html", on_seed=True),
        candidate(4, in_feed=True, on_seed=True),
        candidate(5, hubs=1),
        candidate(6, hubs=1, on_article=True),
        candidate(7, "/list/page/3/", on_seed=True),
    ]
    assert list(chosen_articles(candidates, [], 10, DAY).begun.keys()) == [2, 1, 6]


def read_in_turn(articles: list[HubRow], weights: dict[str, float], days: int) -> str:
    """Read one article a day; return the last letters of their names."""
    order = ""
    for day in range(1, days + 1):
        chosen = next_to_read(
            articles, articles, lambda one: weights.get(one.canonical_key, 1.0), day * DAY
        )
        articles = [
            replace(one, visited_at=day * DAY) if one == chosen else one for one in articles
        ]
        order += chosen.canonical_key[-1]
    return order


def kept_up(*paths: str) -> list[HubRow]:
    return [
        hub(page_id=n, canonical_key=f"//docs.example/{path}", role="article", visited_at=0.0)
        for n, path in enumerate(paths)
    ]


def test_articles_of_one_folder_are_read_apart() -> None:
    """A folder's pages show one menu, so a new section is seen when any of them is read."""
    order = read_in_turn(kept_up("a", "b", "c", "d", "guide/w", "guide/x"), {}, 13)[1:]
    assert all(set(order[at : at + 6]) == set("abcdwx") for at in (0, 6))
    assert all(set(order[at : at + 4]) & set("wx") for at in range(9))


def test_articles_that_people_edit_or_that_gained_a_link_are_read_more_often() -> None:
    still = reading_weight(HubState(unmodified=1.0), lately=False)
    edited = reading_weight(HubState(unmodified=0.1), lately=False)
    gained = reading_weight(HubState(unmodified=0.1), lately=True)
    assert 0 < 4 * still < edited < gained
    order = read_in_turn(kept_up("a", "b", "c"), {"//docs.example/a": 3.0}, 60)
    assert order.count("a") >= 2 * order.count("c") > 0 < order.count("b")


def test_only_what_is_due_is_read() -> None:
    first, second = kept_up("guide/a", "b")
    assert next_to_read([first, second], [second], lambda _: 1.0, DAY) == second


def test_there_is_room_for_as_many_as_a_day_has_requests() -> None:
    many = [candidate(n, on_seed=True) for n in range(100)]
    assert len(chosen_articles(many, [], 12, DAY).begun) == 12
    assert len(chosen_articles(many, [], 1_000, DAY).begun) == MAX_MONITORED


def test_what_gained_links_stays_and_what_is_shown_no_more_makes_room() -> None:
    plan = chosen_articles(
        [candidate(9)], [monitored(1), monitored(2, productive=1), monitored(3, gone=True)], 2, DAY
    )
    assert set(plan.ended) == {1, 3}
    assert list(plan.begun) == [9]


def test_an_article_that_gained_links_again_and_again_is_a_hub() -> None:
    assert chosen_articles([], [monitored(1, productive=3)], 5, DAY).updated == {}
    assert list(chosen_articles([], [monitored(1, productive=4)], 5, DAY).updated) == [1]


@pytest.mark.parametrize(
    ("path", "title", "rule"),
    [
        ("/404.html", "Page not found", Rule.ERROR_PAGE),
        ("/404.html", "", Rule.ERROR_PAGE),
        ("/de/404/", "404", Rule.ERROR_PAGE),
        ("/errors/503.html", "Sorry", Rule.ERROR_PAGE),
        ("/not-found", "页面不存在", Rule.ERROR_PAGE),
        ("/thanks/", "Thanks!", Rule.COURTESY_PAGE),
        ("/danke.html", "Danke", Rule.COURTESY_PAGE),
        ("/donate", "Donate", Rule.COURTESY_PAGE),
        ("/%E6%84%9F%E8%B0%A2/", "感谢", Rule.COURTESY_PAGE),
        ("/blog/author/agrove.html", "Andy", Rule.LIST_PAGE),
        ("/tags/news/", "News", Rule.LIST_PAGE),
        ("/tag", "Tags", Rule.LIST_PAGE),
        ("/keywords/overflow.html", "overflow", Rule.LIST_PAGE),
        ("/categories/ob/k8s/", "k8s", Rule.LIST_PAGE),
        ("/categories/ob/how-a-cluster-is-built/", "How a cluster is built", None),
        ("/en/categories/", "Categories", Rule.LIST_PAGE),
        ("/404.html", "Podcast", Rule.ERROR_PAGE),
        ("/archives/17.html", "A post", None),
        ("/category/news/a-post/", "A post", None),
        ("/405/", "Journal 3", None),
        ("/404/", "A comic about parking", None),
        ("/article/404.html", "Bridge closed", None),
        ("/node/503", "Council meets", None),
        ("/reference/errors.html", "Errors", None),
        ("/2026/11/22/thank-you-guido/", "Thank you, Guido", None),
        ("/news/thanks/", "Thanks to all", None),
        ("/404-errors-explained.html", "404 errors explained", None),
        ("/donate/2026/how-it-was-spent.html", "How it was spent", None),
    ],
)
def test_error_pages_and_pages_of_thanks_are_no_news(
    path: str, title: str, rule: Rule | None
) -> None:
    assert furniture(SITE + path, title) == rule
    assert rule is None or may_be_furniture(SITE + path) or is_list_address(SITE + path)


@pytest.mark.parametrize(
    ("canonical_key", "front"),
    [
        ("//flink.example/zh", True),
        ("//flink.example/pt-BR/", True),
        ("//flink.example/news", False),
        ("//flink.example/zh/news", False),
        ("//flink.example", False),
    ],
)
def test_the_front_of_a_language_edition_is_recognised(canonical_key: str, front: bool) -> None:
    assert is_edition_front(canonical_key) == front

"""A site with an English and a Chinese section: what says the same is named, and nothing else is."""

from __future__ import annotations

import pytest
from parallel_site import Bilingual, announce, embed, page_id, translations
from stories import DAY, HOME, START, announced_pages, news_site, seen, visit_of

from classifier.embedding.local import LocalEmbedder
from classifier.embedding.packages import BUNDLED, installed
from store import Store
from store.models import PageText, PageTranslation

MUSEUM = ("en/museum", "Museum reopens")
MUSEUM_ZH = ("zh/museum", "博物馆重新开放")
BRIDGE = ("en/bridge", "Bridge closed")
BRIDGE_ZH = ("zh/bridge", "大桥封闭")
TENDER = ("en/14", "Tender 2026-014: road light")
TENDER_ZH = ("zh/14", "招标公告 2026-014：道路路灯")
NEXT = ("en/15", "Tender 2026-015: road light")
NEXT_ZH = ("zh/15", "招标公告 2026-015：道路路灯")


def count(store: Store) -> int:
    return int(PageTranslation.select().count(store.database))


def test_a_notice_in_two_languages_is_announced_twice_and_names_the_other(store: Store) -> None:
    announce(store, MUSEUM, MUSEUM_ZH, BRIDGE, ("en/tax", "Hospital opens"))
    embed(store, Bilingual())
    assert translations(store, "en/museum") == [("zh", "zh/museum")]
    assert translations(store, "zh/museum") == [("en", "en/museum")]
    assert translations(store, "en/bridge") == translations(store, "en/tax") == []
    assert len(announced_pages(store)) == 4


def test_the_second_language_may_come_days_later_but_not_weeks(store: Store) -> None:
    announce(store, MUSEUM, BRIDGE)
    embed(store, Bilingual())
    announce(store, MUSEUM_ZH, at=START + 3 * DAY)
    announce(store, BRIDGE_ZH, at=START + 30 * DAY)
    embed(store, Bilingual())
    assert translations(store, "en/museum") == [("zh", "zh/museum")]
    assert translations(store, "en/bridge") == []


def test_notices_of_a_series_are_told_apart_by_their_numbers(store: Store) -> None:
    announce(store, TENDER, NEXT_ZH)
    embed(store, Bilingual())
    assert count(store) == 0
    announce(store, NEXT, TENDER_ZH, at=START + DAY)
    embed(store, Bilingual())
    assert translations(store, "en/14") == [("zh", "zh/14")]
    assert translations(store, "en/15") == [("zh", "zh/15")]


def test_what_is_about_as_near_as_another_is_named_by_neither(store: Store) -> None:
    announce(store, MUSEUM, MUSEUM_ZH)
    embed(store, Bilingual())
    assert translations(store, "en/museum") == [("zh", "zh/museum")]
    announce(store, ("zh/other", "另一家博物馆重新开放"), at=START + DAY)
    embed(store, Bilingual())
    assert count(store) == 0


def test_other_dates_of_publication_are_other_news(store: Store) -> None:
    announce(store, MUSEUM, MUSEUM_ZH)
    store.write.update_page(page_id(store, "en/museum"), published_at=START - 40 * DAY)
    store.write.update_page(page_id(store, "zh/museum"), published_at=START - DAY)
    embed(store, Bilingual())
    assert count(store) == 0


def test_a_page_that_is_rewritten_is_compared_again(store: Store) -> None:
    announce(store, MUSEUM, MUSEUM_ZH)
    embed(store, Bilingual())
    announce(store, ("zh/museum", "医院大桥"), at=START + 1)
    embed(store, Bilingual())
    assert count(store) == 0


def test_another_model_compares_again_and_one_that_was_not_measured_forgets(store: Store) -> None:
    announce(store, MUSEUM, MUSEUM_ZH)
    embed(store, Bilingual())
    embed(store, Bilingual("use of another version"))
    assert count(store) == 2
    embed(store, Bilingual("a model of my own"))
    assert count(store) == 0


def test_switched_off_nothing_is_compared(store: Store) -> None:
    announce(store, MUSEUM, MUSEUM_ZH)
    embed(store, Bilingual(), translations=False)
    assert count(store) == 0
    assert announced_pages(store)[0].translations == ()


def test_a_site_in_one_language_has_no_translations(store: Store) -> None:
    announce(store, MUSEUM, BRIDGE, ("en/again", "Museum reopens"))
    embed(store, Bilingual())
    assert count(store) == 0


def test_pages_that_nobody_read_yet_are_compared_by_their_links(store: Store) -> None:
    site, home = news_site(store)
    links = [
        seen(f"{HOME}{path}", anchor=title, fate="announce") for path, title in (MUSEUM, MUSEUM_ZH)
    ]
    store.write.visit(visit_of(site, home, START, *links))
    embed(store, Bilingual())
    assert translations(store, "en/museum") == [("zh", "zh/museum")]


def test_copies_of_the_translation_do_not_compete_with_it(store: Store) -> None:
    announce(store, MUSEUM, MUSEUM_ZH, ("zh/copy", "博物馆重新开放"))
    copies = [page_id(store, path) for path in ("zh/museum", "zh/copy")]
    alike = PageText.update(cluster=copies[0]).where(PageText.page.in_(copies))
    alike.execute(store.database)
    embed(store, Bilingual())
    assert translations(store, "en/museum") == [("zh", "zh/museum"), ("zh", "zh/copy")]


@pytest.mark.parametrize("provider", BUNDLED)
def test_a_real_model_finds_the_notice_and_not_the_next_of_its_series(
    store: Store, provider: str
) -> None:
    if installed(provider) is None:
        pytest.skip(f"the package of {provider} is not installed")
    pages = {
        "en/1": "Museum of Natural History reopens after two-year renovation",
        "zh/1": "自然历史博物馆历时两年改造后重新开放",
        "en/2": "Release of Redwood Database 8.4.2",
        "zh/2": "红杉数据库 8.4.2 发布",
        "en/3": "Release of Redwood Database 8.4.3",
        "zh/4": "红杉数据库 8.4.4 发布",
        "en/5": "Football: national team draws with Norway",
        "zh/5": "近海发生地震，列车停运检查",
    }
    announce(store, *pages.items())
    embed(store, LocalEmbedder(provider))
    found = {path: translations(store, path) for path in pages}
    assert found["en/1"] == [("zh", "zh/1")]
    assert found["zh/2"] == [("en", "en/2")]
    assert [found[path] for path in ("en/3", "zh/4", "en/5", "zh/5")] == [[], [], [], []]

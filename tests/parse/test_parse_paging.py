"""Which link leads on."""

import pytest

from incremental.parse.dispatch import parse

URL = "https://example.org/news/?page=2"


def next_of(markup: str) -> str | None:
    found = parse(markup.encode(), URL, content_type="text/html; charset=utf-8").next_url
    return found and found.removeprefix("https://example.org")


@pytest.mark.parametrize(
    "words",
    [
        "next", "Next page", "NEXT »", "Next ›", "› Next", "Older", "Older posts",
        "← Older entries", "Previous posts", "下一页", "下页", "后页", "下一頁", "[下一页]",
        "下一页 >", "次へ", "次のページ", "다음", "Suivant", "Page suivante", "Siguiente",
        "Pagina seguente", "Nächste Seite", "Weiter", "Ältere Beiträge", "Volgende", "Далее",
        "След.", "След. →", "Вперёд", "вперед", "ouder", "Oudere berichten",
    ],
)  # fmt: skip
def test_a_link_that_says_so(words: str) -> None:
    assert next_of(f"<a href=/1>1</a><a href=/n>{words}</a>") == "/n"


@pytest.mark.parametrize("arrow", ["›", "»", "→", "&gt;", "&gt;&gt;"])
def test_an_arrow_counts_only_among_page_numbers(arrow: str) -> None:
    assert next_of(f"<div class=pagination><a href=/n>{arrow}</a></div>") == "/n"
    assert next_of(f"<p><a href=/1>1</a> 2 <a href=/n>{arrow}</a></p>") == "/n"
    assert next_of(f"<p>Read on <a href=/n>{arrow}</a></p>") is None


@pytest.mark.parametrize(
    "markup",
    [
        "<a href=/n>Next week's weather in the north</a>",
        "<a href=/n>Nextcloud</a>",
        "<a href=/n>次の記事</a>",
        "<a href=/n>Следствие</a>",
        "<a href=/n>Previous</a>",
        "<a href=/n>上一页</a>",
        "<a href='#next'>Next</a>",
        "<a href='javascript:next()'>Next</a>",
        "<a href='https://elsewhere.example/n'>Next</a>",
        "<a rel=next href='?page=2#more'>Next</a>",
        "<link rel=next href='https://elsewhere.example/n'>",
        "<a rel=prev href=/p>newer</a>",
    ],
)
def test_what_is_no_next_page(markup: str) -> None:
    assert next_of(markup) is None


def test_the_most_explicit_wins() -> None:
    arrow = "<div class=pager><a href=/last>»</a><a href=/arrow>›</a></div>"
    words = "<a href=/words>Next</a>"
    by_rel = "<a rel='next nofollow' href=/rel>more</a>"
    link = "<link rel=next href=/link>"
    assert next_of(arrow) == "/arrow"
    assert next_of(arrow + words) == "/words"
    assert next_of(arrow + words + by_rel) == "/rel"
    assert next_of(arrow + words + by_rel + link) == "/link"


def test_a_class_or_a_label_may_say_it() -> None:
    assert next_of("<a class='page-numbers next' href=/n><i></i></a>") == "/n"
    assert next_of("<a href=/n aria-label='Next page'><svg></svg></a>") == "/n"
    assert next_of("<a href=/n><img alt=下一页></a>") == "/n"


def test_www_is_the_same_site() -> None:
    assert next_of("<a href='//www.example.org/n'>next</a>") == "https://www.example.org/n"

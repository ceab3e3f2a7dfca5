"""More like this, in both languages."""

from collections.abc import Callable

from web_served import Served

from classifier.embedding.packing import squeezed

Ids = Callable[[], list[int]]


def embed(served: Served) -> None:
    """Give every announced page a vector: each a little further from that of the newest."""
    vectors = served.store.vectors
    space = vectors.begin("angles 1")
    waiting = vectors.waiting(space, limit=100)
    vectors.put(
        space, [(one, squeezed(bytes([100, 10 * turn]))) for turn, one in enumerate(waiting)]
    )


def test_the_page_about_a_page_leads_to_pages_like_it(served: Served, announced: Ids) -> None:
    embed(served)
    newest, second, *_ = sorted(announced(), reverse=True)
    for language, label in (("en", "More like this"), ("zh", "更多类似页面")):
        client = served.client(accept_language=language)
        assert label in client.get(f"/pages/{newest}").text
        shown = client.get(f"/pages/{newest}/like")
        assert shown.status_code == 200
        assert label in shown.text
        assert f'id="news-{second}"' in shown.text
        assert f'id="news-{newest}"' not in shown.text


def test_without_vectors_the_page_says_what_to_do(served: Served, announced: Ids) -> None:
    for language in ("en", "zh"):
        client = served.client(accept_language=language)
        shown = client.get(f"/pages/{announced()[0]}/like")
        assert shown.status_code == 200
        assert "hubwatch doctor" in shown.text
    assert served.client().get("/pages/4000000/like").status_code == 404


def test_a_page_that_was_not_announced_has_no_button(served: Served, announced: Ids) -> None:
    (home,) = served.store.read.find_page("https://news.example/", "")
    assert home["id"] not in announced()
    assert f"/pages/{home['id']}/like" not in served.client().get(f"/pages/{home['id']}").text
    embed(served)
    assert "announced as new" in served.client().get(f"/pages/{home['id']}/like").text


def test_the_status_says_how_far_the_vectors_are(served: Served, announced: Ids) -> None:
    pages = len(announced())
    before = served.client().get("/api/v1/status").json()["embeddings"]
    assert (before["space"], before["embedded"], before["waiting"]) == (None, 0, pages)
    embed(served)
    after = served.client().get("/api/v1/status").json()["embeddings"]
    assert (after["space"], after["embedded"], after["waiting"]) == ("angles 1", pages, 0)
    for language, label in (
        ("en", "Announced pages with a vector:"),
        ("zh", "已生成语义向量的页面："),
    ):
        shown = served.client(accept_language=language).get("/status").text
        assert label in shown
        assert "angles 1" in shown

"""The pages: in both languages, empty and full, with hostile texts, and what their forms do."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from stories import DAY, START, seen
from web_served import HOME, Served, form_token, post

from incremental.interfaces.web import views
from incremental.interfaces.web.background import Background
from incremental.interfaces.web.reading import marker
from incremental.interfaces.web.views import choose
from incremental.settings.seeds import add_seed
from incremental.topics.editing import begin
from store.values import TopicScore, VisitRecord

Ids = Callable[[], list[int]]
PAGES = (
    "/",
    "/sites",
    "/sites/1",
    "/add",
    "/pages/1",
    "/topics",
    "/messages",
    "/status",
    "/feeds",
    "/check",
    "/login",
)
WEB = Path(views.__file__).parent
HOSTILE = "<script>alert(1)</script>\"onload='x' \u202etxet\x00{{7*7}}"


# --- language ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cookie", "setting", "accepted", "language"),
    [
        ("", "", "zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("", "", "de,en;q=0.5,zh;q=0.7", "zh"),
        ("", "", "en,zh;q=0", "en"),
        ("", "", "fr", "en"),
        ("", "", ";;q=x,,", "en"),
        ("en", "", "zh", "en"),
        ("", "zh", "en", "zh"),
        ("xx", "", "zh", "zh"),
    ],
)
def test_the_language_is_that_of_cookie_setting_or_browser(
    cookie: str, setting: str, accepted: str, language: str
) -> None:
    assert choose(cookie, setting, accepted) == language


@pytest.mark.parametrize("path", PAGES)
def test_a_page_speaks_the_language_of_the_browser(served: Served, path: str) -> None:
    client = served.client(Accept_Language="zh-CN")
    answer = client.get(path)
    assert (answer.status_code, answer.headers["content-language"]) == (200, "zh")
    assert '<html lang="zh-Hans">' in answer.text
    post(client, "/preferences", language="en", back=path)
    assert '<html lang="en">' in client.get(path).text


@pytest.mark.parametrize("path", [path for path in PAGES if not path.endswith("1")])
def test_an_empty_store_has_pages_that_say_what_to_do(empty: Served, path: str) -> None:
    assert empty.client().get(path).status_code == 200
    assert "/add" in empty.client().get("/").text


def test_a_page_that_is_not_there_says_so(served: Served) -> None:
    answer = served.client().get("/pages/999999")
    assert answer.status_code == 404
    assert "There is no such page" in answer.text


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/pages/999999", "没有这个编号的页面"),
        ("/sites/999999", "没有编号为 999999 的站点"),
        ("/pages/no-number", "没有这个页面"),
        ("/nothing", "没有这个页面"),
    ],
)
def test_an_error_is_in_the_language_of_its_reader(served: Served, path: str, says: str) -> None:
    answer = served.client(accept_language="zh").get(path)
    assert answer.status_code in (400, 404, 422)
    text = re.search(r"<main.*?</main>", answer.text, re.DOTALL)
    assert text is not None
    assert says in text[0]
    assert not re.search(r"[a-z]{4,} [a-z]{2,} [a-z]{2,}", re.sub(r"<[^>]*>", "", text[0]))


# --- hostile text -----------------------------------------------------------------------------


def announce_hostile_page(served: Served) -> str:
    """Let a site show a page with a hostile anchor, title and address."""
    store, now = served.store, served.clock.now()
    hub = next(hub for hub in store.read.hubs(1) if hub.url == HOME)
    link = seen(HOME + "x?q='\"<>", anchor=HOSTILE + "x" * 1_000_000, fate="announce")
    store.write.visit(VisitRecord(1, hub.page_id, now, "fetched", links=(link,), keep_missing=True))
    return link.url


def test_text_of_sites_is_text_everywhere(served: Served) -> None:
    announce_hostile_page(served)
    client = served.client()
    page = client.get("/api/v1/pages").json()["pages"][0]
    for path in (
        "/",
        f"/pages/{page['id']}",
        "/?q=<script>alert(1)</script>",
        "/sites/1",
        "/check?url=<script>alert(1)",
    ):
        html = client.get(path).text
        assert "<script>alert" not in html, path
        assert "\u202e" not in html, path
        assert "49" not in re.findall(r"txet.{0,3}(\d+)", html), path
        assert len(html) < 200_000, path


def test_an_error_tells_back_nothing_as_markup(served: Served) -> None:
    for path in ("/?since=<b>x</b>", "/searches/<b>x", "/nothing<b>"):
        assert "<b>x" not in served.client().get(path).text


# --- what the forms do ------------------------------------------------------------------------


def test_marks_answer_with_the_row_as_it_is_now(served: Served, announced: Ids) -> None:
    client, page = served.client(), announced()[0]
    token = {"X-Form-Token": form_token(client), "HX-Request": "true"}
    row = client.post(f"/pages/{page}/mark", data={"mark": "star"}, headers=token).text
    assert row.strip().startswith("<li")
    assert 'value="unstar"' in row
    assert 'name="back" value="/"' in row
    assert (
        client.post(f"/pages/{page}/mark", data={"mark": "magic"}, headers=token).status_code == 422
    )


def test_without_script_a_mark_leads_back(served: Served, announced: Ids) -> None:
    client = served.client()
    answer = post(client, f"/pages/{announced()[0]}/mark", mark="read", back="/?show=unread")
    assert (answer.status_code, answer.headers["location"]) == (303, "/?show=unread")
    assert len(re.findall('class="item unread', client.get("/").text)) == 3
    post(client, "/read", page=announced())
    assert 'class="item unread' not in client.get("/").text


def test_two_browsers_that_mark_at_once_both_have_their_way(served: Served, announced: Ids) -> None:
    pages = announced()
    # FastAPI builds its routes when the first request comes, which one event loop does at a time.
    assert served.client().get("/").status_code == 200

    def mark(number: int) -> int:
        mine = served.client()
        kind = ("star", "read")[number % 2]
        return int(post(mine, f"/pages/{pages[number % 4]}/mark", mark=kind).status_code)

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(mark, range(8))) == {303}
    marked = served.client().get("/api/v1/pages").json()["pages"]
    assert sum(bool(page["read_at"]) + bool(page["starred_at"]) for page in marked) == 4


def test_what_came_since_is_put_on_top(served: Served) -> None:
    client = served.client()
    fresh = re.search(r'hx-get="(/fresh\?after=\d+)"', client.get("/").text)
    assert fresh is not None
    assert client.get(fresh[1]).status_code == 204
    announce_hostile_page(served)
    assert 'class="item unread arrived"' in client.get(fresh[1]).text


def test_a_search_is_saved_and_shown(served: Served) -> None:
    client = served.client()
    there = post(client, "/searches", name="Tenders", q="招标").headers["location"]
    shown = client.get(there)
    assert "桥梁<mark>招标</mark>公告" in shown.text
    assert "The bridge" not in shown.text
    assert "Tenders" in client.get("/feeds").text


def test_sites_are_pasted_and_looked_at_while_they_are_read(served: Served) -> None:
    # Nobody looks yet: the answer does not wait for that.
    served.web.__dict__["background"] = Background(served.web.now, start=lambda _work: None)
    client = served.client()
    answer = post(
        client, "/add", urls="https://third.example/\nnot-an-address\n", include="*/news/*"
    )
    assert 'hx-get="/sites/3/found"' in answer.text
    assert "not-an-address" in answer.text
    assert "Waiting for the first visit" in client.get("/sites/3/found").text
    assert HOME in client.get("/sites/1/found").text.replace("news.example/<", HOME + "<")


def test_a_site_is_paused_and_removed(served: Served) -> None:
    client = served.client()
    post(client, "/sites/2/state", state="paused")
    assert "Paused" in client.get("/sites").text
    assert post(client, "/sites/2/remove").headers["location"] == "/sites"
    assert "other.example" not in client.get("/sites").text


def test_a_change_is_shown_line_by_line(served: Served) -> None:
    client = served.client()
    page = client.get("/api/v1/pages/lookup", params={"url": HOME + "new-0.html"}).json()["id"]
    link = re.search(r'href="(/pages/\d+\?change=\d+)#diff"', client.get(f"/pages/{page}").text)
    assert link is not None
    html = client.get(link[1]).text
    assert "<ins>" in html
    assert "<del>" in html


def test_topics_are_begun_and_trained_from_the_list(served: Served, announced: Ids) -> None:
    client = served.client()
    there = post(client, "/topics", name="Bridges", keywords="bridge, 桥梁", urls="").headers[
        "location"
    ]
    assert "桥梁" in client.get(there).text
    token = {"X-Form-Token": form_token(client), "HX-Request": "true"}
    data = {"mark": "relevant", "topic": there.rpartition("/")[2]}
    row = client.post(f"/pages/{announced()[0]}/mark", data=data, headers=token).text
    assert re.search(r'value="relevant"[^>]*aria-pressed="true"', row)
    assert "Relevant" in client.get(there).text


def test_the_empty_list_of_a_topic_says_what_became_of_the_new_pages(
    served: Served, announced: Ids
) -> None:
    client = served.client()
    there = post(client, "/topics", name="Gardens", keywords="orchard", urls="").headers["location"]
    number, pages = there.rpartition("/")[2], announced()
    listed = f"/?topic={number}"
    assert f"{len(pages)} new pages are not scored yet" in client.get(listed).text
    for page in pages:
        post(client, f"/pages/{page}/mark", mark="irrelevant", topic=number)
    html = client.get(listed).text
    assert f"None of the {len(pages)} new pages is relevant" in html
    assert f"/?topic={number}&amp;verdict=irrelevant" in html


def test_a_label_from_the_page_of_a_page_makes_it_a_hub(served: Served) -> None:
    client = served.client()
    (page,) = served.store.read.find_page(HOME + "new-0.html", "")
    post(client, "/labels", page=page["id"], label="hub", back="/sites/1")
    said = served.store.read.labels()[-1]
    assert (said.url, said.label) == (HOME + "new-0.html", "hub")


def test_who_only_reads_is_shown_no_button_that_changes(served: Served) -> None:
    from incremental.interfaces.web.access import new_token

    token = new_token(served.store, "reader", "read", now=served.clock.now())
    client = served.client()
    post(client, "/login", secret=token)
    for path in ("/", "/sites/1", "/topics", "/pages/1"):
        html = client.get(path).text
        assert set(re.findall(r'method="post" action="([^"]+)"', html)) <= {
            "/preferences",
            "/logout",
        }


def test_a_seed_that_is_not_public_is_trouble_and_no_waiting(empty: Served) -> None:
    site = add_seed(empty.store, "https://intern.example/", now=START)
    (hub,) = empty.store.read.hubs()
    empty.store.write.postpone(hub.page_id, START, START + DAY, "forbidden_address")
    client = empty.client()
    found = client.get(f"/sites/{site}/found").text
    assert "address not public" in found
    assert "Waiting" not in found
    assert "could not be fetched yet" in client.get("/sites").text
    assert client.get("/api/v1/status").json()["sites"][0]["trouble"] == "forbidden_address"


@pytest.mark.parametrize(
    ("verdict", "fetched", "chip"),
    [
        ("relevant", True, "Bridges"),
        ("doubtful", True, "Bridges"),
        ("irrelevant", True, ""),
        ("relevant", False, "Bridges?"),
        ("doubtful", False, ""),
    ],
)
def test_a_row_names_topics_that_it_is_of_and_guesses_only_if_they_are_sure(
    served: Served, announced: Ids, verdict: str, chip: str, *, fetched: bool
) -> None:
    """With ten topics every fresh row would have ten names, most of them for nothing."""
    begin(served.store, "Bridges", examples=[], keywords=["bridge"], now=served.clock.now())
    page = served.store.answers.page(announced()[0])
    assert page is not None
    score = TopicScore(page.canonical_key, 1, 0.3, verdict, fetched, "links", "1", ())
    served.store.topics.put_scores(page.site_id, [score], now=served.clock.now())

    def chips(path: str) -> list[str]:
        html = served.client().get(path).text
        return re.findall(r'<a class="pill[^>]*>(Bridges[^<]*)</a>', html)

    assert chips("/") == [chip] * bool(chip)


# --- undo -------------------------------------------------------------------------------------


def test_feedback_that_is_undone_leaves_what_was_known_before(
    served: Served, announced: Ids
) -> None:
    begin(served.store, "Bridges", examples=[], keywords=["bridge"], now=served.clock.now())
    client, page = served.client(), announced()[0]
    key = served.store.answers.page(page).canonical_key  # type: ignore[union-attr]  # announced
    guess = TopicScore(key, 1, 0.6, "doubtful", True, "fused", "1", (("bridge", 0.5),))
    site = served.store.answers.page(page).site_id  # type: ignore[union-attr]  # likewise
    served.store.topics.put_scores(site, [guess], now=served.clock.now())
    before = served.store.topics.scores([page])
    post(client, f"/pages/{page}/mark", mark="irrelevant", topic=1)
    assert served.store.topics.scores([page])[0].verdict == "irrelevant"
    post(client, f"/pages/{page}/mark", mark="relevant", topic=1)
    post(client, "/undo")
    assert served.store.topics.said_of([key]) == {(1, key): "irrelevant"}
    post(client, "/undo")
    assert served.store.topics.said_of([key]) == {}
    assert served.store.topics.scores([page]) == before


def test_each_browser_undoes_its_own_changes(served: Served) -> None:
    mine, other = served.client(), served.client()
    post(mine, "/searches", name="bridges", q="bridge")
    post(mine, "/searches/bridges/remove")
    assert "Saved search removed" in mine.get("/feeds").text
    post(other, "/undo")
    assert served.store.answers.searches() == []
    post(mine, "/undo")
    post(mine, "/undo")
    assert [row.name for row in served.store.answers.searches()] == ["bridges"]


def test_a_search_marks_words_and_escapes_what_is_around_them() -> None:
    mark = marker('<b "old bridge" 招标')
    assert mark("<b> An Old, Bridge; oldest") == (
        "&lt;<mark>b</mark>&gt; An <mark>Old, Bridge</mark>; oldest"
    )
    assert mark("桥梁招標公告") == "桥梁<mark>招標</mark>公告"
    assert marker("")("<") == "&lt;"

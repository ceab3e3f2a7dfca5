"""A topic shows what it would do before it does it, and what it did, with undo."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from empty_store import open_in
from fake_web import DAY, START, FakeWeb, Watch
from lab.clocks import SimulatedClock
from topic_web import HOME, LATER, OLD, WORDS, address, shown, story
from web_served import Served, form_token, post, served_at

from incremental.base.errors import InputError
from incremental.interfaces.results.topics import preview_of_edit, preview_of_new
from incremental.topics.editing import begin
from incremental.topics.previewing import Preview
from store.answers import NewQuery
from store.enums import ExampleOrigin
from store.topics.values import TopicRow

NEWS = [*(("bridge", number) for number in range(10, 14)), *(("soup", n) for n in range(10, 34))]
BRIDGES = {address(*one) for one in NEWS if one[0] == "bridge"}
SOUPS = {address(*one) for one in NEWS if one[0] == "soup"}
OTHER_WORDS = WORDS["bridge"][:6]
BRIDGE, SOUP = address("bridge", 12), address("soup", 12)


@pytest.fixture(scope="module")
def two_subjects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with new stories, a few of them on bridges."""
    folder = tmp_path_factory.mktemp("two")
    pages: dict[str, Any] = {
        HOME: [(0, shown(*OLD)), (LATER, shown(*NEWS, *OLD))],
        **{address(*one): story(*one) for one in [*OLD, *NEWS]},
    }
    with Watch(folder, FakeWeb(SimulatedClock(START), pages), HOME) as crawl:
        crawl.run(3 * DAY)
    return folder


@pytest.fixture
def news(two_subjects: Path, tmp_path: Path) -> Iterator[Served]:
    folder = tmp_path / "copy"
    shutil.copytree(two_subjects, folder)
    with open_in(folder) as store:
        yield served_at(folder, SimulatedClock(START + 3 * DAY), store)


@pytest.fixture
def topic(news: Served) -> TopicRow:
    """A topic on bridges."""
    row, _ = begin(news.store, "bridges", examples=[], keywords=["bridge"], now=START)
    return row


def asked(served: Served, path: str, **body: Any) -> Any:
    return served.client().post(f"/api/v1/topics/{path}", json=body)


def urls(pages: list[dict[str, Any]]) -> set[str]:
    return {one["url"] for one in pages}


def test_a_change_is_tried_and_not_made(news: Served, topic: TopicRow) -> None:
    now = urls(asked(news, f"{topic.id}/preview").json()["shown"])
    found = asked(news, f"{topic.id}/preview", keywords=OTHER_WORDS).json()
    would, added, removed = (urls(found[name]) for name in ("shown", "added", "removed"))
    assert found["read"] == len(NEWS)
    assert now - would or would - now
    assert would
    assert (added, removed) == (would - now, now - would)
    counts = f"{len(added)} more and {len(removed)} fewer than now"
    said = f"Of the latest {len(NEWS)} pages it would show {len(would)}: {counts}."
    assert found["sentence"] == said
    assert news.store.topics.topic("bridges") == topic


def test_what_was_tried_is_what_comes(news: Served, topic: TopicRow) -> None:
    tried = asked(news, f"{topic.id}/preview", keywords=OTHER_WORDS).json()
    news.client().patch(f"/api/v1/topics/{topic.id}", json={"keywords": OTHER_WORDS})
    found = asked(news, f"{topic.id}/preview").json()
    assert urls(found["shown"]) == urls(tried["shown"])
    assert found["added"] == found["removed"] == []
    assert found["sentence"].endswith(f" it would show {len(found['shown'])}.")


@pytest.mark.parametrize("how", ["include", "exclude"])
@pytest.mark.parametrize("word", ["bridge", "violin"])
def test_words_that_narrow_it_count(news: Served, topic: TopicRow, how: str, word: str) -> None:
    shown = urls(asked(news, f"{topic.id}/preview").json()["shown"])
    found = asked(news, f"{topic.id}/preview", **{how: [word]}).json()
    left = shown if (word == "bridge") is (how == "include") else set()
    assert shown
    assert urls(found["shown"]) == left
    assert urls(found["removed"]) == shown - left


@pytest.mark.parametrize("origin", ["example", "relevant", "irrelevant"])
def test_a_page_can_be_tried_as_an_example_or_a_verdict(
    news: Served, topic: TopicRow, origin: str
) -> None:
    tried = BRIDGE if origin == "irrelevant" else SOUP
    found = asked(news, f"{topic.id}/preview", urls=[tried], origin=origin).json()
    assert (tried in urls(found["shown"])) is (origin != "irrelevant")
    assert news.store.topics.examples(topic.id) == []


def tried_new(served: Served, urls: list[str]) -> Preview:
    web = served.web
    return preview_of_new(
        served.store, web.settings, web.clock, keywords=[], description="", urls=urls
    )


def test_a_topic_is_tried_before_it_is_there(news: Served) -> None:
    found = tried_new(news, urls=[SOUP])
    shown = {row.url for row in found.shown}
    assert SOUP in shown
    assert not shown & BRIDGES
    assert found.added == found.removed == []
    assert news.store.topics.topics() == []


def test_what_cannot_be_tried_is_refused(news: Served) -> None:
    assert asked(news, "9/preview").status_code == 404
    with pytest.raises(InputError):
        tried_new(news, urls=[])


def test_a_preview_takes_what_saving_takes(news: Served, topic: TopicRow) -> None:
    """Also what changes nothing of the list, so that a form can send one thing to both."""
    now = asked(news, f"{topic.id}/preview").json()
    more = {"name": "other", "tags": ["work"], "state": "paused"}
    assert asked(news, f"{topic.id}/preview", **more).json() == now
    assert news.store.topics.topic("bridges") == topic
    refused = asked(news, f"{topic.id}/preview", name=" ")
    assert refused.status_code == 422


@pytest.mark.parametrize(("origin", "most"), [("example", 50), ("relevant", 300)])
def test_no_more_pages_are_tried_than_a_topic_learns_from(
    news: Served, topic: TopicRow, origin: str, most: int
) -> None:
    with pytest.raises(InputError, match=f"examples {most + 1}: at most {most}"):
        preview_of_edit(
            *(news.store, news.web.settings, news.clock, topic, {}),
            urls=[f"{HOME}{number}" for number in range(most + 1)],
            origin=ExampleOrigin(origin),
        )


def test_the_limit_of_examples_is_told(news: Served, topic: TopicRow) -> None:
    given = [f"{HOME}{number}" for number in range(51)]
    refused = asked(news, f"{topic.id}/preview", urls=given)
    assert refused.status_code == 400
    assert "at most 50" in refused.text
    with pytest.raises(InputError, match="at most 50"):
        tried_new(news, urls=given)


def test_the_form_has_a_preview(news: Served, topic: TopicRow) -> None:
    client = news.client()
    page = client.get(f"/topics/{topic.id}").text
    assert f'hx-post="/topics/{topic.id}/preview"' in page
    typed = {"name": "bridges", "method": "fused", "keywords": "bridge", "exclude": "the"}
    whole = post(client, f"/topics/{topic.id}/preview", **typed).text
    assert re.search(r"it would show 0: 0 more and [1-9] fewer than now", whole)
    assert "<title>Preview" in whole
    part = client.post(
        f"/topics/{topic.id}/preview",
        data={"form_token": form_token(client), **typed},
        headers={"HX-Request": "true"},
    ).text
    assert "<html" not in part
    assert "Removed (" in part
    refused = post(client, f"/topics/{topic.id}/preview", **typed | {"keywords": "?"}).text
    assert 'role="alert"' in refused


def test_a_new_topic_has_a_preview_as_well(empty: Served) -> None:
    client = empty.client(accept_language="zh")
    assert 'hx-post="/topics/preview"' in client.get("/topics").text
    assert "还没有可供试验的已读页面" in post(client, "/topics/preview", keywords="桥").text


def test_a_changed_topic_can_be_changed_back(news: Served, topic: TopicRow) -> None:
    client = news.client()
    typed = {"name": "soups", "method": "vsm", "keywords": "soup", "tags": "work", "exclude": "x"}
    post(client, f"/topics/{topic.id}/edit", **typed)
    assert "Topic changed" in client.get(f"/topics/{topic.id}").text
    post(client, "/undo")
    row = news.store.topics.topic("bridges")
    assert row is not None
    assert (row.keywords, row.description) == (topic.keywords, topic.description)
    assert (row.method, row.exclude, news.store.tags.of_topics()) == ("fused", "[]", {})


def test_a_thumb_says_what_it_did_to_the_list(news: Served, topic: TopicRow) -> None:
    client = news.client()
    pages = {row.url: row.page_id for row in news.store.answers.new(NewQuery()).rows}

    def pressed(mark: str) -> str:
        data = {"form_token": form_token(client), "mark": mark, "topic": topic.id}
        path = f"/pages/{pages[SOUP]}/mark"
        return client.post(path, data=data, headers={"HX-Request": "true"}).text

    (link,) = re.findall(r'hx-post="(/topics/[^"]+)"', pressed("relevant"))
    said = client.post(
        link.replace("&amp;", "&"),
        data={"form_token": form_token(client)},
        headers={"HX-Request": "true"},
    ).text
    assert re.fullmatch(r"Of the latest 28 pages it now shows \d+: [1-9]\d* more and \d .*", said)
    assert "/effect" not in pressed("star")


@pytest.mark.parametrize(
    ("read", "latest", "said"),
    [
        (12, 12, "Of the latest 12 pages it now shows 0."),
        (3, 12, "Of the 3 pages read of the latest 12 it now shows 0."),
        (1, 12, "Of the one page read of the latest 12 it now shows 0."),
        (1, 1, "Of the one page read so far it now shows 0."),
    ],
)
def test_pages_that_were_not_read_in_time_are_not_counted_as_read(
    read: int, latest: int, said: str
) -> None:
    assert Preview(read, latest, [], [], []).said("now") == said

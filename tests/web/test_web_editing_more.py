"""Editing topics, training and searching, in the page and the API."""

import threading
from typing import Any

import pytest
from stories import START
from web_served import Served, post

from incremental.base.errors import InputError
from incremental.interfaces.web.background import Background
from incremental.topics.editing import begin

# --- topics -----------------------------------------------------------------------------------


@pytest.fixture
def topic(served: Served) -> int:
    now = served.clock.now()
    begin(served.store, "Other", examples=[], keywords=["ferry"], now=now)
    example = served.store.read.urls([1])
    row, _ = begin(served.store, "Bridges", examples=example, keywords=["bridge"], now=now)
    return row.id


def test_a_topic_is_renamed_and_given_other_words(served: Served, topic: int) -> None:
    client = served.client()
    form = {"name": "Brücken", "keywords": "bridge， 桥梁, ", "method": "vsm"}
    assert post(client, f"/topics/{topic}/edit", **form).status_code == 303
    facts = client.get(f"/api/v1/topics/{topic}").json()
    assert (facts["name"], facts["keywords"], facts["method"]) == (
        "Brücken",
        ["bridge", "桥梁"],
        "vsm",
    )
    assert 'value="bridge, 桥梁"' in client.get(f"/topics/{topic}").text


def test_the_name_of_a_topic_is_its_own(served: Served, topic: int) -> None:
    client = served.client(Accept_Language="zh")
    form = {"name": "Other", "keywords": "bridge", "method": "fused"}
    assert "已被其他主题使用" in post(client, f"/topics/{topic}/edit", **form).text
    taken = client.patch(f"/api/v1/topics/{topic}", json={"name": "Other"})
    assert (taken.status_code, "choose another" in taken.json()["detail"]) == (400, True)
    assert client.get(f"/api/v1/topics/{topic}").json()["name"] == "Bridges"


def test_an_example_is_forgotten_but_not_the_last_thing_to_learn_from(
    served: Served, topic: int
) -> None:
    client = served.client()
    (example,) = served.store.topics.examples(topic)
    client.patch(f"/api/v1/topics/{topic}", json={"keywords": []})
    assert "only example" in post(client, f"/topics/{topic}/forget", example=example.id).text
    client.patch(f"/api/v1/topics/{topic}", json={"keywords": ["bridge"]})
    post(client, f"/topics/{topic}/forget", example=example.id)
    assert served.store.topics.examples(topic) == []
    assert post(client, f"/topics/{topic}/forget", example=example.id).status_code == 404


# --- work that takes minutes ------------------------------------------------------------------


def test_one_work_of_a_name_at_a_time_and_its_end_is_kept() -> None:
    waiting: list[Any] = []
    background = Background(lambda: START, start=waiting.append)
    first = background.begin("training", lambda: "done")
    assert background.begin("training", lambda: "again") is first
    assert first.running
    waiting.pop()()
    assert waiting == []
    ended = background.last("training")
    assert ended is not None
    assert (ended.running, ended.result, ended.error) == (False, "done", "")


@pytest.mark.parametrize(
    ("error", "said"),
    [(InputError("url", "x", "mend it"), "url 'x': mend it"), (KeyError("k"), "KeyError: 'k'")],
)
def test_work_that_fails_says_why(error: Exception, said: str) -> None:
    def fails() -> None:
        raise error

    background = Background(lambda: START, start=lambda work: work())
    background.begin("x", fails)
    ended = background.last("x")
    assert ended is not None
    assert (ended.error, ended.running) == (said, False)


def test_a_search_for_sites_is_begun_from_the_page(served: Served, topic: int) -> None:
    """The topic has nothing to search with yet, which is an answer."""
    client = served.client()
    path = f"/topics/{topic}/discovery"
    assert "Search now" in client.get(path).text
    assert post(client, path, pages=1).headers["location"] == path
    for thread in threading.enumerate():
        if thread.name == "nightly":
            thread.join(60)
    work = served.web.background.last(f"search {topic}")
    assert work is not None
    assert not work.running
    assert post(served.client(), "/topics/99/discovery").status_code == 404

"""Tags and words in the page, the API, feeds and the command line."""

import pytest
from cli_runner import Run
from web_served import HOME, OTHER, Served, post

from incremental.topics.editing import begin

FORM = {"name": "other.example", "reach": "host"}


@pytest.fixture
def tagged(served: Served) -> Served:
    """The second site and a topic have the tag 桥梁; the first has two others."""
    client = served.client()
    post(client, "/sites/2/edit", **FORM, tags="桥梁")
    client.patch("/api/v1/sites/1", json={"tags": ["Press", "a&b"]})
    begin(served.store, "Bridges", examples=[], keywords=["bridge"], now=served.clock.now())
    client.patch("/api/v1/topics/1", json={"tags": ["桥梁"]})
    return served


def test_lists_are_narrowed_by_a_tag(tagged: Served) -> None:
    client = tagged.client()
    found = client.get("/api/v1/pages", params={"tag": "桥梁"}).json()["pages"]
    assert [one["url"] for one in found] == [OTHER + "b.html"]
    shown = client.get("/", params={"tag": "桥梁"}).text
    assert "<option selected>桥梁</option>" in shown
    assert HOME + "new-1.html" not in shown
    assert [one["id"] for one in client.get("/api/v1/sites?tag=Press").json()] == [1]
    assert 'href="/sites/1"' not in client.get("/sites?tag=桥梁").text
    tags = tagged.store.tags.tags()
    assert [(one.name, one.sites, one.topics) for one in tags] == [
        ("a&b", 1, 0),
        ("Press", 1, 0),
        ("桥梁", 1, 1),
    ]


@pytest.mark.parametrize("path", ["/api/v1/sites", "/api/v1/pages"])
def test_a_tag_that_nothing_has_is_an_error_that_names_those_there_are(
    tagged: Served, path: str
) -> None:
    answer = tagged.client().get(path, params={"tag": "Pres"})
    assert answer.status_code == 404
    assert "Press" in answer.text


def test_a_tag_has_a_feed(tagged: Served) -> None:
    client = tagged.client()
    feed = client.get("/feeds/tag/桥梁.json").json()
    assert [item["url"] for item in feed["items"]] == [OTHER + "b.html"]
    assert client.get("/feeds/tag/none.atom").status_code == 404
    assert "/feeds/tag/%E6%A1%A5%E6%A2%81.atom" in client.get("/feeds").text


def test_a_search_that_was_saved_keeps_its_tag(tagged: Served) -> None:
    client = tagged.client()
    post(client, "/searches", name="Bridges", tag="桥梁")
    answer = client.get("/searches/Bridges", follow_redirects=False)
    assert "tag=%E6%A1%A5" in answer.headers["location"]
    feed = client.get("/feeds/search/Bridges.json").json()
    assert len(feed["items"]) == 1


@pytest.mark.parametrize("tag", ["x" * 41, "a,b"])
def test_a_tag_that_cannot_be_is_refused(served: Served, tag: str) -> None:
    answer = served.client().patch("/api/v1/sites/1", json={"tags": [tag]})
    assert answer.status_code in (400, 422)
    assert served.store.tags.tags() == []


def test_words_of_a_topic_are_edited_in_the_page(tagged: Served) -> None:
    client = tagged.client()
    form = {"name": "Bridges", "method": "fused", "keywords": "bridge", "tags": "桥梁"}
    post(client, "/topics/1/edit", **form, include="tender，招标", exclude="draft")
    facts = client.get("/api/v1/topics/1").json()
    assert (facts["include"], facts["exclude"]) == (["tender", "招标"], ["draft"])
    assert facts["tags"] == ["桥梁"]
    refused = client.patch("/api/v1/topics/1", json={"include": ["!!"]})
    assert (refused.status_code, "a word or a short phrase" in refused.text) == (400, True)


def test_tags_in_the_command_line(hubwatch: Run, found: list[str]) -> None:
    hubwatch("edit", "1", "--tag", "press", "--tag", "north")
    assert hubwatch("list", "--tag", "press", "--json").json[0]["tags"] == ["north", "press"]
    assert {row["url"] for row in hubwatch("new", "--tag", "press", "--json").json} == set(found)
    hubwatch("add", "https://second.example/", "--tag", "south")
    assert hubwatch("new", "--tag", "south", "--json").json == []
    unknown = hubwatch("new", "--tag", "west")
    assert (unknown.code, "known: north, press, south" in unknown.err) == (4, True)
    hubwatch("topic", "add", "Bridges", "--keyword", "bridge")
    facts = hubwatch(
        *("topic", "edit", "Bridges", "--tag", "south", "--exclude", "draft", "--json")
    ).json
    assert (facts["tags"], facts["exclude"]) == (["south"], ["draft"])
    hubwatch("edit", "1", "--tag", "")
    assert hubwatch("list", "--json").json[0]["tags"] == []

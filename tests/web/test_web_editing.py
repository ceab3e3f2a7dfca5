"""Editing in the page and the API: sites, visits now, several hubs at once."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from web_served import HOME, Served, post

from incremental.settings import SiteSettings

FORM: dict[str, Any] = {
    "name": "The news",
    "reach": "domain",
    "include": "*/news/* */press/*",
    "exclude": "",
    "requests_per_day": "12.5",
    "min_interval_minutes": "",
    "max_interval_hours": "48",
    "hours": "22:00-06:30, 12-13",
}


def test_a_site_is_edited_where_it_is_seen(served: Served) -> None:
    client = served.client()
    assert post(client, "/sites/1/edit", **FORM).headers["location"] == "/sites/1"
    site = client.get("/api/v1/sites/1").json()
    assert (site["name"], site["reach"], site["requests_per_day"]) == ("The news", "domain", 12.5)
    assert (site["include"], site["hours"]) == (["*/news/*", "*/press/*"], ["22:00-06:30", "12-13"])
    assert (site["min_interval_minutes"], site["max_interval_hours"]) == (None, 48)
    shown = client.get("/sites/1").text
    assert 'value="22:00-06:30 12-13"' in shown
    post(client, "/sites/1/edit", **{**FORM, "hours": "", "requests_per_day": ""})
    again = client.get("/api/v1/sites/1").json()
    assert (again["hours"], again["requests_per_day"]) == (None, None)


@pytest.mark.parametrize(
    ("wrong", "english", "chinese"),
    [
        ({"name": "other.example"}, "is the name of another site", "已被其他站点使用"),
        ({"hours": "25-26"}, "give a span of hours in UTC", "请输入 UTC 时段"),
        ({"requests_per_day": "many"}, "must be a number", "必须是数字"),
    ],
)
def test_what_is_refused_stays_in_the_form_with_the_reason(
    served: Served, wrong: dict[str, str], english: str, chinese: str
) -> None:
    for language, why in (("en", english), ("zh", chinese)):
        client = served.client(Accept_Language=language)
        answer = post(client, "/sites/1/edit", **{**FORM, **wrong})
        assert why in answer.text
        assert f'value="{next(iter(wrong.values()))}"' in answer.text
    assert served.client().get("/api/v1/sites/1").json()["name"] == "news.example"


def test_terms_of_the_settings_file_cannot_be_edited_in_the_page(served: Served) -> None:
    settings = msgspec.structs.replace(served.web.settings, site=(SiteSettings(HOME),))
    object.__setattr__(served.web, "settings", settings)
    client = served.client()
    assert "sets the terms of this site" in client.get("/sites/1").text
    post(client, "/sites/1/edit", name="The news")
    assert client.get("/api/v1/sites/1").json()["name"] == "The news"
    refused = client.patch("/api/v1/sites/1", json={"reach": "domain"})
    assert (refused.status_code, "[[site]]" in refused.json()["detail"]) == (400, True)


def test_the_api_changes_only_what_it_is_given(served: Served) -> None:
    client = served.client()
    client.patch("/api/v1/sites/1", json={"include": ["*/a/*"], "hours": []})
    site = client.patch("/api/v1/sites/1", json={"name": "N", "state": "paused"}).json()
    assert (site["name"], site["state"], site["include"]) == ("N", "paused", ["*/a/*"])
    assert (site["hours"], site["reach"]) == ([], "host")
    taken = client.patch("/api/v1/sites/1", json={"name": "other.example"})
    assert (taken.status_code, "choose another" in taken.json()["detail"]) == (400, True)


def test_a_site_a_hub_and_a_page_are_visited_now(served: Served, announced: Any) -> None:
    client = served.client()
    said = post(client, "/visits", site=1, back="/sites/1")
    assert "1 page will be visited as soon as" in client.get(said.headers["location"]).text
    page_id = announced()[0]
    said = post(client, "/visits", page=page_id, back=f"/pages/{page_id}")
    assert "1 page will be visited as soon as" in client.get(said.headers["location"]).text
    asked = client.post("/api/v1/visits", json={"urls": [HOME], "sites": [2]}).json()
    assert {one["refused"] for one in asked} == {""}
    requests = served.store.editing.visit_requests()
    assert set(requests) == {1, 2}
    assert page_id in [*requests[1], *requests[2]]


def test_a_visit_asked_for_while_no_daemon_runs_says_what_it_waits_for(served: Served) -> None:
    idle = replace(served, web=replace(served.web, crawling=False))
    said = post(idle.client(), "/visits", site=1, back="/sites/1")
    text = idle.client().get(said.headers["location"]).text
    assert "will be visited once the daemon runs: hubwatch run" in text


def test_a_refused_visit_says_why_and_shows_nothing_else_from_the_address(served: Served) -> None:
    client = served.client(Accept_Language="zh")
    client.patch("/api/v1/sites/1", json={"state": "paused"})
    said = post(client, "/visits", site=1, back="/sites/1")
    assert "已暂停，请先恢复" in client.get(said.headers["location"]).text
    assert "call me" not in client.get("/sites/1?refused=call+me").text


def test_several_hubs_are_corrected_at_once(served: Served) -> None:
    client = served.client()
    pages = served.store.read.find_page(HOME + "new-0.html", "")
    pages += served.store.read.find_page(HOME + "new-1.html", "")
    chosen = [row["id"] for row in pages]
    post(client, "/labels", page=chosen, label="hub")
    assert all(served.store.read.hub(one) for one in chosen)
    post(client, "/visits", page=chosen)
    assert served.store.editing.visit_requests() == {1: sorted(chosen)}
    post(client, "/labels", page=chosen, label="article")
    assert not any(served.store.read.hub(one) for one in chosen)


def test_a_seed_that_is_said_to_be_no_hub_stays_one(served: Served) -> None:
    client = served.client()
    (seed,) = served.store.read.find_page(HOME, "")
    said = post(client, "/labels", page=[seed["id"]], label="article", back="/sites/1")
    shown = client.get(said.headers["location"]).text
    assert "this is the seed of news.example and stays a hub" in shown
    assert served.store.read.hub(seed["id"]) is not None

"""The API: what the command line does, for programs; and whatever is sent, no answer of 500."""

from collections.abc import Callable
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from web_served import HOME, OTHER, Served

from incremental.interfaces.web.access import new_token
from incremental.interfaces.web.app import make_app

Ids = Callable[[], list[int]]
EXAMPLES = 8
"""Of each operation: enough for each parameter to be left out, odd and huge once."""
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


def asked_by_schemathesis(served: Served) -> Any:
    """Return the application behind its guard, asked with a token under the name that schemathesis uses."""
    token = new_token(served.store, "test", "write", now=served.clock.now())
    app = make_app(served.with_settings(password="x", allowed_hosts=("testserver",)).web)
    bearer = (b"authorization", f"Bearer {token}".encode())

    async def asked(scope: Any, receive: Any, send: Any) -> None:
        kept = [pair for pair in scope.get("headers", ()) if pair[0] != b"authorization"]
        await app({**scope, "headers": [*kept, bearer]}, receive, send)

    return asked


def test_the_api_keeps_to_its_own_description(served: Served) -> None:
    """Status codes, content types and shapes are those of the OpenAPI document; nothing is a 500."""
    app = asked_by_schemathesis(served)
    schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", app)
    operations: list[Any] = [found.ok() for found in schema.get_all_operations()]  # type: ignore[union-attr]  # an error in our document fails here
    assert len(operations) > 25
    for operation in operations:

        @settings(
            max_examples=EXAMPLES,
            database=None,
            derandomize=True,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def keeps(case: Any) -> None:
            case.call_and_validate(checks=CHECKS)

        keeps()


# --- pages ------------------------------------------------------------------------------------


def test_new_pages_are_paged_without_skip_or_repeat(served: Served) -> None:
    client = served.client()
    whole = client.get("/api/v1/pages").json()
    assert sorted(page["url"] for page in whole["pages"]) == [
        *(f"{HOME}new-{n}.html" for n in range(3)),
        OTHER + "b.html",
    ]
    found, cursor, more = [], None, True
    while more:
        after: dict[str, Any] = {} if cursor is None else {"after": cursor}
        part = client.get("/api/v1/pages", params={"limit": 1, "order": "newest", **after}).json()
        found += [page["id"] for page in part["pages"]]
        cursor, more = part["cursor"], part["more"]
    assert found == [page["id"] for page in whole["pages"]]


def test_following_on_gives_only_what_came_since(served: Served) -> None:
    client = served.client()
    pages = client.get("/api/v1/pages", params={"order": "oldest"}).json()["pages"]
    after = pages[1]["cursor"]
    later = client.get("/api/v1/pages", params={"after": after}).json()
    assert [page["id"] for page in later["pages"]] == [page["id"] for page in pages[2:]]
    assert client.get("/api/v1/pages", params={"after": later["cursor"]}).json()["pages"] == []


@pytest.mark.parametrize(
    ("params", "urls"),
    [
        ({"site": 2}, [OTHER + "b.html"]),
        ({"q": "招标"}, [OTHER + "b.html"]),
        ({"q": "bridge"}, [HOME + "new-0.html"]),
        ({"since": "2000-01-01", "until": "2001-01-01"}, []),
        ({"show": "starred"}, []),
    ],
)
def test_new_pages_are_narrowed(served: Served, params: dict[str, Any], urls: list[str]) -> None:
    answer = served.client().get("/api/v1/pages", params=params).json()
    assert [page["url"] for page in answer["pages"]] == urls


def test_marks_are_set_in_bulk_and_asked_for(served: Served, announced: Ids) -> None:
    client, (first, second, *_) = served.client(), announced()
    order = {"pages": [first, second, 10**9], "read": True, "starred": True}
    assert client.post("/api/v1/pages/marks", json=order).json() == {"pages": [first, second]}
    starred = client.get("/api/v1/pages", params={"show": "starred"}).json()["pages"]
    assert [page["id"] for page in starred] == [first, second]
    assert len(client.get("/api/v1/pages", params={"show": "unread"}).json()["pages"]) == 2


def test_everything_about_one_page(served: Served) -> None:
    client = served.client()
    page = client.get("/api/v1/pages/lookup", params={"url": HOME + "new-0.html"}).json()
    base = f"/api/v1/pages/{page['id']}"
    assert page["title"] == "The bridge"
    assert "open again" in client.get(f"{base}/text").json()["text"]
    changes = client.get(f"{base}/history").json()
    assert [change["kind"] for change in changes] == ["changed", "added"]


def test_what_a_change_changed(served: Served) -> None:
    client = served.client()
    page = client.get("/api/v1/pages/lookup", params={"url": HOME + "new-0.html"}).json()
    change = client.get(f"/api/v1/pages/{page['id']}/history").json()[0]["id"]
    for params in ({"change": change}, {}):
        diff = client.get(f"/api/v1/pages/{page['id']}/diff", params=params).json()
        assert {"-", "+"} == {line[0] for line in diff["lines"]}
        assert any("again" in line for line in diff["lines"] if line[0] == "+")
    earlier = {"at": "2024-06-04"}
    assert "closed" in client.get(f"/api/v1/pages/{page['id']}/text", params=earlier).json()["text"]


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/pages/999999",
        "/api/v1/pages/lookup?url=https://news.example/never.html",
        "/api/v1/pages/1/diff?change=9",
        "/api/v1/sites/99",
        "/api/v1/topics/99",
        "/api/v1/hubs?site=99",
        *(f"/api/v1/{kind}?site=99" for kind in ("pages", "visits", "changes")),
        "/api/v1/pages?topic=99",
        "/api/v1/pages?tag=nope",
        "/api/v1/nothing",
    ],
)
def test_what_is_not_there_is_404_with_a_reason(served: Served, path: str) -> None:
    answer = served.client().get(path)
    assert answer.status_code == 404
    assert answer.json()["detail"]


@pytest.mark.parametrize(
    "params",
    [
        {"after": "x"},
        {"after": -1},
        {"after": 2**63},
        {"limit": 0},
        {"limit": 10**9},
        {"since": "yesterday"},
        {"since": "9" * 30 + "d"},
        {"order": "random"},
        {"site": 0},
        {"sine": "1d"},
    ],
)
def test_a_bad_question_is_refused(served: Served, params: dict[str, Any]) -> None:
    assert served.client().get("/api/v1/pages", params=params).status_code in (400, 422)


def test_an_answer_is_not_sent_twice(served: Served, announced: Ids) -> None:
    client = served.client()
    first = client.get("/api/v1/pages")
    known = {"If-None-Match": first.headers["etag"]}
    again = client.get("/api/v1/pages", headers=known)
    assert (again.status_code, again.content) == (304, b"")
    client.post("/api/v1/pages/marks", json={"pages": announced()[:1], "read": True})
    assert client.get("/api/v1/pages", headers=known).status_code == 200


# --- what is watched, and teaching ------------------------------------------------------------


def test_sites_are_added_in_bulk_each_with_its_result(served: Served) -> None:
    client = served.client()
    order = {"urls": ["third.example", "not an address"], "requests_per_day": 10, "reach": "domain"}
    good, bad = client.post("/api/v1/sites", json=order).json()
    assert "not a web address" in bad["error"]
    site = client.get(f"/api/v1/sites/{good['site_id']}").json()
    assert (site["seed"], site["reach"]) == ("https://third.example/", "domain")
    assert client.delete(f"/api/v1/sites/{site['id']}").status_code == 204
    assert client.get(f"/api/v1/sites/{site['id']}").status_code == 404


def test_a_switch_is_no_number(served: Served) -> None:
    client = served.client()
    for value in (False, True):
        assert client.patch("/api/v1/sites/1", json={"requests_per_day": value}).status_code == 422
    starred = client.post("/api/v1/pages/marks", json={"pages": [1], "starred": True})
    assert starred.status_code != 422


def test_the_defaults_of_the_description_fit_their_own_bounds(served: Served) -> None:
    """As openapi-spec-validator asks of a document."""
    shapes = served.client().get("/api/v1/openapi.json").json()["components"]["schemas"]
    fields = [
        field
        for shape in shapes.values()
        for field in shape.get("properties", {}).values()
        if "default" in field
    ]
    assert len(fields) > 20
    for field in fields:
        within = {**field, "components": {"schemas": shapes}}
        assert jsonschema_rs.is_valid(within, field["default"]), field


def test_adding_a_known_site_without_terms_leaves_its_own(served: Served) -> None:
    client = served.client()
    client.post("/api/v1/sites", json={"urls": [HOME], "requests_per_day": 7})
    client.post("/api/v1/sites", json={"urls": [HOME]})
    assert client.get("/api/v1/sites/1").json()["requests_per_day"] == 7


def test_hubs_and_labels(served: Served) -> None:
    client = served.client()
    assert HOME in [hub["url"] for hub in client.get("/api/v1/hubs?site=1").json()]
    order = {"urls": [HOME + "tags/", HOME], "label": "article"}
    done, refused = client.post("/api/v1/labels", json=order).json()
    assert done["label"] == "article"
    assert "stays a hub" in refused["error"]
    assert served.store.read.labels()[-1].url == HOME + "tags/"
    assert "hub_score" in client.get("/api/v1/check", params={"url": HOME + "x"}).json()


def test_topics_are_begun_trained_and_ended(served: Served) -> None:
    client = served.client()
    order = {"name": "Bridges", "keywords": ["bridge"], "examples": [HOME + "new-0.html"]}
    topic = client.post("/api/v1/topics", json=order).json()
    path = f"/api/v1/topics/{topic['id']}"
    judged = {"urls": [OTHER + "b.html"], "relevant": False}
    assert client.post(f"{path}/examples", json=judged).status_code == 200
    origins = {one.origin for one in served.store.topics.examples(topic["id"])}
    assert origins == {"example", "irrelevant"}
    assert client.patch(path, json={"state": "paused"}).json()["state"] == "paused"
    assert client.delete(path).status_code == 204
    assert client.get("/api/v1/topics").json() == []


def test_status(served: Served) -> None:
    client = served.client()
    status = client.get("/api/v1/status").json()
    assert [site["name"] for site in status["sites"]] == ["news.example", "other.example"]


def test_an_unknown_name_in_an_order_is_refused(served: Served) -> None:
    order = {"urls": ["a.example"], "requests_per_dy": 5}
    assert served.client().post("/api/v1/sites", json=order).status_code == 422

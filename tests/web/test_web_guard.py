"""Who may come in: deny by default, known names alone, our own forms alone, small bodies alone."""

import base64
import contextlib
import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
import requests
from fastapi.routing import APIRoute
from starlette.routing import Mount, Route
from web_served import ADDRESS, Served, form_token, post

from incremental.base.errors import SettingsError
from incremental.interfaces.web.access import FREE_GUESSES, Gate, Throttle, new_token
from incremental.interfaces.web.app import make_routes
from incremental.interfaces.web.guard import MOST_BODY_BYTES
from incremental.interfaces.web.server import refuse_unguarded
from incremental.interfaces.web.server import served as serving

PASSWORD = "correct horse battery staple"
MAY_BE_ASKED_BY_ANYBODY = {"/login", "/healthz", "/static/app.css"}


def every_route(served: Served) -> list[tuple[str, str]]:
    """Return method and a path for each route that there is, parameters filled in."""
    app = make_routes(served.web, Gate("", Throttle()))
    found = []
    for route in _leaves(app.router.routes):
        path = re.sub(r"\{form\}", "atom", route.path)
        path = re.sub(r"\{[^}]+\}", "1", path)
        found += [(method, path) for method in (route.methods or {"GET"})]
    return [*found, ("GET", "/static/app.css"), ("GET", "/not-there"), ("OPTIONS", "/")]


def _leaves(routes: Any) -> list[Route]:
    """Return the routes of a tree: a library may keep an included router as one entry."""
    found: list[Route] = []
    for route in routes:
        inner = getattr(route, "routes", None)
        if inner is None and hasattr(route, "original_router"):
            inner = route.original_router.routes
        if isinstance(route, Route):
            found.append(route)
        elif inner and not isinstance(route, Mount):
            found += _leaves(inner)
    return found


def test_every_route_is_closed_to_who_shows_nothing(empty: Served) -> None:
    guarded = empty.with_settings(password=PASSWORD)
    client = guarded.client()
    routes = every_route(guarded)
    assert len(routes) > 70
    for method, path in routes:
        answer = client.request(method, path, follow_redirects=False)
        if path in MAY_BE_ASKED_BY_ANYBODY and method == "GET":
            assert answer.status_code == 200, path
        elif path in {"/login", "/preferences"}:
            assert answer.status_code == 403, method
        elif path.startswith("/answer/"):
            assert answer.status_code == (404 if method == "GET" else 403), method
        else:
            assert answer.status_code in (401, 303), (method, path)
            assert answer.headers.get("location", "/login").startswith("/login"), (method, path)


def test_nothing_that_is_known_shows_to_who_shows_nothing(served: Served) -> None:
    client = served.with_settings(password=PASSWORD).client()
    for path in ("/login", "/healthz", "/", "/api/v1/pages", "/feeds/new.atom", "/metrics"):
        assert "example" not in client.get(path).text


def test_without_password_and_token_this_machine_may_do_all(served: Served) -> None:
    client = served.client()
    assert client.get("/").status_code == 200
    assert post(client, "/sites/1/state", state="paused").status_code == 303
    assert served.store.read.sites()[0].state == "paused"


def test_a_token_closes_the_open_door(served: Served) -> None:
    new_token(served.store, "reader", "read", now=served.clock.now())
    assert served.client().get("/", follow_redirects=False).status_code == 303


# --- names ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", ""]
)
def test_a_name_that_is_not_ours_is_refused(served: Served, name: str) -> None:
    """DNS rebinding: another site's name, led to our address, brings its own scripts along."""
    assert served.client().get("/", headers={"Host": name}).status_code == 400


@pytest.mark.parametrize(
    "name", ["localhost:8787", "127.0.0.1", "[::1]:8787", "192.0.2.7", "LOCALHOST"]
)
def test_names_of_this_machine_and_addresses_are_ours(served: Served, name: str) -> None:
    assert served.client().get("/", headers={"Host": name}).status_code == 200


def test_names_of_the_settings_are_ours(empty: Served) -> None:
    guarded = empty.with_settings(password=PASSWORD, allowed_hosts=("news.example.org",))
    assert guarded.client().get("/login", headers={"Host": "news.example.org"}).status_code == 200


# --- changes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_form_of_another_site_changes_nothing(served: Served, headers: dict[str, str]) -> None:
    client = served.client()
    data = {"form_token": form_token(client), "state": "paused"}
    assert client.post("/sites/1/state", data=data, headers=headers).status_code == 403
    order = {"state": "paused"}
    assert client.patch("/api/v1/sites/1", json=order, headers=headers).status_code == 403
    assert served.store.read.sites()[0].state == "active"


def test_compressed_answers_give_no_token_away(served: Served) -> None:
    """A token that stays could be read from the sizes of answers (BREACH)."""
    client = served.client()
    assert client.get("/").headers["content-encoding"] == "gzip"
    first, second = form_token(client), form_token(client)
    assert first != second
    for token in (first, second):
        data = {"form_token": token, "state": "paused"}
        assert client.post("/sites/1/state", data=data).status_code == 200


def test_a_form_without_the_token_of_the_page_changes_nothing(served: Served) -> None:
    client = served.client()
    for token in ("", "0" * 64, form_token(served.client())):
        data = {"form_token": token, "state": "paused"}
        assert client.post("/sites/1/state", data=data).status_code == 403
    assert served.store.read.sites()[0].state == "active"


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_the_api_takes_no_body_that_a_form_could_send(served: Served, kind: str) -> None:
    body = b'{"state": "paused"}'
    answer = served.client().patch("/api/v1/sites/1", content=body, headers={"Content-Type": kind})
    assert answer.status_code == 403


def test_a_program_on_this_machine_may_change_things(served: Served) -> None:
    assert served.client().patch("/api/v1/sites/1", json={"state": "paused"}).status_code == 200


def test_a_refused_form_is_answered_by_a_page_in_the_language_of_the_reader(
    served: Served,
) -> None:
    client = served.client()
    post_to = "/sites/1/state"
    refused = client.post(post_to, data={"state": "paused"}, headers={"Accept-Language": "zh"})
    assert refused.status_code == 403
    assert refused.headers["Content-Type"].startswith("text/html")
    assert '<html lang="zh-Hans">' in refused.text
    assert "请求并非来自本站页面" in refused.text
    part = client.post(post_to, data={"state": "paused"}, headers={"HX-Request": "true"})
    assert part.text.startswith('<p class="problem"')
    assert "did not come from a page of this server" in part.text
    api = client.post("/api/v1/sites", data={"state": "paused"})
    assert api.json()["detail"].startswith("a change needs a JSON body")


@pytest.mark.parametrize("path", ["/", "/sites", "/feeds/new.atom", "/healthz", "/static/app.css"])
def test_head_is_answered_like_get_without_a_body(served: Served, path: str) -> None:
    """By a real server: uptime monitors and some readers ask so."""
    with serving(served.with_settings(port=0).web) as url:
        found = requests.head(url.rstrip("/") + path, timeout=20)
        assert (found.status_code, found.content) == (200, b"")
        assert (
            found.headers["Content-Type"]
            == requests.get(url.rstrip("/") + path, timeout=20).headers["Content-Type"]
        )


def test_an_address_that_takes_no_such_request_says_so(served: Served) -> None:
    answer = post(served.client(), "/status")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET")
    assert "This address takes GET only." in answer.text


def test_a_missing_page_is_named_so_in_its_title(served: Served) -> None:
    answer = served.client().get("/not-there", headers={"Accept-Language": "zh"})
    assert answer.status_code == 404
    assert "<title>没有这个页面 · Hubwatch</title>" in answer.text
    assert "操作未成功" not in answer.text.partition("<main")[0].partition("<body")[0]


def test_a_body_that_is_too_large_is_refused(served: Served) -> None:
    client = served.client()
    assert client.post("/api/v1/sites", content=b"x" * (MOST_BODY_BYTES + 1)).status_code == 413

    def endless() -> Any:
        for _ in range(100):
            yield b"x" * 100_000

    assert client.post("/api/v1/sites", content=endless()).status_code == 413


# --- credentials ------------------------------------------------------------------------------


def test_a_read_token_reads_and_changes_nothing(served: Served) -> None:
    token = new_token(served.store, "reader", "read", now=served.clock.now())
    client = served.client(Authorization=f"Bearer {token}")
    assert client.get("/api/v1/sites").status_code == 200
    assert client.patch("/api/v1/sites/1", json={"state": "paused"}).status_code == 403
    assert client.post("/sites/1/state", data={"state": "paused"}).status_code == 403


def test_a_write_token_needs_no_form(served: Served) -> None:
    token = new_token(served.store, "script", "write", now=served.clock.now())
    client = served.client(Authorization=f"Bearer {token}")
    assert client.patch("/api/v1/sites/1", json={"state": "paused"}).status_code == 200


@pytest.mark.parametrize(
    "authorization",
    [
        "Bearer",
        "Bearer nonsense",
        "Basic !!!",
        "Basic " + base64.b64encode(b"\xff:x").decode(),
        "Digest x",
    ],
)
def test_a_wrong_token_opens_nothing(served: Served, authorization: str) -> None:
    new_token(served.store, "script", "write", now=served.clock.now())
    client = served.client(Authorization=authorization)
    assert client.get("/api/v1/sites").status_code == 401


def test_a_wrong_token_is_refused_even_where_none_is_needed(served: Served) -> None:
    assert served.client(Authorization="Bearer x").get("/api/v1/sites").status_code == 401


def test_a_feed_reader_may_give_its_token_as_a_password_or_in_the_address(served: Served) -> None:
    token = new_token(served.store, "reader", "write", now=served.clock.now())
    basic = base64.b64encode(f"me:{token}".encode()).decode()
    assert served.client(Authorization=f"Basic {basic}").get("/feeds/new.atom").status_code == 200
    client = served.client()
    assert client.get(f"/feeds/new.atom?token={token}").status_code == 200
    assert client.get(f"/api/v1/pages?token={token}").status_code == 401
    assert client.post(f"/feeds/new.atom?token={token}").status_code == 403


def test_what_a_browser_sends_along_by_itself_changes_nothing_for_other_sites(
    served: Served,
) -> None:
    token = new_token(served.store, "reader", "write", now=served.clock.now())
    basic = base64.b64encode(f"me:{token}".encode()).decode()
    client = served.client(Authorization=f"Basic {basic}", Origin="https://evil.example")
    assert client.get("/api/v1/sites").status_code == 200
    assert client.patch("/api/v1/sites/1", json={"state": "paused"}).status_code == 403
    assert client.post("/sites/1/remove").status_code == 403


def test_a_removed_token_opens_nothing_and_ends_its_sessions(served: Served) -> None:
    token = new_token(served.store, "phone", "write", now=served.clock.now())
    client = served.client()
    assert post(client, "/login", secret=token, next="/sites").headers["location"] == "/sites"
    assert client.get("/", follow_redirects=False).status_code == 200
    new_token(served.store, "other", "read", now=served.clock.now())
    (row, _) = served.store.access.tokens()
    assert served.store.access.remove(row.id)
    assert client.get("/", follow_redirects=False).status_code == 303


def test_logging_in_and_out(served: Served) -> None:
    client = served.with_settings(password=PASSWORD).client()
    assert post(client, "/login", secret="wrong").status_code == 401
    assert post(client, "/login", secret=PASSWORD).status_code == 303
    assert client.get("/", follow_redirects=False).status_code == 200
    cookie = next(c for c in client.cookies.jar if c.name == "hubwatch_session")
    assert cookie.has_nonstandard_attr("HttpOnly")
    assert post(client, "/logout").headers["location"] == "/login"
    client.cookies.set("hubwatch_session", str(cookie.value))
    assert client.get("/", follow_redirects=False).status_code == 303


def test_a_changed_password_ends_all_sessions(served: Served) -> None:
    client = served.with_settings(password=PASSWORD).client()
    post(client, "/login", secret=PASSWORD)
    later = served.with_settings(password="another").client()
    later.cookies = client.cookies
    assert later.get("/", follow_redirects=False).status_code == 303


def test_a_session_ends_by_itself(served: Served) -> None:
    client = served.with_settings(password=PASSWORD).client()
    post(client, "/login", secret=PASSWORD)
    served.clock.advance_to(served.clock.now() + 31 * 86_400)
    assert client.get("/", follow_redirects=False).status_code == 303


def test_secrets_are_not_kept(served: Served) -> None:
    token = new_token(served.store, "reader", "read", now=served.clock.now())
    database = (served.web.folder / "hubwatch-data" / "hubwatch.sqlite").read_bytes()
    wal = (served.web.folder / "hubwatch-data" / "hubwatch.sqlite-wal").read_bytes()
    assert token.encode() not in database + wal


def test_who_guesses_has_to_wait_longer_and_longer(served: Served) -> None:
    client = served.with_settings(password=PASSWORD).client()
    statuses = [post(client, "/login", secret=f"guess {n}").status_code for n in range(8)]
    assert statuses == [401] * FREE_GUESSES + [429] * (8 - FREE_GUESSES)
    answer = post(client, "/login", secret=PASSWORD)
    assert answer.status_code == 429
    served.clock.advance_to(served.clock.now() + int(answer.headers["retry-after"]))
    assert post(client, "/login", secret=PASSWORD).status_code == 303


def test_logging_in_leads_to_the_page_that_was_asked_for(served: Served) -> None:
    client = served.with_settings(password=PASSWORD).client()
    form = client.get("/sites?tag=a").text
    assert '<input type="hidden" name="next" value="/sites?tag=a">' in form


def test_language_and_theme_can_be_chosen_before_logging_in(served: Served) -> None:
    client = served.with_settings(password=PASSWORD).client()
    assert post(client, "/preferences", language="zh", back="/login").status_code == 303
    assert "登录" in client.get("/login").text


def test_a_chosen_language_keeps_what_a_list_is_filtered_by(served: Served) -> None:
    form = served.client().get("/?q=bridge&show=all").text
    assert 'name="back" value="/?q=bridge&amp;show=all"' in form


@pytest.mark.parametrize(
    "there", ["//evil.example", "https://evil.example", "/\\evil.example", "/a\nb", "x"]
)
def test_logging_in_leads_nowhere_else(served: Served, there: str) -> None:
    client = served.with_settings(password=PASSWORD).client()
    answer = post(client, "/login", secret=PASSWORD, next=there)
    assert answer.headers["location"] == "/"


# --- proxies ----------------------------------------------------------------------------------

FORWARDED = {"X-Forwarded-For": "198.51.100.1", "X-Forwarded-Proto": "https"}


@contextlib.contextmanager
def over_a_socket(served: Served, **settings: Any) -> Iterator[Any]:
    """Return a browser that asks the server itself, which reads what proxies say."""
    with (
        serving(served.with_settings(port=0, **settings).web) as url,
        httpx2.Client(base_url=url, headers=FORWARDED) as client,
    ):
        yield client


def test_forwarded_headers_of_strangers_count_for_nothing(served: Served) -> None:
    """Otherwise each guess would come from an address of its own."""
    with over_a_socket(served, password=PASSWORD) as client:
        for number in range(FREE_GUESSES):
            client.headers["X-Forwarded-For"] = f"198.51.100.{number}"
            post(client, "/login", secret="guess")
        assert post(client, "/login", secret=PASSWORD).status_code == 429


def test_a_trusted_proxy_says_how_was_asked(served: Served) -> None:
    for proxies, secure in ((("127.0.0.1",), True), ((), False)):
        with over_a_socket(served, password="x", trusted_proxies=proxies) as client:
            assert ("Secure" in client.get("/login").headers["set-cookie"]) is secure


@pytest.mark.parametrize(
    "settings",
    [
        {"host": "0.0.0.0"},
        {"host": "::"},
        {"host": "192.0.2.1"},
        {"host": "news.example"},
        {"allowed_hosts": ("news.example",)},
        {"trusted_proxies": ("127.0.0.1",)},
    ],
)
def test_others_may_not_reach_it_while_nothing_is_asked_of_them(
    empty: Served, settings: dict[str, Any]
) -> None:
    with pytest.raises(SettingsError, match="hubwatch token add"):
        refuse_unguarded(empty.with_settings(**settings).web)
    refuse_unguarded(empty.with_settings(**settings, password="x").web)


# --- every answer -----------------------------------------------------------------------------


def test_every_answer_allows_no_foreign_and_no_inline_script(served: Served) -> None:
    client = served.client()
    for path in ("/", "/status", "/api/v1/pages", "/feeds/new.atom", "/static/app.js", "/nothing"):
        policy = client.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert client.get(path).headers["x-content-type-options"] == "nosniff"


def test_our_pages_need_no_inline_script_or_style(served: Served) -> None:
    client = served.client()
    for path in (
        "/",
        "/sites",
        "/sites/1",
        "/status",
        "/topics",
        "/messages",
        "/add",
        "/feeds",
        "/pages/1",
    ):
        # A bookmarklet is for the bar of bookmarks; on our page it may not run.
        html = client.get(path).text.replace("href='javascript:location.href=", "href='", 1)
        assert not re.search(
            r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|javascript:", html
        ), path
        assert not re.search(r"(?:src|href)=\"(?:https?:)?//(?!news|other)", html), path


def test_static_files_stay_in_their_folder(served: Served) -> None:
    client = served.with_settings(password=PASSWORD).client()
    for path in (
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static//etc/passwd",
    ):
        answer = client.get(f"{ADDRESS}{path}", follow_redirects=False)
        assert answer.status_code in (303, 404), path


# --- what cannot be locked out ----------------------------------------------------------------


def basic(secret: str) -> str:
    return "Basic " + base64.b64encode(f"me:{secret}".encode()).decode()


def test_no_number_of_wrong_guesses_locks_a_token_or_a_session_out(served: Served) -> None:
    guarded = served.with_settings(password=PASSWORD)
    token = new_token(guarded.store, "reader", "read", now=guarded.clock.now())
    inside = guarded.client()
    post(inside, "/login", secret=PASSWORD)
    for number in range(130):
        wrong = {"Authorization": basic(f"guess {number}")}
        assert guarded.client().get("/feeds/new.atom", headers=wrong).status_code == 401
    for authorization in (basic(token), f"Bearer {token}"):
        client = guarded.client(Authorization=authorization)
        assert client.get("/feeds/new.atom").status_code == 200
    assert guarded.client().get(f"/feeds/new.atom?token={token}").status_code == 200
    assert inside.get("/", follow_redirects=False).status_code == 200
    assert post(guarded.client(), "/login", secret=token).status_code == 303


def test_guesses_of_strangers_do_not_keep_out_who_gave_the_password_before() -> None:
    throttle = Throttle()
    throttle.succeeded("192.0.2.1")
    for number in range(1_000):
        throttle.failed(f"198.51.100.{number % 250}", now=float(number) / 1_000)
    assert throttle.wait_seconds("192.0.2.1", now=1.0) == 0
    assert throttle.wait_seconds("192.0.2.2", now=1.0) > 0


def test_a_whole_subscribers_network_is_one_client() -> None:
    """Who has a /64 has 2^64 addresses to guess from."""
    throttle = Throttle()
    for number in range(FREE_GUESSES + 1):
        throttle.failed(f"2001:db8::{number:x}", now=0.0)
    assert throttle.wait_seconds("2001:db8::ffff", now=0.5) > 0
    assert throttle.wait_seconds("2001:db8:0:1::1", now=0.5) == 0


@pytest.mark.parametrize(
    "name",
    [
        "localhost:evil.test",
        "[::1]evil.test",
        "[::1]:80evil.test",
        "[localhost]",
        "localhost:80:80",
        "localhost/evil.test",
        "evil.test@localhost",
        "localhost evil.test",
        "localhost,evil.test",
        "::1",
        "[::1",
        "[evil.test]",
        "[127.0.0.1]",
        "localhost:999999",
    ],
)
def test_what_only_begins_like_our_name_is_refused(served: Served, name: str) -> None:
    assert served.client().get("/", headers={"Host": name}).status_code == 400


@pytest.mark.parametrize("number", ["99999999999999999999999", "0", "-1", "9" * 5_000, "x", "1e3"])
@pytest.mark.parametrize("path", ["/pages/{}", "/sites/{}", "/topics/{}", "/feeds/sites/{}.atom"])
def test_a_number_that_no_row_can_have_is_not_found(served: Served, path: str, number: str) -> None:
    answer = served.client().get(path.format(number))
    assert answer.status_code in (404, 414), answer.text[:200]


def test_every_whole_number_in_an_address_is_bounded(served: Served) -> None:
    """A database holds 64 bits of it; the next route that takes one must say so, too."""
    unbounded = []
    leaves = _leaves(make_routes(served.web, Gate("", Throttle())).router.routes)
    for route in (one for one in leaves if isinstance(one, APIRoute)):
        for field in (*route.dependant.path_params, *route.dependant.query_params):
            kind = f"{field.field_info.annotation} {field.field_info.metadata}"
            if re.search(r"\bint\b", kind) and "le=" not in kind:
                unbounded.append((route.path, field.name))
    assert unbounded == []

"""A page is sent to the services that the settings name: by links, with everything encoded."""

import re
from collections.abc import Callable
from html import unescape
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from stories import seen, visit_of
from web_served import HOME, Served

from incremental.base.errors import SettingsError
from incremental.settings.loading import build_settings
from incremental.settings.sections import SendTo

LATER = SendTo(
    '<Later & "co">', "https://later.example/save?url={url}&title={title}&from={hubwatch}"
)
Ids = Callable[[], list[int]]


def links_in(html: str) -> list[str]:
    found = re.findall(r'<a href="([^"]*)"([^>]*)>&lt;Later &amp; &#34;co&#34;&gt;</a>', html)
    for _, attributes in found:
        assert attributes == ' target="_blank" rel="noopener noreferrer external"'
    return [unescape(link) for link, _ in found]


def test_rows_and_pane_have_the_links(served: Served, announced: Ids) -> None:
    client = served.with_settings(send_to=(LATER,)).client()
    page = announced()[0]
    rows = links_in(client.get("/").text)
    pane = links_in(client.get(f"/pages/{page}", headers={"HX-Request": "true"}).text)
    assert len(rows) == len(announced())
    assert pane == rows[:1]
    query = parse_qs(urlsplit(pane[0]).query)
    assert query["url"][0].startswith(HOME)
    assert query["title"][0].startswith("Title of")
    assert query["from"] == ["{hubwatch}"]


def test_without_the_setting_there_is_no_menu(served: Served) -> None:
    assert "Send to" not in served.client().get("/").text


def test_what_a_site_wrote_stays_in_its_place(served: Served) -> None:
    hub = served.store.read.hubs()[0]
    url, title = f"{HOME}odd?a=1&url=x#'", 'x&url=https://evil.example/{url}"><b>'
    odd = seen(url, anchor=title, fate="announce")
    visit = visit_of(hub.site_id, hub.page_id, served.clock.now(), odd, keep_missing=True)
    served.store.write.visit(visit)
    html = served.with_settings(send_to=(LATER,)).client().get("/").text
    query = parse_qs(urlsplit(links_in(html)[0]).query)
    assert query["url"] == [url]
    assert query["title"] == [title]
    assert "<b>" not in html


@pytest.mark.parametrize(
    "url",
    [
        "javascript:{url}",
        "https://later.example/",
        "https://later.example?x=1",
        "later.example?{url}",
        "https://{url}/",
        "https://[later/{url}",
        "https://later.example:port/{url}",
        "https://later.example/ {url}",
    ],
)
def test_an_address_must_be_one_that_sends(url: str) -> None:
    with pytest.raises(SettingsError, match=r"web\.send_to\.url") as refused:
        build_settings({"web": {"send_to": [{"name": "later", "url": url}]}})
    assert url in str(refused.value)
    assert "must be a web address without a password, with {url} after the host" in str(
        refused.value
    )


def test_an_address_has_no_password_nor_is_it_shown() -> None:
    url = "https://me:secret@later.example/{url}"
    with pytest.raises(SettingsError, match=r"//\.\.\.@later\.example") as refused:
        build_settings({"web": {"send_to": [{"name": "later", "url": url}]}})
    assert "secret" not in str(refused.value)


def test_an_address_may_go_on_after_a_fragment() -> None:
    """As pages that scripts draw have it."""
    url = "https://later.example/#/add?url={url}"
    web = build_settings({"web": {"send_to": [{"name": "later", "url": url}]}}).web
    assert web.send_to[0].address(HOME, "") == f"https://later.example/#/add?url={quote(HOME, '')}"

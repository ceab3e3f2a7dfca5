"""Lists of pages in JSON: recognised by their shape."""

import json
from typing import Any

import pytest
import shells
from hypothesis import given
from hypothesis import strategies as st

from incremental.parse.behind import (
    behind_json,
    behind_page,
    behind_script,
    data_addresses,
    folder_for,
    read_scripts,
    routes,
    states,
)
from incremental.parse.hub_way import Listing
from incremental.parse.json_lists import find_lists
from incremental.parse.text import read_json

URL = "https://news.example/news"
LONG = "The council has decided to build"


def urls_of(value: object, **more: Any) -> list[str]:
    return [link.url for one in find_lists(value, URL, **more) for link in one.links]


def items(**fields: Any) -> list[dict[str, Any]]:
    """Three objects with these fields; ``%d`` stands for their number."""
    return [
        {key: value % n if "%d" in str(value) else value for key, value in fields.items()}
        for n in range(3)
    ]


LISTS: dict[str, object] = {
    "addresses": items(url="https://news.example/n/%d", title=LONG),
    "paths": items(path="/n/%d", headline=LONG),
    "WordPress": items(link="https://news.example/n/%d", title={"rendered": LONG}, slug="x"),
    "Strapi": {"data": [{"id": 7, "attributes": one} for one in items(url="/n/%d", name=LONG)]},
    "GraphQL": {
        "data": {"posts": {"edges": [{"node": o} for o in items(uri="/n/%d", title=LONG)]}}
    },
    "Elasticsearch": {"hits": {"hits": [{"_source": o} for o in items(url="/n/%d", title=LONG)]}},
    "linked data": {
        "@type": "ItemList",
        "itemListElement": [{"item": o} for o in items(url="/n/%d", name=LONG)],
    },
    "by key": {str(n): one for n, one in enumerate(items(href="/n/%d", title=LONG))},
    "Chinese": items(linkUrl="/n/%d", infoTitle="关于公布年度评审结果的通知"),
    "short titles with dates": items(url="/n/%d", title="News", publishTime="2024-05-0%d 10:00:00")[
        1:
    ]
    + items(url="/n/%d", title="News", publishTime="2024-05-01")[:1],
}


@pytest.mark.parametrize("value", LISTS.values(), ids=LISTS)
def test_a_list_is_found_whatever_its_fields_are_called(value: object) -> None:
    assert sorted(urls_of(value)) == [f"https://news.example/n/{n}" for n in range(3)]


NO_LISTS: dict[str, object] = {
    "menu": items(url="/m/%d", title="About us"),
    "images": items(url="/img/%d.jpg", title=LONG),
    "no address": items(title=LONG, date="2024-05-01"),
    "one page three times": items(url="/n/1", title=LONG),
    "two": items(url="/n/%d", title=LONG)[:2],
    "numbers": list(range(100)),
    "nothing": None,
}


@pytest.mark.parametrize("value", NO_LISTS.values(), ids=NO_LISTS)
def test_other_lists_are_not(value: object) -> None:
    assert urls_of(value) == []


def test_slugs_lie_below_the_folder() -> None:
    assert urls_of(shells.ITEMS, folder="/news")[0] == "https://news.example/news/bridge-opens"


@pytest.mark.parametrize(
    "written",
    [
        "2024-05-28T09:00:00Z",
        "Tue, 28 May 2024 09:00:00 GMT",
        1716886800,
        1716886800000,
        "1716886800",
    ],
)
def test_dates_are_read_in_every_form(written: object) -> None:
    (found,) = find_lists(
        items(url="/n/%d", title=LONG)
        and [{"url": f"/n/{n}", "title": LONG, "publishedAt": written} for n in range(3)],
        URL,
    )
    assert {link.published_at for link in found.links} == {1716886800.0}
    assert found.dated == 3


def test_the_list_with_dates_and_headlines_comes_first() -> None:
    value = {
        "related": items(url="/r/%d", title=LONG),
        "latest": [{"url": f"/n/{n}", "title": LONG, "date": "2024-05-28"} for n in range(3)],
    }
    assert [one.place for one in find_lists(value, URL)] == ["latest", "related"]


def test_a_known_list_may_become_short() -> None:
    one = json.dumps({"rows": [{"url": "/n/1", "title": LONG, "date": "2024-05-28"}]})
    assert behind_json(one, URL).listing is None
    known = behind_json(one, URL, Listing(place="rows"))
    assert [link.url for link in known.links] == ["https://news.example/n/1"]


# --- what pages carry ---------------------------------------------------------------------------


@pytest.mark.parametrize("page", [shells.next_page(shells.ITEMS), shells.stated(shells.ITEMS)])
def test_a_state_in_the_page_holds_the_list(page: str) -> None:
    behind = behind_page(page, URL)
    assert behind is not None
    assert [link.anchor for link in behind.links] == [one["title"] for one in shells.ITEMS]
    assert behind.links[0].published_at == 1716854400.0


def nuxt(*parts: object) -> str:
    """Return a page whose state Nuxt 3 wrote."""
    data = json.dumps(parts)
    state = f'<script type="application/json" id="__NUXT_DATA__">{data}</script>'
    return shells.shell(state + '<script type="module" src="/_nuxt/entry.js"></script>')


def test_a_state_in_parts_is_put_together() -> None:
    entries = [{"path": 5 * n + 7, "title": 5 * n + 8, "date": 5 * n + 9} for n in range(3)]
    places = [5 * n + 6 for n in range(3)]
    parts: list[object] = [
        ["ShallowReactive", 1],
        {"data": 2},
        ["Reactive", 3],
        {"rows": 4},
        places,
    ]
    for n, entry in enumerate(entries):
        parts += [-1, entry, f"/n/{n}", f"{LONG} {n}", ["Date", f"2024-05-0{n + 1}T10:00:00Z"]]
    behind = behind_page(nuxt(*parts), URL)
    assert behind is not None
    assert [link.url for link in behind.links] == [f"https://news.example/n/{n}" for n in range(3)]
    assert [link.anchor for link in behind.links] == [f"{LONG} {n}" for n in range(3)]
    assert None not in [link.published_at for link in behind.links]


@pytest.mark.parametrize(
    "parts",
    [
        (),
        ([0, 0],),
        ({"a": 0, "b": True, "c": 1.0, "d": -1, "e": 9, "f": "0"},),
        (["Ref"],),
        (["Ref", 0],),
        (*([n + 1] * 9 for n in range(59)), "x"),
    ],
)
def test_a_state_whose_parts_name_themselves_or_nothing_is_read_to_an_end(
    parts: tuple[object, ...],
) -> None:
    assert len(list(states(read_scripts(nuxt(*parts))))) <= 1


def test_a_state_may_be_written_as_a_string() -> None:
    text = json.dumps(json.dumps({"rows": shells.ITEMS}))
    page = shells.shell(f"<script>self['__DATA__'] = JSON.parse({text});</script>")
    assert dict(states(read_scripts(page))) == {"__DATA__": {"rows": shells.ITEMS}}


def test_linked_data_is_searched_last() -> None:
    linked = '<script type="application/ld+json">{"@type": "WebSite"}</script>'
    page = shells.shell(linked + '<script type="application/json" id="d">[1]</script>')
    assert [name for name, _ in states(read_scripts(page))] == ["d", "application/ld+json"]


@pytest.mark.parametrize(
    "text", ['{"a": 1}', ')]}\',\n{"a": 1}', 'callback({"a": 1});', '\ufeff{"a": 1}']
)
def test_json_is_read_in_its_wrappings(text: str) -> None:
    assert read_json(text) == {"a": 1}


# --- what scripts ask for -----------------------------------------------------------------------


def test_addresses_of_data_are_found_and_others_are_not() -> None:
    script = """
        fetch("/api/news?page=1").then(r); axios.get('https://news.example/data/list.json');
        fetch("/api/login"); load("/static/logo.png"); fetch("https://other.example/api/news");
        n.open("GET","/rest/articles"); i18n("/locales/en.json"); var url = "/ajax/getNoticeList";
    """
    found = data_addresses([script], URL)
    assert set(found) == {
        "https://news.example/api/news?page=1",
        "https://news.example/data/list.json",
        "https://news.example/rest/articles",
        "https://news.example/ajax/getNoticeList",
    }


def test_scripts_say_below_which_folder_slugs_lie() -> None:
    script = '{path:"/press/:slug"} `/press/${e.slug}` "/story/".concat(t.id) "/item/"+e.slug'
    assert routes([script]) == ["/press", "/story", "/item"]
    assert folder_for("https://news.example/press", routes([script])) == "/press"
    assert folder_for("https://news.example/news/", []) == "/news"
    assert behind_script(script, URL).folders == ("/press", "/story", "/item")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(),
        lambda inner: (
            st.lists(inner, max_size=5)
            | st.dictionaries(
                st.sampled_from(["url", "title", "date", "slug", "id", "node"]), inner
            )
        ),
        max_leaves=30,
    )
)
def test_any_value_is_searched(value: object) -> None:
    for one in find_lists(value, URL, folder="/news"):
        assert all(link.url.startswith("http") and link.anchor for link in one.links)
        assert len(one.links) >= 3

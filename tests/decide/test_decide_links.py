"""From links to pages, and prefixes that only path alias a site."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stories import HOME, target

from incremental.base.path_aliases import path_alias_prefix, rules, stripped
from incremental.base.scope import Scope
from incremental.base.urls import normalize
from incremental.decide.links import links_digest, targets
from incremental.parse import Link

SCOPE = Scope(HOME)
segments = st.lists(st.sampled_from("abc"), max_size=4)


def test_links_become_canonical_pages_in_scope_each_once() -> None:
    links = [
        Link("http://news.example/a?utm_source=x#top", anchor="More"),
        Link(HOME + "a", anchor="The headline", published_at=5.0),
        Link("https://other.example/b"),
        Link(HOME + "style.css"),
        Link("mailto:x@news.example"),
        Link(HOME),
    ]
    (page,) = targets(links, SCOPE, own=target("").canonical_key)
    assert page.url == "http://news.example/a?utm_source=x"
    assert (page.anchor, page.published_at) == ("The headline", 5.0)


def test_an_alias_and_the_site_itself_are_one() -> None:
    links = [Link(HOME + "project/a"), Link(HOME + "a"), Link(HOME + "projects/a")]
    found = targets(links, SCOPE, path_aliases=["/project"])
    assert [page.url for page in found] == [HOME + "a", HOME + "projects/a"]


@given(paths=st.lists(st.sampled_from("abcdef"), max_size=6), order=st.randoms())
def test_the_digest_is_that_of_the_set_of_pages(paths: list[str], order: object) -> None:
    found = [target(path, anchor=path) for path in paths]
    before = links_digest(found)
    order.shuffle(found)  # type: ignore[attr-defined]  # a random.Random
    assert links_digest(found) == before
    assert links_digest([*found, target("z")]) != before


@pytest.mark.parametrize(
    ("one", "other", "prefix"),
    [
        ("https://a.org/project/news/", "https://a.org/news/", "/project"),
        ("https://a.org/news", "https://a.org/project/news/", "/project"),
        ("https://a.org/project/", "https://a.org/", "/project"),
        ("https://a.org/x/y/z?p=1", "https://a.org/z?p=1", "/x/y"),
        ("https://a.org/news", "https://a.org/news/", None),
        ("https://a.org/x/z?p=1", "https://a.org/z", None),
        ("https://a.org/x/z", "https://b.org/z", None),
        ("https://a.org/mynews", "https://a.org/news", None),
        ("https://a.org/a", "https://a.org/b", None),
    ],
)
def test_the_prefix_of_a_path_alias(one: str, other: str, prefix: str | None) -> None:
    assert path_alias_prefix(one, other) == path_alias_prefix(other, one) == prefix


@given(base=segments, extra=segments.filter(bool))
def test_stripping_a_prefix_undoes_it(base: list[str], extra: list[str]) -> None:
    url, prefix = HOME + "/".join(base), "/" + "/".join(extra)
    mirrored = f"https://news.example{prefix}/{'/'.join(base)}"
    assert normalize(stripped(mirrored, prefix)) == normalize(url)
    assert stripped(url, "/not-there") == url


def test_one_pair_is_chance_and_two_are_a_rule() -> None:
    assert rules({"/project": ["/"], "/x": []}) == ()
    assert rules({"/project": ["/", "/news"]}) == ("/project",)

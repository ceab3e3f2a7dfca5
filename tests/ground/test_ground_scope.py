"""Which URLs belong to a site, which are traps, and which were made by one program."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental.base.errors import InputError
from incremental.base.scope import (
    MAX_DEPTH,
    MAX_QUERY_PARAMETERS,
    Reach,
    Scope,
    compile_pattern,
    page_number,
    template,
    trap,
)
from incremental.base.urls import normalize

SEED = "https://www.example.org/news/"
fetch_forms = st.text(max_size=40).map("https://a.org/".__add__).map(normalize).filter(bool)

INSIDE = {
    Reach.HOST: ["https://example.org/x", "http://www.example.org/", SEED],
    Reach.DOMAIN: ["https://blog.example.org/x", "https://example.org/", "http://a.b.example.org/"],
    Reach.PREFIX: ["https://example.org/news/x", "https://www.example.org/news", SEED + "?p=2"],
    Reach.ANYWHERE: ["https://other.com/", SEED],
}
OUTSIDE = {
    Reach.HOST: ["https://blog.example.org/", "https://example.org:8443/", "https://example.com/"],
    Reach.DOMAIN: ["https://example.com/", "https://notexample.org/", "https://org/"],
    Reach.PREFIX: [
        "https://example.org/",
        "https://example.org/newsletter",
        "https://a.org/news/x",
    ],
}


SAID = {
    Reach.HOST: f"host of {SEED}",
    Reach.DOMAIN: f"domain of {SEED}",
    Reach.PREFIX: f"folder of {SEED}",
    Reach.ANYWHERE: "no limits",
}


@pytest.mark.parametrize(("reach", "url"), [(r, url) for r, urls in INSIDE.items() for url in urls])
def test_inside_the_reach(reach: Reach, url: str) -> None:
    scope = Scope(SEED, reach)
    assert scope.holds(url)
    assert scope.rule(url) == SAID[reach]


@pytest.mark.parametrize(("reach", "url"), [(r, u) for r, urls in OUTSIDE.items() for u in urls])
def test_outside_the_reach(reach: Reach, url: str) -> None:
    scope = Scope(SEED, reach)
    assert not scope.holds(url)
    assert scope.rule(url) == f"outside {SAID[reach]}"


@pytest.mark.parametrize(
    ("seed", "folder"),
    [
        ("https://a.org/", "/"),
        ("https://a.org/news", "/news/"),
        ("https://a.org/news/index.html", "/news/"),
        ("https://a.org/news/list.aspx?c=1", "/news/"),
        ("https://a.org/v1.2/", "/v1.2/"),
        ("https://a.org/~user", "/~user/"),
    ],
)
def test_a_prefix_is_the_folder_of_the_seed(seed: str, folder: str) -> None:
    scope = Scope(seed, Reach.PREFIX)
    assert scope.holds(f"https://a.org{folder}x")
    assert scope.holds(f"https://a.org{folder.rstrip('/') or '/'}")
    assert scope.holds("https://a.org/other/x") == (folder == "/")


def test_two_addresses_are_no_domain() -> None:
    assert not Scope("http://10.0.0.1/", Reach.DOMAIN).holds("http://192.168.0.1/")


@pytest.mark.parametrize(
    ("include", "exclude", "url", "rule"),
    [
        ((), ("*/tag/*",), "https://example.org/tag/x", "exclude */tag/*"),
        ((), ("re:[?&]page=",), "https://example.org/?page=2", "exclude re:[?&]page="),
        (("*/news/*",), (), "https://example.org/news/x", "include */news/*"),
        (("*/news/*",), (), "https://example.org/about", "no include pattern matches"),
        (("*",), ("*.pdf",), "https://example.org/a.pdf", "exclude *.pdf"),
        (("*/news/*",), (), "https://other.com/news/x", f"outside host of {SEED}"),
        (("a", r"re:/\d{4}/"), (), "https://example.org/2024/x", r"include re:/\d{4}/"),
    ],
)
def test_patterns_say_which_of_them_decided(
    include: tuple[str, ...], exclude: tuple[str, ...], url: str, rule: str
) -> None:
    scope = Scope(SEED, Reach.HOST, include, exclude)
    assert scope.rule(url) == rule
    assert scope.holds(url) == rule.startswith("include")


@pytest.mark.parametrize(
    ("pattern", "url", "matches"),
    [
        ("https://a.org/news/*", "https://a.org/news/2024/x", True),
        ("https://a.org/news/*", "https://b.org/?u=https://a.org/news/x", False),
        ("/news/*", "https://a.org/news/x", False),
        ("*/news", "https://a.org/news/x", False),
        ("*/p?.html", "https://a.org/p1.html", True),
        ("*/[0-9][0-9]/*", "https://a.org/05/x", True),
        ("*.ORG/*", "https://a.org/", False),
        ("re:news", "https://a.org/news/x", True),
        ("re:^https://a", "https://a.org/", True),
        ("re:(?i)NEWS$", "https://a.org/news", True),
    ],
)
def test_a_glob_matches_the_whole_url_and_an_expression_any_part(
    pattern: str,
    url: str,
    matches: bool,
) -> None:
    assert bool(compile_pattern(pattern).search(url)) == matches


@pytest.mark.parametrize("bad", ["re:(", "re:[", "re:" + "(" * 5_000, "re:*"])
def test_a_bad_expression_names_itself(bad: str) -> None:
    with pytest.raises(InputError, match="not a regular expression") as caught:
        Scope(SEED, exclude=(bad,))
    assert caught.value.value == bad


@given(glob=st.text(alphabet="*?[]a/!", max_size=30))
def test_any_glob_is_a_pattern_and_quick(glob: str) -> None:
    """Stars are no trap: what they match is never tried a second time."""
    compile_pattern(glob + "*a" * 20 + "b").search("https://a.org/" + "a" * 1_900)


TRAPS = {
    "https://a.org/style.css": "asset",
    "https://a.org/a.b/photo.JPG": "asset",
    "https://a.org/photo%2EPNG": "asset",
    "https://a.org/login": "action",
    "https://a.org/wp-login.php": "action",
    "https://a.org/news/1/print": "action",
    "https://a.org/user/share": "action",
    "https://a.org/"
    + "x1/x2/" * 2
    + "y/" * 1
    + "/".join(f"d{n}" for n in range(MAX_DEPTH)): "deep",
    "https://a.org/a/b/a/b/a/b/": "one folder name occurs 3 times",
    "https://a.org/x?" + "&".join(f"p{n}=1" for n in range(14)): "parameters",
    "https://a.org/calendar/2031/05/": "calendar",
    "https://a.org/event-calendar.php?date=2031-05-01": "calendar",
    "https://a.org/calendar-2031-05/": "calendar",
    "https://a.org/events?year=2031&month=5": "calendar",
    "https://a.org/?tribe-bar-date=2031-05": "calendar",
}
PAGES = [
    "https://a.org/",
    "https://a.org/tender.pdf",
    "https://a.org/2024/05/17/title.html",
    "https://a.org/2024/05/school-calendar-changes-2024/",
    "https://a.org/news/0/0/0/0/1.html",
    "https://a.org/share/users/4112",
    "https://a.org/register-of-interests/",
    "https://a.org/blueprint/2024",
    "https://a.org/calendar/",
    "https://a.org/search?q=x&year=&month=",
    "https://a.org/?year=2024",
    "https://a.org/printing/",
    "https://a.org/logins",
    "https://a.org/a/b/a/b/",
]


@pytest.mark.parametrize(("url", "why"), TRAPS.items())
def test_traps_and_assets(url: str, why: str) -> None:
    assert why in (trap(url) or "")


@pytest.mark.parametrize("url", PAGES)
def test_pages_that_only_look_like_traps(url: str) -> None:
    assert trap(url) is None


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("https://a.org/", "a.org/"),
        ("https://a.org/news/2024/05/some-title.html", "a.org/news/0/0/*.html"),
        ("https://a.org/t20240517_123456.html", "a.org/*.html"),
        ("https://a.org/news/123.html", "a.org/news/0.html"),
        ("https://a.org/list/12/", "a.org/list/0/"),
        ("https://a.org/x?b=2&a=1", "a.org/*?a&b"),
        ("https://a.org/0123456789abcdef0/x", "a.org/#/*"),
        ("https://a.org/a-very-long-slug-of-a-title/comments", "a.org/*/*"),
        ("https://a.org/v1.2-notes", "a.org/*"),
    ],
)
def test_the_form_of_a_url(url: str, form: str) -> None:
    assert template(url) == form


def test_the_last_page_before_each_limit_is_still_a_page() -> None:
    """Sixteen folders and twelve parameters are taken; one more is a trap."""
    folders = "https://a.org/" + "/".join(f"d{n}" for n in range(MAX_DEPTH))
    parameters = "https://a.org/x?" + "&".join(f"p{n}=1" for n in range(MAX_QUERY_PARAMETERS))
    assert trap(folders) is None
    assert "deep" in (trap(folders + "/x") or "")
    assert trap(parameters) is None
    assert trap(parameters + "&q=1") == "too many parameters"


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("https://a.org/news.shtml", "a.org/*.shtml"),
        ("https://a.org/news.shtmls", "a.org/*"),
        ("https://a.org/one-two-three/x", "a.org/one-two-three/*"),
        ("https://a.org/one-two-three-four/x", "a.org/*/*"),
        (f"https://a.org/{'n' * 24}/x", f"a.org/{'n' * 24}/*"),
        (f"https://a.org/{'n' * 25}/x", "a.org/*/*"),
        (f"https://a.org/{'a' * 11}/x", f"a.org/{'a' * 11}/*"),
        (f"https://a.org/{'a' * 12}/x", "a.org/#/*"),
        ("https://a.org", "a.org/"),
    ],
)
def test_folders_keep_their_name_while_they_are_short(url: str, form: str) -> None:
    """A slug has more than two dashes or 24 letters, an extension five letters at most."""
    assert template(url) == form


@given(url=fetch_forms)
def test_every_url_has_a_form_and_a_verdict(url: str) -> None:
    assert template(url).startswith("a.org/")
    assert Scope("https://a.org/").holds(url)
    assert (page_number(url) or 0) <= 99_999
    assert trap(url) is None or trap(url.rstrip("/")) == trap(url)


@pytest.mark.parametrize(
    ("pattern", "url"),
    [
        (r"re:^http://a\.b/([a-z]+-?)+\.html$", "http://a.b/" + "a" * 2_000),
        (r"re:(a*)*Z", "http://a.b/" + "a" * 2_000),
        (r"re:(x+x+)+y", "http://a.b/" + "x" * 2_000),
        ("*a*a*a*a*a*a*a*a*a*a*b", "http://a.b/" + "a" * 2_000),
    ],
)
def test_no_pattern_takes_long_on_any_link(pattern: str, url: str) -> None:
    """Python's own engine needs 2^2000 steps for some of these: the test would never end."""
    assert compile_pattern(pattern).search(url) is None


@pytest.mark.parametrize("pattern", [r"re:(?!x)", r"re:(?<=a)b", r"re:(a)\1"])
def test_what_cannot_be_linear_is_refused_with_its_reason(pattern: str) -> None:
    with pytest.raises(InputError, match="could take for ever"):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    "pattern", ["re:(", "re:[z-a]", "re:a{9999999}", "re:((a{1000}){1000}){1000}", "re:\ud800"]
)
def test_what_is_no_expression_or_too_large_is_refused(pattern: str) -> None:
    with pytest.raises(InputError, match="pattern"):
        compile_pattern(pattern)


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_is_a_pattern_or_an_error(pattern: str, url: str) -> None:
    for kind in ("", "re:"):
        with contextlib.suppress(InputError):
            compile_pattern(kind + pattern).search(url)

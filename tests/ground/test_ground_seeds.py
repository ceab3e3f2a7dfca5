"""Seeds as people type them, and clocks."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lab.clocks import FastClock, SimulatedClock
from stories import DAY, START

from incremental.base.clock import SystemClock
from incremental.base.errors import InputError
from incremental.base.scope import Reach
from incremental.crawl.probes import FEED_PLACES, SITEMAP_PLACES, probes
from incremental.parse import Page, PageKind
from incremental.settings.seeds import SeedTerms, add_seed, usable_seed
from store import Store
from store.enums import HubClass


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("example.org", "https://example.org/"),
        (" example.org/news ", "https://example.org/news"),
        ("http://example.org", "http://example.org/"),
        ("example.org:8080/x", "https://example.org:8080/x"),
        ("localhost:8000", "https://localhost:8000/"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/"),
        ("http://[::1]/", "http://[::1]/"),
        ("例子.测试", "https://xn--fsqu00a.xn--0zwm56d/"),
    ],
)
def test_what_people_type_for_a_site(typed: str, url: str) -> None:
    assert usable_seed(typed) == url


_NO_SITES = """news|http://news/|ftp://example.org|javascript:alert(1)|mailto:a@b.org|a@b.org|
|/etc/passwd|file:///etc/passwd|http://|https://2130706433/|a b.org|http://[|example.org:x| |\ud800.org|\0
|random.seed(7)|n=x.org|https://.s/|a..org"""


@pytest.mark.parametrize("typed", [*_NO_SITES.split("|"), "x" * 5_000 + ".org"])
def test_what_is_no_site(typed: str) -> None:
    with pytest.raises(InputError, match="seed"):
        usable_seed(typed)


@pytest.mark.parametrize("scheme", ["https://", ""])
def test_a_password_in_a_seed_is_refused_and_not_shown(scheme: str) -> None:
    """It would be dropped silently: credentials belong into the settings file."""
    with pytest.raises(InputError, match=r"hubwatch\.toml") as caught:
        usable_seed(f"{scheme}reader:hush@example.org/")
    assert "hush" not in f"{caught.value} {caught.value.value}"


@pytest.mark.parametrize("typed", ["me@example.org", "mailto:a@b.example"])
def test_a_mail_address_is_no_site_with_a_user_name(typed: str) -> None:
    with pytest.raises(InputError, match="not a web address"):
        usable_seed(typed)


@given(typed=st.text(max_size=40))
def test_any_text_is_a_site_or_a_clear_error(typed: str) -> None:
    try:
        url = usable_seed(typed)
    except InputError:
        return
    assert usable_seed(url) == url


def test_a_seed_becomes_a_site_with_one_hub_that_is_due(store: Store) -> None:
    site = add_seed(store, "www.example.org/news/", now=START)
    (row,) = store.read.sites()
    (hub,) = store.read.due_hubs(site, START, HubClass.EXPLORE, limit=9)
    assert (row.id, row.name, row.state, row.added_at) == (site, "example.org", "active", START)
    assert (hub.url, hub.role) == ("https://www.example.org/news/", "seed")


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("www.例子.中国/news", "例子.中国"),
        ("https://xn--fsqu00a.xn--fiqs8s/", "例子.中国"),
        ("аррӏе.com", "xn--80ak6aa92e.com"),
        ("http://[::1]:8000/", "::1"),
    ],
)
def test_a_site_is_named_in_its_own_script_unless_that_deceives(
    store: Store, typed: str, name: str
) -> None:
    add_seed(store, typed, now=START)
    assert [row.name for row in store.read.sites()] == [name]


def test_the_terms_of_a_seed_are_kept_and_can_be_changed(store: Store) -> None:
    terms = SeedTerms(Reach.DOMAIN, include=("*/news/*",), requests_per_day=12.0)
    site = add_seed(store, "example.org", now=START, terms=terms)
    (row,) = store.read.sites()
    expected = {"reach": "domain", "include": ["*/news/*"], "exclude": []}
    assert json.loads(row.scope) == expected
    assert add_seed(store, "https://example.org", now=START + DAY, terms=SeedTerms()) == site
    (row,) = store.read.sites()
    assert json.loads(row.scope)["reach"] == "host"
    assert (row.requests_per_day, row.added_at) == (None, START)


def test_a_bad_pattern_adds_nothing(store: Store) -> None:
    with pytest.raises(InputError, match="regular expression"):
        add_seed(store, "example.org", now=START, terms=SeedTerms(exclude=("re:(",)))
    assert store.read.sites() == []


def test_usual_places_are_tried_below_the_folder_and_at_the_root_one_after_the_other() -> None:
    url = "https://a.org/blog/index.html"
    found = probes(Page(url=url, kind=PageKind.HTML), url, START)
    places = [link.url for link in found]
    assert len(places) == len(set(places)) == 2 * (len(FEED_PLACES) + len(SITEMAP_PLACES))
    assert {"https://a.org/blog/feed", "https://a.org/sitemap.xml"} <= set(places)
    due = [link.hub.due_at for link in found if link.hub]
    assert due == sorted(set(due))
    assert due[0] == START


def test_a_page_that_names_its_feeds_has_no_others_to_try() -> None:
    page = Page(url="https://a.org/", kind=PageKind.HTML, feed_urls=("https://a.org/f",))
    kinds = {link.hub.kind for link in probes(page, page.url, START) if link.hub}
    assert kinds == {"sitemap"}


def test_a_simulated_clock_stands_still_and_never_goes_back() -> None:
    clock = SimulatedClock(START)
    clock.advance_to(START + 5)
    clock.advance_to(START)
    assert clock.now() == clock.monotonic() == START + 5


def test_a_fast_clock_runs_ahead_and_knows_the_real_moment() -> None:
    before = time.time()
    clock = FastClock(1_000_000.0)
    later = clock.now() + 1e6
    assert before <= clock.real(later) <= time.time() + 1.001
    assert clock.now() >= before


def test_the_systems_clock_is_the_machines() -> None:
    clock = SystemClock()
    assert time.time() - 60 < clock.now() < time.time() + 60
    assert clock.real(START) == START
    assert clock.monotonic() <= clock.monotonic()
